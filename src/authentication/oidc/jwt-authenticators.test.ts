/** Valid and forged tokens, key rotation and unavailable issuers, with issuers over TLS. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { base64url, CompactEncrypt, SignJWT, UnsecuredJWT } from "jose";
import { type ManualClock, manualClock } from "../../../test/support/manual-clock.ts";
import {
  discoveryPath,
  issuerKey,
  keysPath,
  publishedKey,
  startTokenIssuer,
  type TokenIssuer,
} from "../../../test/support/token-issuer.ts";
import { until } from "../../../test/support/until.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { JwtAuthenticator } from "../configuration/configuration.ts";
import { validateConfiguration } from "../configuration/validate.ts";
import { type JwtAuthenticators, jwtAuthenticators, signingAlgorithms } from "./jwt-authenticators.ts";

const quiet: Logger = { info() {}, warn() {}, error() {} };

function configOf(
  issuer: Pick<TokenIssuer, "url" | "ca">,
  more: Partial<JwtAuthenticator> = {},
  issuerMore: Partial<JwtAuthenticator["issuer"]> = {},
): JwtAuthenticator {
  const none = { claim: "", expression: "" };
  return {
    issuer: {
      url: issuer.url,
      discoveryUrl: "",
      certificateAuthority: issuer.ca,
      audiences: ["coxswain"],
      audienceMatchPolicy: "",
      egressSelectorType: "",
      ...issuerMore,
    },
    claimValidationRules: [],
    claimMappings: {
      username: { ...none, claim: "sub", prefix: "" },
      groups: { ...none, claim: "groups", prefix: "" },
      uid: none,
      extra: [],
    },
    userValidationRules: [],
    ...more,
  };
}

interface Opened extends JwtAuthenticators {
  readonly clock: ManualClock;
  readonly observed: string[];
  /** Authenticates a token. @returns the user name and groups, or the problem */
  login(token: string): Promise<string | undefined>;
}

function open(configs: readonly JwtAuthenticator[], algorithms: readonly string[] = signingAlgorithms): Opened {
  const { errors, authenticators } = validateConfiguration(
    { jwt: configs },
    { disallowedIssuers: [], egressSelectorAllowed: true },
  );
  assert.deepEqual(errors.causes, []);
  const clock = manualClock(Date.now());
  const observed: string[] = [];
  const made = jwtAuthenticators(authenticators, {
    algorithms,
    clock,
    logger: quiet,
    dialOf: () => assert.fail("no issuer is behind an egress selector"),
    observer: {
      checked: (_issuer, accepted) => observed.push(accepted ? "accepted" : "rejected"),
      fetchedKeys: (_issuer, keySet) => observed.push(keySet === undefined ? "no keys" : "keys"),
    },
  });
  return {
    ...made,
    clock,
    observed,
    async login(token) {
      const answer = await made.authenticate(token, ["api"]);
      if (answer === undefined) return undefined;
      return "problems" in answer
        ? answer.problems.join(", ")
        : `${answer.user.name} [${answer.user.groups.join(" ")}]`;
    },
  };
}

const badSignature = "oidc: verify token: failed to verify signature: failed to verify id token signature";
const malformed = "oidc: verify token: oidc: malformed jwt";
const notSupported = (found: string): string =>
  `oidc: verify token: oidc: id token signed with unsupported algorithm, expected [${signingAlgorithms.map((one) => `"${one}"`).join(" ")}] got "${found}"`;
const parts = (token: string): [string, string, string] => token.split(".") as [string, string, string];

describe("tokens", () => {
  const ec = issuerKey("ec");
  const rsa = issuerKey("rsa", "RS256");
  let issuer: TokenIssuer;

  before(async () => {
    issuer = await startTokenIssuer([ec, rsa]);
  });
  after(() => issuer.close());

  const seconds = (more: number): number => Math.floor(Date.now() / 1000) + more;
  const publicPem = rsa.publicKey.export({ type: "spki", format: "pem" }).toString();

  const rows: [what: string, token: () => string | Promise<string>, want: string | RegExp | undefined][] = [
    ["that is valid", () => issuer.sign({ groups: ["a", "b"] }), "ann [a b]"],
    ["of an RSA key", () => issuer.sign({}, {}, rsa), "ann []"],
    ["of an RSA key with PSS", () => issuer.sign({}, { alg: "PS384" }, rsa), "ann []"],
    ["without a key ID", () => issuer.sign({}, { kid: undefined }), "ann []"],
    ["for several audiences", () => issuer.sign({ aud: ["x", "coxswain"] }), "ann []"],
    ["expired a second ago", () => issuer.sign({ exp: seconds(-1) }), /token is expired/],
    ["without an expiration", () => issuer.sign({ exp: undefined }), /token is expired/],
    ["not valid yet", () => issuer.sign({ nbf: seconds(120) }), /before the nbf/],
    ["valid in 30 seconds, within the clock tolerance", () => issuer.sign({ nbf: seconds(30) }), "ann []"],
    [
      "for another audience",
      () => issuer.sign({ aud: "other" }),
      'oidc: verify token: oidc: expected audience "coxswain" got ["other"]',
    ],
    ["of another issuer", () => issuer.sign({ iss: "https://elsewhere" }), undefined],
    ["of the issuer with a trailing slash", () => issuer.sign({ iss: `${issuer.url}/` }), undefined],
    ["without an issuer", () => issuer.sign({ iss: undefined }), undefined],
    [
      "without a signature",
      () => new UnsecuredJWT({ iss: issuer.url, aud: "coxswain", sub: "ann", exp: seconds(60) }).encode(),
      undefined,
    ],
    [
      "with algorithm none and a signature",
      async () => withHeader(await issuer.sign(), { alg: "none" }),
      notSupported("none"),
    ],
    [
      "signed with the public key as a secret",
      () =>
        new SignJWT({ iss: issuer.url, aud: "coxswain", sub: "ann", exp: seconds(60) })
          .setProtectedHeader({ alg: "HS256", kid: "rsa" })
          .sign(Buffer.from(publicPem)),
      notSupported("HS256"),
    ],
    [
      "of an EC key with an RSA algorithm",
      async () => withHeader(await issuer.sign(), { alg: "RS256", kid: "ec" }),
      badSignature,
    ],
    ["that contains its key", async () => ownKey(issuer), badSignature],
    [
      "that contains the URL of its key",
      () => issuer.sign({}, { jku: `${issuer.url}/evil`, x5u: `${issuer.url}/evil` }, issuerKey("ec")),
      badSignature,
    ],
    ["of another key with the same ID", () => issuer.sign({}, {}, issuerKey("ec")), badSignature],
    [
      "with claims of another token",
      async () => mixed(await issuer.sign(), await issuer.sign({ sub: "root" })),
      badSignature,
    ],
    ["truncated", async () => (await issuer.sign()).slice(0, -4), badSignature],
    [
      "without its signature",
      async () =>
        `${parts(await issuer.sign())
          .slice(0, 2)
          .join(".")}.`,
      undefined,
    ],
    [
      "with two parts",
      async () =>
        parts(await issuer.sign())
          .slice(0, 2)
          .join("."),
      undefined,
    ],
    ["with four parts", async () => `${await issuer.sign()}.x`, undefined],
    ["with padding", async () => `${await issuer.sign()}==`, undefined],
    [
      "with a header that is not JSON",
      async () => [base64url.encode("x"), ...parts(await issuer.sign()).slice(1)].join("."),
      malformed,
    ],
    ["with an unknown critical header", () => critical(issuer), malformed],
    [
      "nested in another token",
      async () => issuer.sign({ iss: undefined, jwt: await issuer.sign() }, { cty: "JWT" }),
      undefined,
    ],
    ["that is encrypted", async () => encrypted(await issuer.sign()), undefined],
    ["of a mebibyte", () => issuer.sign({ x: "x".repeat(2 ** 20) }), undefined],
    ["with a duplicate claim, whose last value is used", () => twice(issuer), "bob []"],
    [
      "with claims named like members of Object",
      () => issuer.sign({ ["__proto__"]: "x", constructor: "x", toString: "x" }),
      "ann []",
    ],
  ];
  for (const [what, token, want] of rows) {
    test(`a token ${what}`, async () => {
      const opened = open([configOf(issuer)]);
      await opened.ready;
      const found = await opened.login(await token());
      if (want instanceof RegExp) assert.match(found ?? "", want);
      else assert.equal(found, want);
      opened.close();
    });
  }

  test("does not fetch keys from URLs in tokens", () => assert.equal(issuer.asked("/evil"), 0));

  test("accepts allowed algorithms only", async () => {
    const narrow = open([configOf(issuer)], ["RS256"]);
    await narrow.ready;
    assert.equal(await narrow.login(await issuer.sign({}, {}, rsa)), "ann []");
    assert.match((await narrow.login(await issuer.sign())) ?? "", /expected \["RS256"\] got "ES256"$/);
    assert.match((await narrow.login(await issuer.sign({}, { alg: "PS256" }, rsa))) ?? "", /got "PS256"$/);
    narrow.close();
  });
});

function withHeader(token: string, header: object): string {
  return [base64url.encode(JSON.stringify(header)), ...parts(token).slice(1)].join(".");
}

function mixed(first: string, second: string): string {
  const [header, , signature] = parts(first);
  return [header, parts(second)[1], signature].join(".");
}

function ownKey(issuer: TokenIssuer): Promise<string> {
  const key = issuerKey("ec");
  return issuer.sign({}, { jwk: key.publicKey.export({ format: "jwk" }) }, key);
}

async function critical(issuer: TokenIssuer): Promise<string> {
  return withHeader(await issuer.sign(), { alg: "ES256", kid: "ec", crit: ["exp"], exp: 1 });
}

function encrypted(token: string): Promise<string> {
  return new CompactEncrypt(Buffer.from(token))
    .setProtectedHeader({ alg: "dir", enc: "A128GCM" })
    .encrypt(Buffer.alloc(16));
}

/** Signs duplicate claims, which the library does not encode. */
async function twice(issuer: TokenIssuer): Promise<string> {
  const { CompactSign } = await import("jose");
  const exp = Math.floor(Date.now() / 1000) + 60;
  const claims = `{"iss":"${issuer.url}","aud":"coxswain","exp":${exp},"sub":"ann","sub":"bob"}`;
  const [key] = issuer.keys;
  assert.ok(key);
  return new CompactSign(Buffer.from(claims))
    .setProtectedHeader({ alg: key.algorithm, kid: key.id })
    .sign(key.privateKey);
}

async function withIssuer(run: (issuer: TokenIssuer, openOne: typeof open) => Promise<void>): Promise<void> {
  const issuer = await startTokenIssuer();
  const all: Opened[] = [];
  try {
    await run(issuer, (...args) => {
      const made = open(...args);
      all.push(made);
      return made;
    });
  } finally {
    for (const one of all) one.close();
    await issuer.close();
  }
}

test("fetches keys for the first token and for unknown keys", async () => {
  await withIssuer(async (issuer, openOne) => {
    const opened = openOne([configOf(issuer)]);
    await opened.ready;
    const old = await issuer.sign();
    assert.deepEqual(await Promise.all([opened.login(old), opened.login(old)]), ["ann []", "ann []"]);
    assert.equal(issuer.asked(keysPath), 1);
    issuer.keys = [issuerKey("2"), ...issuer.keys];
    assert.equal(await opened.login(await issuer.sign()), "ann []");
    assert.equal(await opened.login(old), "ann []");
    assert.equal(issuer.asked(keysPath), 2);
    issuer.keys = issuer.keys.slice(0, 1);
    assert.equal(await opened.login(old), "ann []");
  });
});

test("drops removed keys after ten minutes", async () => {
  await withIssuer(async (issuer, openOne) => {
    const opened = openOne([configOf(issuer)]);
    await opened.ready;
    const old = await issuer.sign({ exp: 4102444800 });
    assert.equal(await opened.login(old), "ann []");
    issuer.keys = [issuerKey("2")];
    opened.clock.advance(10 * 60_000 + 1);
    assert.equal(await opened.login(old), "ann []"); // Uses the cached keys, and fetches new ones in the background.
    await until(() => opened.observed.filter((one) => one === "keys").length >= 2);
    assert.equal(await opened.login(old), badSignature);
  });
});

test("limits fetches for unknown keys", async () => {
  await withIssuer(async (issuer, openOne) => {
    const opened = openOne([configOf(issuer)]);
    await opened.ready;
    for (let index = 0; index < 50; index++)
      assert.equal(await opened.login(await issuer.sign({}, { kid: `k${index}` })), badSignature);
    assert.equal(issuer.asked(keysPath), 4);
    assert.equal(await opened.login(await issuer.sign()), "ann []");
    opened.clock.advance(5000);
    await opened.login(await issuer.sign({}, { kid: "x" }));
    await opened.login(await issuer.sign({}, { kid: "y" }));
    assert.equal(issuer.asked(keysPath), 5);
  });
});

test("keeps the keys when a fetch fails", async () => {
  await withIssuer(async (issuer, openOne) => {
    const opened = openOne([configOf(issuer)]);
    await opened.ready;
    issuer.replies.set(keysPath, (response) => response.writeHead(500).end("down"));
    assert.equal(
      await opened.login(await issuer.sign()),
      "oidc: verify token: failed to verify signature: fetching keys oidc: get keys failed: 500 down",
    );
    issuer.replies.delete(keysPath);
    assert.equal(await opened.login(await issuer.sign()), "ann []");
    for (const reply of [
      "not JSON",
      [1],
      { keys: 1 },
      (response: import("node:http").ServerResponse) => response.destroy(),
    ] as const) {
      issuer.replies.set(keysPath, reply);
      opened.clock.advance(20_000);
      assert.match((await opened.login(await issuer.sign({}, { kid: "x" }))) ?? "", /fetching keys/);
      assert.equal(await opened.login(await issuer.sign()), "ann []");
    }
    assert.ok(opened.observed.includes("no keys"));
  });
});

test("ignores keys that are unsupported or invalid", async () => {
  await withIssuer(async (issuer, openOne) => {
    const opened = openOne([configOf(issuer)]);
    await opened.ready;
    const [good] = issuer.keys;
    assert.ok(good);
    const others = [
      1,
      null,
      {},
      { kty: "oct", k: "AAAA", kid: "1" },
      { kty: "EC", crv: "P-256", x: "AA", y: "AA", kid: "1" },
      { kty: "OKP", crv: "X25519", kid: "1" },
    ];
    issuer.replies.set(keysPath, { keys: [...others, publishedKey(good)] });
    assert.equal(await opened.login(await issuer.sign()), "ann []");
  });
});

test("retries discovery with growing delays, then accepts tokens", async () => {
  await withIssuer(async (issuer, openOne) => {
    issuer.replies.set(discoveryPath, (response) =>
      response.writeHead(503).end(`later ${issuer.asked(discoveryPath)}`),
    );
    const opened = openOne([configOf(issuer)]);
    const token = await issuer.sign();
    assert.equal(await opened.login(token), "oidc: authenticator not initialized");
    for (const [index, delayMs] of [1000, 2000, 4000, 8000, 10_000, 10_000].entries()) {
      await until(() => opened.problems()[0] === `503: later ${index + 1}`);
      opened.clock.advance(delayMs - 1);
      assert.equal(issuer.asked(discoveryPath), index + 1);
      if (index === 5) issuer.replies.delete(discoveryPath);
      opened.clock.advance(1);
    }
    await opened.ready;
    assert.deepEqual(opened.problems(), []);
    assert.equal(await opened.login(token), "ann []");
  });
});

for (const [what, keysUrl, want] of [
  ["no scheme", "keys", /fetching keys parse "keys": invalid URL$/],
  [
    "the scheme http",
    "http://127.0.0.1/keys",
    /fetching keys Get "http:\/\/127.0.0.1\/keys": unsupported protocol scheme "http"$/,
  ],
  [
    "a port without a listener",
    "https://127.0.0.1:1/keys",
    /fetching keys Get "https:\/\/127.0.0.1:1\/keys": connect ECONNREFUSED/,
  ],
] as const) {
  test(`a key URL with ${what}`, async () => {
    await withIssuer(async (issuer, openOne) => {
      issuer.replies.set(discoveryPath, { issuer: issuer.url, jwks_uri: keysUrl });
      const opened = openOne([configOf(issuer)]);
      await opened.ready;
      assert.match((await opened.login(await issuer.sign())) ?? "", want);
    });
  });
}

test("rejects redirect loops, invalid redirects, and large or incomplete documents", async () => {
  await withIssuer(async (issuer, openOne) => {
    const opened = openOne([configOf(issuer)]);
    await opened.ready;
    const rows: [reply: (response: import("node:http").ServerResponse) => void, want: RegExp][] = [
      [(response) => response.writeHead(302, { location: keysPath }).end(), /stopped after 10 redirects$/],
      [(response) => response.writeHead(302, { location: "http://x" }).end(), /unsupported protocol scheme "http"$/],
      [(response) => response.writeHead(302, { location: "https://[" }).end(), /invalid URL$/],
      [(response) => response.end("x".repeat(5 * 2 ** 20)), /more than 4194304 bytes$/],
      [
        (response) => response.writeHead(200, { "content-length": "100" }).write("{", () => response.destroy()),
        /aborted|hang up/,
      ],
    ];
    for (const [reply, want] of rows) {
      issuer.replies.set(keysPath, reply);
      opened.clock.advance(5000);
      assert.match((await opened.login(await issuer.sign())) ?? "", want);
    }
  });
});

const discoveryRows: [what: string, reply: (url: string) => object | string, want: RegExp][] = [
  [
    "of another issuer",
    () => ({ issuer: "https://other", jwks_uri: "https://other/keys" }),
    /issuer did not match the issuer returned by provider, expected "https:.*" got "https:\/\/other"$/,
  ],
  ["without a key URL", (url) => ({ issuer: url }), /provider did not return JWKS URL/],
  ["not JSON", () => "<html>", /failed to decode provider discovery object/],
  ["a list", () => [], /failed to decode provider discovery object/],
];
for (const [what, reply, want] of discoveryRows) {
  test(`a discovery document: ${what}`, async () => {
    await withIssuer(async (issuer, openOne) => {
      issuer.replies.set(discoveryPath, reply(issuer.url));
      const opened = openOne([configOf(issuer)]);
      await until(() => !/is not initialized/.test(opened.problems()[0] ?? ""));
      assert.match(opened.problems()[0] ?? "", want);
    });
  });
}

test("requires a certificate of the configured authority", async () => {
  await withIssuer(async (issuer, openOne) => {
    const other = await startTokenIssuer();
    const opened = openOne([configOf(issuer, {}, { certificateAuthority: other.ca })]);
    await other.close();
    await until(() => !/is not initialized/.test(opened.problems()[0] ?? ""));
    assert.match(opened.problems()[0] ?? "", /certificate/);
    assert.equal(issuer.server.requests.length, 0);
  });
});

test("follows redirects from discoveryUrl", async () => {
  await withIssuer(async (issuer, openOne) => {
    issuer.replies.set(discoveryPath, (response) => response.writeHead(404).end());
    issuer.replies.set("/moved", (response) => response.writeHead(302, { location: "/here" }).end());
    issuer.replies.set("/here", { issuer: issuer.url, jwks_uri: `${issuer.url}${keysPath}` });
    const opened = openOne([configOf(issuer, {}, { discoveryUrl: `${issuer.url}/moved` })]);
    await opened.ready;
    assert.equal(await opened.login(await issuer.sign()), "ann []");
    assert.equal(issuer.asked(discoveryPath), 0);
  });
});

test("resolves distributed group claims", async () => {
  await withIssuer(async (issuer, openOne) => {
    const opened = openOne([configOf(issuer)]);
    await opened.ready;
    const source = (endpoint: string): Record<string, unknown> => ({
      _claim_names: { groups: "s" },
      _claim_sources: { s: { endpoint: `${issuer.url}${endpoint}`, access_token: "secret" } },
    });
    issuer.replies.set("/groups", await issuer.sign({ groups: ["x", "y"] }));
    issuer.replies.set("/none", await issuer.sign());
    issuer.replies.set("/expired", await issuer.sign({ exp: 1, groups: ["x"] }));
    issuer.replies.set("/forged", await issuer.sign({ groups: ["root"] }, {}, issuerKey("1")));
    issuer.replies.set("/elsewhere", await issuer.sign({ iss: "https://127.0.0.1:1", groups: ["root"] }));
    issuer.replies.set("/text", "no token");
    assert.equal(await opened.login(await issuer.sign(source("/groups"))), "ann [x y]");
    assert.deepEqual(
      issuer.server.requests.findLast(({ path }) => path === "/groups")?.headers.authorization,
      "Bearer secret",
    );
    const wants: [endpoint: string, want: RegExp][] = [
      ["/none", /did not contain claim: groups$/],
      ["/expired", /verify distributed claim token: oidc: token is expired/],
      ["/forged", /failed to verify id token signature$/],
      ["/elsewhere", /verifier not initialized for issuer: "https:\/\/127.0.0.1:1"$/],
      ["/text", /getting untrusted issuer/],
      ["\n:", /invalid URL$|404$/],
      ["/missing", /while getting distributed claim "groups": error while getting distributed claim JWT: 404$/],
    ];
    const inHeader = {
      _claim_names: { groups: "s" },
      _claim_sources: { s: { endpoint: `${issuer.url}/groups`, access_token: "a\r\nb: c" } },
    };
    assert.match((await opened.login(await issuer.sign(inHeader))) ?? "", /invalid header field value/);
    for (const [endpoint, want] of wants) {
      opened.clock.advance(5000);
      assert.match((await opened.login(await issuer.sign(source(endpoint)))) ?? "", want);
    }
  });
});

test("passes a token to the authenticator of its issuer only", async () => {
  await withIssuer(async (one, openOne) => {
    const two = await startTokenIssuer();
    const named = { username: { claim: "name", expression: "", prefix: "two:" } };
    const mappings = { ...configOf(two).claimMappings, ...named };
    const opened = openOne([configOf(one), configOf(two, { claimMappings: mappings })]);
    await opened.ready;
    assert.equal(await opened.login(await one.sign()), "ann []");
    assert.equal(await opened.login(await two.sign({ name: "bob" })), "two:bob []");
    assert.equal(await opened.login(await two.sign({ iss: one.url })), badSignature);
    assert.equal(one.asked(keysPath), 2);
    await two.close();
  });
});
