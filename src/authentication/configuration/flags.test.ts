import assert from "node:assert/strict";
import { test } from "node:test";
import { mapClaims } from "../oidc/map-claims.ts";
import type { OidcOptions } from "./contract.ts";
import { configurationOfFlags } from "./flags.ts";
import { authenticationSettings } from "./settings.ts";
import { validateConfiguration } from "./validate.ts";

const base = { issuerUrl: "https://idp.example.com", clientId: "c" };
const claims = { sub: "s", email: "e@x", name: "n", roles: ["r"], hd: "h", empty: "", none: null };

/** Expects the user name and groups for a token with these claims, or an error message. */
const rows: [oidc: OidcOptions, want: string][] = [
  [{}, "https://idp.example.com#s []"],
  [{ usernamePrefix: "" }, "https://idp.example.com#s []"],
  [{ usernamePrefix: "p:" }, "p:s []"],
  [{ usernamePrefix: "-" }, "s []"],
  [{ usernameClaim: "name" }, "https://idp.example.com#n []"],
  [{ usernameClaim: "email" }, "e@x []"],
  [{ usernameClaim: "email", usernamePrefix: "p:" }, "p:e@x []"],
  [{ groupsClaim: "roles" }, "https://idp.example.com#s [r]"],
  [{ groupsClaim: "roles", groupsPrefix: "g:" }, "https://idp.example.com#s [g:r]"],
  [{ groupsPrefix: "g:" }, "https://idp.example.com#s []"],
  [{ groupsClaim: "absent" }, "https://idp.example.com#s []"],
  [{ requiredClaims: { hd: "h", name: "n" } }, "https://idp.example.com#s []"],
  [{ usernameClaim: "empty", usernamePrefix: "-" }, 'oidc: username claim "empty" is empty'],
  [{ usernameClaim: "empty", usernamePrefix: "p:" }, 'oidc: username claim "empty" is empty'],
  [{ usernameClaim: "empty" }, 'oidc: username claim "empty" is empty'],
  [{ usernameClaim: "none", usernamePrefix: "-" }, 'oidc: username claim "none" is empty'],
  [{ requiredClaims: { hd: "other" } }, "oidc: required claim hd value does not match. Got = h, want = other"],
];
for (const [oidc, want] of rows) {
  test(`flags ${JSON.stringify(oidc)}`, async () => {
    const { errors, authenticators } = validateConfiguration(await configurationOfFlags({ ...base, ...oidc }), {
      disallowedIssuers: [],
      egressSelectorAllowed: true,
    });
    assert.deepEqual([errors.causes, authenticators.length], [[], 1]);
    const user = authenticators[0] && mapClaims(authenticators[0], claims);
    assert.equal(typeof user === "object" ? `${user.name} [${user.groups.join(" ")}]` : user, want);
  });
}

const algorithmRows: [signingAlgs: readonly string[] | undefined, want: readonly string[]][] = [
  [undefined, ["RS256"]],
  [[], ["RS256"]],
  [
    ["ES256", "PS512"],
    ["ES256", "PS512"],
  ],
];
for (const [signingAlgs, want] of algorithmRows) {
  test(`algorithms ${signingAlgs}`, async () => {
    const { algorithms } = await authenticationSettings({
      oidc: { ...base, ...(signingAlgs && { signingAlgs }) },
      configFile: undefined,
      anonymousAuth: undefined,
      serviceAccountIssuers: [],
      gates: { enabled: () => true },
    });
    assert.deepEqual(algorithms, want);
  });
}
