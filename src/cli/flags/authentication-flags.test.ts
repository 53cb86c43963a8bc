import assert from "node:assert/strict";
import { test } from "node:test";
import type { ServerOptions } from "../../server/options.ts";
import { FlagError } from "./contract.ts";
import { parseFlags } from "./parse-flags.ts";

const rows: [argv: string[], want: Partial<ServerOptions>][] = [
  [["--oidc-issuer-url=https://a", "--oidc-client-id=b"], { oidc: { issuerUrl: "https://a", clientId: "b" } }],
  [["--oidc-issuer-url="], { oidc: { issuerUrl: "" } }],
  [
    ["--oidc-signing-algs=RS256,ES256", "--oidc-signing-algs=PS256"],
    { oidc: { signingAlgs: ["RS256", "ES256", "PS256"] } },
  ],
  [
    ["--oidc-required-claim= a = b=c ", "--oidc-required-claim=d=", "--oidc-required-claim=e=1,2"],
    { oidc: { requiredClaims: { a: "b=c", d: "", e: "1,2" } } },
  ],
  [
    ["--oidc-username-prefix=-", "--oidc-username-claim=email"],
    { oidc: { usernamePrefix: "-", usernameClaim: "email" } },
  ],
  [
    ["--oidc-groups-claim=g", "--oidc-groups-prefix=p:", "--oidc-ca-file=f"],
    { oidc: { groupsClaim: "g", groupsPrefix: "p:", caFile: "f" } },
  ],
  [
    ["--authentication-config=f", "--egress-selector-config-file=g"],
    { authenticationConfigFile: "f", egressSelectorConfigFile: "g" },
  ],
  [["--authentication-config="], { authenticationConfigFile: undefined }],
];
for (const [argv, want] of rows) {
  test(argv.join(" "), () => {
    const line = parseFlags(argv);
    assert.ok(line.run === "server");
    assert.deepEqual(
      Object.fromEntries(
        Object.keys(want).map((key) => [key, line.settings.server[key as keyof typeof line.settings.server]]),
      ),
      want,
    );
  });
}

test("a claim without a value", () => {
  const message = 'invalid argument "a" for "--oidc-required-claim" flag: malformed pair, expect string=string';
  assert.throws(() => parseFlags(["--oidc-required-claim=a"]), new FlagError(message));
});
