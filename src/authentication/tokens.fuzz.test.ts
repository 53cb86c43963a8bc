/**
 * Tampered service account tokens, tampered claims with valid signatures, and tampered responses of
 * token webhooks cause problems, no exceptions. `SEED=n` replays.
 */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { CompactSign } from "jose";
import { jsonWords, mutate, yamlWords } from "../../test/support/mutate.ts";
import { seed } from "../../test/support/seed.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { systemClock } from "../apimachinery/clock.ts";
import { builtinSchema } from "../catalog/builtin-schemas.ts";
import type { AcceptedToken, TokenAnswer } from "./contract.ts";
import { secretTokenClaims, tokenClaims } from "./service-account/claims.ts";
import { tokenIssuer } from "./service-account/issuer.ts";
import { readSigningKey, staticKeys } from "./service-account/keys.ts";
import type { LiveObjects } from "./service-account/live-objects.ts";
import { serviceAccountTokens } from "./service-account/token.ts";
import { tokenWebhook } from "./webhook/token-webhook.ts";

const runs = process.env.COXSWAIN_TEST_FULL === "1" ? 50_000 : 500;
const random = seededRandom(seed);

const key = readSigningKey(
  generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  "",
);
const issuer = tokenIssuer(key, "https://issuer");
/** The service account exists; the Secret does not. */
const live: LiveObjects = {
  find: (resource, namespace, name) =>
    resource === "serviceaccounts" && namespace === "ns" && name === "robot"
      ? { uid: "u", deletedAt: undefined }
      : undefined,
  read: () => undefined,
  async waitUntilCurrent() {},
};
const authenticate = serviceAccountTokens({
  keys: staticKeys([key.public]),
  issuers: ["https://issuer"],
  apiAudiences: ["api"],
  lookup: true,
  live,
  clock: systemClock,
});
const grant = {
  namespace: "ns",
  account: { name: "robot", uid: "u" },
  audiences: ["api"],
  now: Date.now(),
  expirationSeconds: 3600,
  jti: "j",
};
const acceptedOf = (answer: TokenAnswer): AcceptedToken | undefined =>
  answer !== undefined && "user" in answer ? answer : undefined;

function assertStrings({ user: { name, uid, groups, extra }, audiences }: AcceptedToken, what: string): void {
  const texts = [name, uid, ...groups, ...audiences, ...extra.keys(), ...[...extra.values()].flat()];
  assert.ok(
    texts.every((one) => typeof one === "string"),
    what,
  );
}

test(`tampered tokens of service accounts (SEED=${seed})`, async () => {
  const good = await issuer.issue(tokenClaims(grant));
  assert.ok(acceptedOf(await authenticate(good, ["api"])));
  for (let run = 0; run < runs; run++) {
    const parts = good.split(".");
    const part = random(3);
    const bytes = Buffer.from(parts[part] as string, "base64url");
    const tampered = mutate(bytes, { others: [bytes], words: jsonWords, random });
    if (tampered.equals(bytes)) continue;
    parts[part] = tampered.toString("base64url");
    assert.equal(acceptedOf(await authenticate(parts.join("."), ["api"])), undefined, parts.join("."));
  }
});

test(`tampered claims of service accounts, with valid signatures (SEED=${seed})`, async () => {
  const payloads = [
    { ...tokenClaims({ ...grant, pod: { name: "p", uid: "p" } }), iss: "https://issuer" },
    { ...tokenClaims({ ...grant, warnAfterSeconds: 60 }), iss: "https://issuer" },
    { ...secretTokenClaims("ns", grant.account, "s"), iss: "kubernetes/serviceaccount" },
  ].map((claims) => Buffer.from(JSON.stringify(claims)));
  for (let run = 0; run < runs; run++) {
    const payload = mutate(payloads[random(payloads.length)] as Buffer, { others: payloads, words: jsonWords, random });
    const token = await new CompactSign(payload)
      .setProtectedHeader({ alg: "ES256", kid: key.public.keyId })
      .sign(key.privateKey);
    const accepted = acceptedOf(await authenticate(token, ["api"]));
    if (accepted === undefined) continue;
    assertStrings(accepted, payload.toString());
    assert.deepEqual(
      [accepted.user.name, accepted.user.uid],
      ["system:serviceaccount:ns:robot", "u"],
      payload.toString(),
    );
  }
});

test(`tampered answers of token webhooks (SEED=${seed})`, async () => {
  const user = { username: "ann", uid: "1", groups: ["g"], extra: { "example.com/k": ["v"] } };
  const status = { authenticated: true, user, audiences: ["api"] };
  const answer = Buffer.from(
    JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: "t" }, status }),
  );
  const kind = {
    group: "authentication.k8s.io",
    version: "v1",
    kind: "TokenReview",
    schema: builtinSchema("io.k8s.api.authentication.v1.TokenReview"),
  };
  let body: Buffer = answer;
  const login = tokenWebhook({
    client: { post: async () => ({ status: 200, headers: {}, body }) },
    kind,
    audiences: ["api"],
    clock: systemClock,
    logger: { info() {}, warn() {}, error() {} },
  });
  for (let run = 0; run < runs; run++) {
    body = mutate(answer, { others: [answer], words: run % 4 === 0 ? yamlWords : jsonWords, random });
    const accepted = acceptedOf(await login("t", ["api"]));
    if (accepted !== undefined) assertStrings(accepted, body.toString());
    assert.notEqual(accepted?.user.name, "");
  }
});
