/**
 * Tokens of an identity provider with an empty user name authenticate no user, whichever option
 * maps the name.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { ServerOptions } from "../../src/index.ts";
import { reviewSelf } from "../support/auth-client.ts";
import { field } from "../support/kubeconfig-fields.ts";
import { rawClient } from "../support/raw-client.ts";
import { startTestServer } from "../support/start-test-server.ts";
import { startTokenIssuer, type TokenIssuer } from "../support/token-issuer.ts";
import { tokenReviewProblem } from "../support/token-review-problem.ts";
import { until } from "../support/until.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-empty-user-names-"));
let issuer: TokenIssuer;
before(async () => {
  issuer = await startTokenIssuer();
});
after(async () => {
  await issuer.close();
  rmSync(directory, { recursive: true });
});

function fileOf(name: string, content: string): string {
  writeFileSync(join(directory, name), content);
  return join(directory, name);
}

function mappedByFile(username: object): Partial<ServerOptions> {
  const { url, ca: certificateAuthority } = issuer;
  const claimMappings = { username, groups: { claim: "groups", prefix: "" } };
  const jwt = [{ issuer: { url, certificateAuthority, audiences: ["coxswain"] }, claimMappings }];
  const configuration = { apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthenticationConfiguration", jwt };
  return { authenticationConfigFile: fileOf("authentication.json", JSON.stringify(configuration)) };
}

function mappedByFlags(flags: ServerOptions["oidc"]): Partial<ServerOptions> {
  const common = {
    issuerUrl: issuer.url,
    clientId: "coxswain",
    caFile: fileOf("ca.crt", issuer.ca),
    signingAlgs: ["ES256"],
    groupsClaim: "groups",
  };
  return { oidc: { ...common, ...flags } };
}

const noName = /^oidc: username claim "(name|email)" is empty$/;
const noText =
  /^oidc: (empty username via CEL expression is not allowed|.*username claim expression must return a string)$/;
const rows: [what: string, options: () => Partial<ServerOptions>, error: RegExp][] = [
  ["a claim without a prefix in the file", () => mappedByFile({ claim: "name", prefix: "" }), noName],
  ["a claim with a prefix in the file", () => mappedByFile({ claim: "name", prefix: "idp:" }), noName],
  ["an email claim in the file", () => mappedByFile({ claim: "email", prefix: "" }), noName],
  ["an expression in the file", () => mappedByFile({ expression: "claims.name" }), noText],
  ["flags without a prefix", () => mappedByFlags({ usernameClaim: "name", usernamePrefix: "-" }), noName],
  ["flags with a prefix", () => mappedByFlags({ usernameClaim: "name", usernamePrefix: "idp:" }), noName],
  ["flags with the default prefix", () => mappedByFlags({ usernameClaim: "name" }), noName],
  ["flags with an email claim", () => mappedByFlags({ usernameClaim: "email" }), noName],
];
for (const [what, options, error] of rows) {
  test(`rejects an empty user name that is mapped by ${what}`, async () => {
    const server = await startTestServer(options());
    const client = rawClient(server.kubeconfig);
    // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
    const review = async (token: string): Promise<any> => {
      const path = "/apis/authentication.k8s.io/v1/tokenreviews";
      return (await client.send({ method: "POST", path, body: { spec: { token } } })).body.status;
    };
    try {
      const good = await issuer.sign({ name: "ann", email: "ann@example.com" });
      // The server fetches the keys in the background.
      await until(async () => (await review(good)).authenticated === true);
      for (const empty of ["", null]) {
        const token = await issuer.sign({
          name: empty,
          email: empty,
          email_verified: true,
          groups: ["system:masters"],
        });
        const { authenticated, user, error: found } = await review(token);
        assert.deepEqual([authenticated, user], [undefined, {}]);
        assert.match(tokenReviewProblem(found) ?? "", error);
        const caller = { headers: [["authorization", `Bearer ${token}`]] } as const;
        const answer = await reviewSelf(
          server.url,
          field(server.kubeconfig, "certificate-authority-data"),
          caller,
          "HTTP/2.0",
        );
        assert.deepEqual([answer.status, JSON.parse(answer.text).message], [401, "Unauthorized"]);
      }
    } finally {
      client.close();
      await server.close();
    }
  });
}
