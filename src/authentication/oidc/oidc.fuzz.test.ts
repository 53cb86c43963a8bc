/**
 * Tampered tokens, claims and keys cause error messages, no exceptions, and are never accepted.
 * `SEED=n` replays.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { CompactSign } from "jose";
import { jsonWords, mutate } from "../../../test/support/mutate.ts";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { issuerKey, publishedKey, startTokenIssuer, type TokenIssuer } from "../../../test/support/token-issuer.ts";
import { systemClock } from "../../apimachinery/clock.ts";
import { readAuthenticationConfiguration } from "../configuration/configuration.ts";
import { validateConfiguration } from "../configuration/validate.ts";
import type { TokenAnswer } from "../contract.ts";
import { type JwtAuthenticators, jwtAuthenticators, signingAlgorithms } from "./jwt-authenticators.ts";
import { remoteKeySet } from "./key-set.ts";

const runs = process.env.COXSWAIN_TEST_FULL === "1" ? 50_000 : 500;
const random = seededRandom(seed);

let issuer: TokenIssuer;
const opened: JwtAuthenticators[] = [];

before(async () => {
  issuer = await startTokenIssuer([issuerKey("ec"), issuerKey("rsa", "RS256")]);
});
after(async () => {
  for (const one of opened) one.close();
  await issuer.close();
});

async function open(): Promise<JwtAuthenticators> {
  const one = {
    issuer: { url: issuer.url, certificateAuthority: issuer.ca, audiences: ["coxswain"] },
    claimMappings: {
      username: { claim: "sub", prefix: "" },
      groups: { expression: "claims.?groups.orValue([])" },
      uid: { expression: "claims.?id.orValue('')" },
      extra: [{ key: "example.com/x", valueExpression: "claims.?x.a.b.orValue('')" }],
    },
    userValidationRules: [{ expression: "user.username != 'root' && user.groups.all(g, g != 'root')" }],
  };
  const file = JSON.stringify({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt: [one],
  });
  const options = { disallowedIssuers: [], egressSelectorAllowed: false };
  const { authenticators } = validateConfiguration(readAuthenticationConfiguration(Buffer.from(file)), options);
  const made = jwtAuthenticators(authenticators, {
    algorithms: signingAlgorithms,
    clock: systemClock,
    logger: { info() {}, warn() {}, error() {} },
    dialOf: () => assert.fail("no issuer is behind an egress selector"),
  });
  opened.push(made);
  await made.ready;
  return made;
}

const isAccepted = (answer: TokenAnswer): boolean => answer !== undefined && "user" in answer;

test(`tampered tokens (SEED=${seed})`, async () => {
  const { authenticate } = await open();
  const good = await issuer.sign({ groups: ["a"] });
  assert.ok(isAccepted(await authenticate(good, ["api"])));
  const [header = "", payload = "", signature = ""] = good.split(".");
  for (let run = 0; run < runs; run++) {
    const parts = [header, payload, signature];
    const part = random(3);
    const bytes = Buffer.from(parts[part] as string, "base64url");
    const tampered = mutate(bytes, { others: [bytes], words: jsonWords, random });
    if (tampered.equals(bytes)) continue;
    parts[part] = tampered.toString("base64url");
    const token = parts.join(".");
    assert.equal(isAccepted(await authenticate(token, ["api"])), false, token);
  }
});

test(`tampered claims, well signed (SEED=${seed})`, async () => {
  const { authenticate } = await open();
  const [key] = issuer.keys;
  assert.ok(key);
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const claims = {
    iss: issuer.url,
    aud: "coxswain",
    sub: "ann",
    exp,
    nbf: 1,
    jti: "j",
    groups: ["a"],
    id: "i",
    x: { a: { b: "c" } },
    _claim_names: {},
  };
  const untampered = Buffer.from(JSON.stringify(claims));
  for (let run = 0; run < runs; run++) {
    const payload = mutate(untampered, { others: [untampered], words: jsonWords, random });
    const token = await new CompactSign(payload).setProtectedHeader({ alg: "ES256", kid: key.id }).sign(key.privateKey);
    const answer = await authenticate(token, ["api"]);
    if (answer === undefined || !("user" in answer)) continue;
    assert.notEqual(answer.user.name, "root");
    const { name, uid, groups, extra } = answer.user;
    assert.ok(
      [name, uid, ...groups, ...[...extra.values()].flat()].every((one) => typeof one === "string"),
      payload.toString(),
    );
  }
});

test(`tampered keys (SEED=${seed})`, async () => {
  const documents = Buffer.from(JSON.stringify({ keys: issuer.keys.map(publishedKey) }));
  const token = await issuer.sign({}, {}, issuerKey("ec"));
  for (let run = 0; run < runs; run++) {
    const body = mutate(documents, { others: [documents], words: jsonWords, random });
    const client = { get: async () => ({ status: 200, headers: {}, body }), close() {} };
    const keySet = remoteKeySet({
      client,
      url: "https://idp.example.com/keys",
      algorithms: signingAlgorithms,
      clock: systemClock,
    });
    assert.equal(typeof (await keySet.verify(token)), "string", body.toString());
  }
});
