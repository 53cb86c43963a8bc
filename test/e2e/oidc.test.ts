/**
 * Tokens of OpenID Connect providers against a real server: valid and forged tokens, reloads of the
 * file, and start errors.
 */
import assert from "node:assert/strict";
import { createSecretKey } from "node:crypto";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { SignJWT } from "jose";
import { startServer } from "../../src/index.ts";
import { clientId, type IdentityProvider, startIdentityProvider } from "../support/identity-provider.ts";
import { field } from "../support/kubeconfig-fields.ts";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { skipWithout } from "../support/needs.ts";
import { type Answer, type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { issuerKey, keysPath, startTokenIssuer, type TokenIssuer } from "../support/token-issuer.ts";
import { eventually } from "../support/until.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-oidc-"));
after(() => rmSync(directory, { recursive: true }));

let files = 0;
function fileOf(content: string): string {
  const file = join(directory, `file-${files++}`);
  writeFileSync(file, content);
  return file;
}

function configuration(jwt: readonly object[], more: object = {}): string {
  return JSON.stringify({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt,
    ...more,
  });
}

function authenticator(
  { url, ca }: { url: string; ca: string },
  more: object = {},
  audiences: readonly string[] = ["coxswain"],
): object {
  return {
    issuer: { url, certificateAuthority: ca, audiences },
    claimMappings: { username: { claim: "sub", prefix: "" } },
    ...more,
  };
}

function review(client: RawClient, token: string): Promise<Answer> {
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  return client.send({
    method: "POST",
    path,
    body: {},
    headers: { authorization: `Bearer ${token}` },
    anonymous: true,
  });
}

/** @returns the user, or the status of an error */
async function userOf(client: RawClient, token: string): Promise<unknown> {
  const { status, body } = await review(client, token);
  return status === 201 ? body.status.userInfo : status;
}

/**
 * Repeats the request until the result is good: the server reads the issuer's keys in the
 * background.
 */
async function until<T>(request: () => Promise<T>, good: (found: T) => boolean): Promise<T> {
  const [found] = await eventually(String(good), async () => {
    const one = await request();
    return good(one) && ([one] as const);
  });
  return found;
}

async function metric(client: RawClient, name: string): Promise<string[]> {
  const { text } = await client.send({ path: "/metrics" });
  return text.split("\n").filter((line) => line.startsWith(name));
}

describe("an OpenID Connect provider configured by flags", () => {
  let provider: IdentityProvider;
  let server: TestServer;
  let client: RawClient;

  before(async () => {
    provider = await startIdentityProvider({
      ann: { email: "ann@example.com", email_verified: true, groups: ["devs", "ops"], tenant: "one" },
      bob: { email: "bob@example.com", email_verified: false, groups: "devs", tenant: "one" },
      eve: { email: "eve@example.com", email_verified: true, groups: ["devs"], tenant: "two" },
    });
    server = await startTestServer({
      oidc: {
        issuerUrl: provider.url,
        clientId,
        caFile: fileOf(provider.ca),
        usernameClaim: "email",
        groupsClaim: "groups",
        groupsPrefix: "idp:",
        requiredClaims: { tenant: "one" },
      },
    });
    client = rawClient(server.kubeconfig);
    const token = await provider.login("ann");
    await until(
      () => userOf(client, token),
      (found) => found !== 401,
    );
  });
  after(async () => {
    client.close();
    await server.close();
    await provider.close();
  });

  test("authenticates a user of the provider", async () => {
    assert.deepEqual(await userOf(client, await provider.login("ann")), {
      username: "ann@example.com",
      groups: ["idp:devs", "idp:ops", "system:authenticated"],
    });
  });

  test("rejects tokens with an unverified email or without a required claim", async () => {
    assert.deepEqual(
      [await userOf(client, await provider.login("bob")), await userOf(client, await provider.login("eve"))],
      [401, 401],
    );
  });

  test("fetches the keys once, and again after a key rotation, which invalidates earlier tokens", async () => {
    const before = await provider.login("ann");
    const fetched = provider.asked("/jwks");
    assert.ok(fetched <= 1, String(fetched));
    provider.rotateKeys();
    const token = await provider.login("ann");
    assert.notEqual(await userOf(client, token), 401);
    assert.equal(provider.asked("/jwks"), fetched + 1);
    assert.equal(await userOf(client, before), 401);
  });

  test("authorizes users and groups of the provider", async () => {
    const binding = {
      metadata: { name: "idp-devs" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [{ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "idp:devs" }],
    };
    await client.send({
      method: "POST",
      path: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
      body: binding,
    });
    const headers = { authorization: `Bearer ${await provider.login("ann")}` };
    const path = "/api/v1/namespaces/default/pods";
    assert.equal((await client.send({ path, headers, anonymous: true })).status, 200);
    const forbidden = await client.send({ method: "POST", path, headers, anonymous: true, body: {} });
    assert.equal(forbidden.status, 403);
    assert.match(forbidden.body.message, /User "ann@example.com" cannot create resource "pods"/);
  });

  // Older versions of kubectl request API versions that 1.36 does not serve.
  for (const kubectl of kubectls().slice(-1)) {
    test(`${kubectl.split("/").at(-1)} auth whoami prints the user of a token`, async () => {
      const ca = fileOf(field(server.kubeconfig, "certificate-authority-data"));
      const args = [
        "--server",
        server.url,
        "--certificate-authority",
        ca,
        "--token",
        await provider.login("ann"),
        "auth",
        "whoami",
      ];
      const { output } = await runKubectl(kubectl, args, { directory, kubeconfigPath: fileOf("") });
      assert.match(output, /Username\s+ann@example.com\s+Groups\s+\[idp:devs idp:ops system:authenticated\]/);
    });
  }

  test("kubectl authenticates with the oidc auth-provider of a kubeconfig", {
    skip: skipWithout("kubectl"),
  }, async () => {
    const config = { "idp-issuer-url": provider.url, "client-id": clientId, "id-token": await provider.login("ann") };
    const cluster = {
      server: server.url,
      "certificate-authority": fileOf(field(server.kubeconfig, "certificate-authority-data")),
    };
    const kubeconfig = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "c",
      clusters: [{ name: "c", cluster }],
      users: [{ name: "u", user: { "auth-provider": { name: "oidc", config } } }],
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    };
    const run = { directory, kubeconfigPath: fileOf(JSON.stringify(kubeconfig)) };
    const { output } = await runKubectl(kubectls().at(-1) as string, ["auth", "can-i", "list", "pods"], run);
    assert.equal(output, "yes");
  });

  test("exposes metrics about latencies and key sets, without the URL of the issuer", async () => {
    const lines = await metric(client, "apiserver_authentication_jwt_authenticator_");
    assert.ok(
      lines.some((line) =>
        /_latency_seconds_count\{jwt_issuer_hash="sha256:[0-9a-f]{64}",result="success"\} [1-9]/.test(line),
      ),
      lines.join("\n"),
    );
    assert.ok(lines.some((line) => /_latency_seconds_count\{.*result="failure"\} [1-9]/.test(line)));
    assert.ok(
      lines.some((line) =>
        /_jwks_fetch_last_timestamp_seconds\{apiserver_id_hash="sha256:.*result="success"\} 1/.test(line),
      ),
    );
    assert.ok(lines.some((line) => /_jwks_fetch_last_key_set_info\{.*hash="sha256:.*\} 1$/.test(line)));
    assert.ok(!lines.some((line) => line.includes(provider.url)));
  });
});

describe("an AuthenticationConfiguration file", () => {
  const ec = issuerKey("ec");
  const rsa = issuerKey("rsa", "RS256");
  let issuer: TokenIssuer;
  let server: TestServer;
  let client: RawClient;
  const file = join(directory, "authentication.json");
  const replaceFile = (content: string): void => {
    writeFileSync(`${file}.new`, content);
    renameSync(`${file}.new`, file);
  };
  const anonymous = { anonymous: { enabled: true, conditions: [{ path: "/livez" }, { path: "/readyz" }] } };
  const first = (): object =>
    authenticator(issuer, {
      claimMappings: {
        username: { expression: "'idp:' + claims.sub" },
        groups: { expression: "claims.?roles.orValue([])" },
        uid: { claim: "sub" },
        extra: [{ key: "example.com/tenant", valueExpression: "claims.?tenant.orValue('none')" }],
      },
      claimValidationRules: [{ expression: "claims.exp - claims.iat <= 3600.0", message: "too long" }],
      userValidationRules: [{ expression: "!user.username.startsWith('idp:system:')", message: "reserved" }],
    });

  before(async () => {
    issuer = await startTokenIssuer([ec, rsa]);
    writeFileSync(file, configuration([first()], anonymous));
    server = await startTestServer({ authenticationConfigFile: file });
    client = rawClient(server.kubeconfig);
    const token = await issuer.sign();
    await until(
      () => userOf(client, token),
      (found) => found !== 401,
    );
  });
  after(async () => {
    client.close();
    await server.close();
    await issuer.close();
  });

  test("maps claims to a user by expressions", async () => {
    assert.deepEqual(await userOf(client, await issuer.sign({ roles: ["a"], tenant: "t", jti: "j1" })), {
      username: "idp:ann",
      uid: "ann",
      groups: ["a", "system:authenticated"],
      extra: { "authentication.kubernetes.io/credential-id": ["JTI=j1"], "example.com/tenant": ["t"] },
    });
  });

  const seconds = (more: number): number => Math.floor(Date.now() / 1000) + more;
  const rsaPem = createSecretKey(Buffer.from(rsa.publicKey.export({ type: "spki", format: "pem" }).toString()));
  const rejectedTokens: [what: string, token: () => Promise<string>][] = [
    ["that has expired", () => issuer.sign({ exp: seconds(-1), iat: seconds(-60) })],
    ["that is not valid yet", () => issuer.sign({ nbf: seconds(300) })],
    ["for another audience", () => issuer.sign({ aud: "other" })],
    ["of another issuer", () => issuer.sign({ iss: "https://elsewhere" })],
    [
      "of the issuer of ServiceAccount tokens",
      () => issuer.sign({ iss: "https://kubernetes.default.svc.cluster.local" }),
    ],
    ["without a signature", async () => unsecured({ iss: issuer.url, aud: "coxswain", sub: "ann", exp: seconds(60) })],
    [
      "with alg none and the signature of another token",
      async () => `${encode({ alg: "none" })}.${(await issuer.sign()).split(".").slice(1).join(".")}`,
    ],
    [
      "with the public key as an HMAC secret",
      () =>
        new SignJWT({ iss: issuer.url, aud: "coxswain", sub: "ann", exp: seconds(60) })
          .setProtectedHeader({ alg: "HS256", kid: "rsa" })
          .sign(rsaPem),
    ],
    ["of an unknown key", () => issuer.sign({}, { kid: "unknown" }, issuerKey("unknown"))],
    ["of another key with an existing key ID", () => issuer.sign({}, {}, issuerKey("ec"))],
    ["that is truncated", async () => (await issuer.sign()).slice(0, -10)],
    ["of 100 KiB", () => issuer.sign({ x: "x".repeat(75 * 1024) })],
    [
      "inside another token",
      async () => issuer.sign({ iss: "https://elsewhere", jwt: await issuer.sign() }, { cty: "JWT" }),
    ],
    ["that a validation rule rejects", () => issuer.sign({ exp: seconds(7200) })],
    ["with a reserved user name", () => issuer.sign({ sub: "system:masters" })],
    ["without a claim that an expression reads", () => issuer.sign({ sub: undefined })],
    ["with a claim of the wrong type", () => issuer.sign({ roles: [1] })],
  ];
  for (const [what, token] of rejectedTokens) {
    test(`rejects a token ${what}`, async () => {
      const { status, body, headers } = await review(client, await token());
      assert.equal(status, 401);
      assert.equal(headers["www-authenticate"], undefined);
      assert.deepEqual(body, {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: "Unauthorized",
        reason: "Unauthorized",
        code: 401,
      });
    });
  }

  test("rejects a token of 1 MiB because the header is too large", async () => {
    const answer = await review(client, await issuer.sign({ x: "x".repeat(2 ** 20) })).catch(
      (error: unknown) => error as Error,
    );
    assert.ok(answer instanceof Error || answer.status === 431); // The server may close the connection first.
  });

  test("limits the requests to the issuer for tokens with unknown keys", async () => {
    const before = issuer.asked(keysPath);
    const tokens = await Promise.all(Array.from({ length: 30 }, (_, index) => issuer.sign({}, { kid: `k${index}` })));
    for (const token of tokens) assert.equal(await userOf(client, token), 401);
    assert.ok(issuer.asked(keysPath) - before <= 5, String(issuer.asked(keysPath) - before));
  });

  test("accepts anonymous requests only at the paths that the file names", async () => {
    const statusOf = async (path: string): Promise<number> => (await client.send({ path, anonymous: true })).status;
    assert.deepEqual(
      await Promise.all(
        [
          "/livez",
          "/livez?verbose",
          "/%6civez",
          "/readyz",
          "/livez/ping",
          "/livez/",
          "/version",
          "/api",
          "/healthz",
          "//livez",
        ].map(statusOf),
      ),
      [200, 200, 200, 200, 401, 401, 401, 401, 401, 401],
    );
    const bad = await client.send({ path: "/livez", anonymous: true, headers: { authorization: "Bearer x" } });
    assert.equal(bad.status, 401);
  });

  test("reloads the file without rejecting requests, and counts invalid files without using them", async () => {
    const reloads = async (status: string): Promise<number> => {
      const lines = await metric(client, "apiserver_authentication_config_controller_automatic_reloads_total");
      return Number(
        lines
          .find((line) => line.includes(`status="${status}"`))
          ?.split(" ")
          .at(-1) ?? 0,
      );
    };
    const token = await issuer.sign();
    const statuses = new Set<unknown>();
    let running = true;
    const requests = (async () => {
      while (running) statuses.add((await review(client, await issuer.sign({ jti: String(Math.random()) }))).status);
    })();
    for (const [index, bad] of [
      "{",
      configuration([authenticator({ url: "http://x", ca: "" })], anonymous),
      configuration([first()]),
    ].entries()) {
      replaceFile(bad);
      await until(
        () => reloads("failure"),
        (count) => count === index + 1,
      );
    }
    assert.deepEqual(((await userOf(client, token)) as { username: string }).username, "idp:ann");
    const [info] = await metric(client, "apiserver_authentication_config_controller_last_config_info");
    replaceFile(
      configuration(
        [authenticator(issuer, { claimMappings: { username: { claim: "sub", prefix: "new:" } } })],
        anonymous,
      ),
    );
    await until(
      () => reloads("success"),
      (count) => count === 1,
    );
    running = false;
    await requests;
    assert.deepEqual([...statuses], [201]);
    assert.deepEqual(((await userOf(client, await issuer.sign())) as { username: string }).username, "new:ann");
    const [last] = await metric(client, "apiserver_authentication_config_controller_last_config_info");
    assert.notEqual(last, info);
    const [, time = ""] = (
      await metric(client, "apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds")
    ).map((line) => line.split(" ").at(-1));
    assert.ok(Math.abs(Number(time) - Date.now() / 1000) < 60, time);
  });

  test("rejects tokens of an issuer that is removed from the file", async () => {
    replaceFile(configuration([], anonymous));
    const token = await issuer.sign();
    await until(
      () => userOf(client, token).then(async () => userOf(client, await issuer.sign({ jti: String(Math.random()) }))),
      (found) => found === 401,
    );
  });
});

test("accepts ServiceAccount tokens of another server", async () => {
  const issuer = "https://first.example";
  const first = await startTestServer({ controllers: ["*"], serviceAccountIssuers: [issuer] });
  const ofFirst = rawClient(first.kubeconfig);
  const subject = { kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "system:unauthenticated" };
  const roleRef = {
    apiGroup: "rbac.authorization.k8s.io",
    kind: "ClusterRole",
    name: "system:service-account-issuer-discovery",
  };
  const body = { metadata: { name: "discovery-for-all" }, roleRef, subjects: [subject] };
  await ofFirst.send({ method: "POST", path: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", body });
  const certificateAuthority = field(first.kubeconfig, "certificate-authority-data");
  const discoveryURL = `${first.url}/.well-known/openid-configuration`;
  const second = await startTestServer({
    authenticationConfigFile: fileOf(
      configuration([
        {
          issuer: { url: issuer, discoveryURL, certificateAuthority, audiences: ["second"] },
          claimMappings: {
            username: { claim: "sub", prefix: "first:" },
            extra: [{ key: "first.example/pod", valueExpression: namespaceOfClaims }],
          },
        },
      ]),
    ),
  });
  const ofSecond = rawClient(second.kubeconfig);
  const request = { method: "POST", path: "/api/v1/namespaces/default/serviceaccounts/default/token" };
  const tokenFor = async (audience: string): Promise<string> => {
    const answer = await until(
      () => ofFirst.send({ ...request, body: { spec: { audiences: [audience] } } }),
      ({ status }) => status === 201,
    );
    return answer.body.status.token;
  };
  const token = await tokenFor("second");
  const user = await until(
    () => userOf(ofSecond, token),
    (found) => found !== 401,
  );
  const { username, extra } = user as { username: string; extra: Record<string, string[]> };
  assert.deepEqual(
    [username, extra["first.example/pod"]],
    ["first:system:serviceaccount:default:default", ["default"]],
  );
  assert.equal(await userOf(ofSecond, await tokenFor(issuer)), 401);
  ofFirst.close();
  ofSecond.close();
  await second.close();
  await first.close();
});

/** CEL escapes the claim `kubernetes.io`, which is not an identifier. */
const namespaceOfClaims = "claims.kubernetes__dot__io.namespace";

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function unsecured(claims: object): string {
  return `${encode({ alg: "none" })}.${encode(claims)}.`;
}

type Options = Parameters<typeof startServer>[0];
const good = { url: "https://idp.example.com", ca: "" };
const rules = (authenticators: readonly object[], more: object = {}): Options => ({
  authenticationConfigFile: fileOf(configuration(authenticators, more)),
});
const everythingAllowed =
  "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: [{type: AlwaysAllow, name: alwaysallow}]\n";
const startRows: [what: string, options: () => Options, message: string | RegExp][] = [
  [
    "an issuer without a client ID",
    () => ({ oidc: { issuerUrl: "https://a" } }),
    "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set",
  ],
  [
    "only a groups claim",
    () => ({ oidc: { groupsClaim: "a" } }),
    "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set",
  ],
  [
    "an issuer over http",
    () => ({ oidc: { issuerUrl: "http://a", clientId: "a" } }),
    'invalid authentication configuration: jwt[0].issuer.url: Invalid value: "http://a": URL scheme must be https',
  ],
  [
    "a signing algorithm with a shared secret",
    () => ({ oidc: { issuerUrl: "https://a", clientId: "a", signingAlgs: ["HS256"] } }),
    'oidc: unsupported signing alg: "HS256"',
  ],
  [
    "the signing algorithm none",
    () => ({ oidc: { issuerUrl: "https://a", clientId: "a", signingAlgs: ["none"] } }),
    'oidc: unsupported signing alg: "none"',
  ],
  [
    "a CA file that does not exist",
    () => ({ oidc: { issuerUrl: "https://a", clientId: "a", caFile: "/nope" } }),
    "open /nope: no such file or directory",
  ],
  [
    "a CA file without certificates",
    () => ({ oidc: { issuerUrl: "https://a", clientId: "a", caFile: fileOf("x") } }),
    'invalid authentication configuration: jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": data does not contain any valid RSA or ECDSA certificates',
  ],
  [
    "the issuer of ServiceAccount tokens",
    () => ({ oidc: { issuerUrl: "https://sa", clientId: "a" }, serviceAccountIssuers: ["https://sa"] }),
    'issuer.url: Invalid value: "https://sa": URL must not overlap with disallowed issuers: [https://sa]',
  ],
  [
    "both a file and oidc flags",
    () => ({ ...rules([]), oidc: { issuerUrl: "https://a", clientId: "a" } }),
    "authentication-config file and oidc-* flags are mutually exclusive",
  ],
  [
    "anonymous in the file and --anonymous-auth",
    () => ({ ...rules([], { anonymous: { enabled: true } }), anonymousAuth: true }),
    "anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file",
  ],
  [
    "a file that does not exist",
    () => ({ authenticationConfigFile: "/nope" }),
    'failed to load authentication configuration from file "/nope": open /nope: no such file or directory',
  ],
  [
    "an empty file",
    () => ({ authenticationConfigFile: fileOf("") }),
    /^failed to load authentication configuration from file ".*": empty config data$/,
  ],
  [
    "an unknown field",
    () => rules([{ ...authenticator(good), nope: 1 }]),
    /^failed to load authentication configuration from file ".*": strict decoding error: unknown field "jwt\[0\].nope"$/,
  ],
  [
    "an expression that does not compile",
    () => rules([authenticator(good, { claimMappings: { username: { expression: "claims." } } })]),
    /^invalid authentication configuration: jwt\[0\].claimMappings.username.expression: Invalid value: "claims.": compilation failed: ERROR: <input>:1:8: Syntax error/,
  ],
  [
    "an egress type without configuration",
    () =>
      rules([{ ...authenticator(good), issuer: { url: good.url, audiences: ["a"], egressSelectorType: "cluster" } }]),
    'oidc: egress lookup required with egress selector type "cluster"',
  ],
  [
    "an egress type while its feature gate is disabled",
    () => ({
      ...rules([
        { ...authenticator(good), issuer: { url: good.url, audiences: ["a"], egressSelectorType: "cluster" } },
      ]),
      featureGates: "StructuredAuthenticationConfigurationEgressSelector=false",
    }),
    'invalid authentication configuration: jwt[0].issuer.egressSelectorType: Invalid value: "cluster": egress selector is not supported when StructuredAuthenticationConfigurationEgressSelector feature gate is disabled',
  ],
  [
    "a file while its feature gate is disabled",
    () => ({ ...rules([]), featureGates: "StructuredAuthenticationConfiguration=false" }),
    "set --feature-gates=StructuredAuthenticationConfiguration=true to use authentication-config file",
  ],
  [
    "a file that does not exist while its feature gate is disabled",
    () => ({ authenticationConfigFile: "/nope", featureGates: "StructuredAuthenticationConfiguration=false" }),
    "set --feature-gates=StructuredAuthenticationConfiguration=true to use authentication-config file",
  ],
  [
    "a feature gate that 1.36 does not have",
    () => ({
      authorization: { webhook: {}, configFile: fileOf(everythingAllowed) },
      featureGates: "StructuredAuthorizationConfiguration=false",
    }),
    "unrecognized feature gate: StructuredAuthorizationConfiguration",
  ],
  [
    "an egress file that does not exist",
    () => ({ egressSelectorConfigFile: "/nope" }),
    'failed to read egress selector config: unable to read egress selector configuration from "/nope" [open /nope: no such file or directory]',
  ],
];
for (const [what, options, message] of startRows) {
  test(`rejects a start with ${what}`, () => assert.rejects(startServer(options()), { message }));
}

const alwaysAllow = [
  ["by a flag", () => ({ authorizationModes: ["RBAC", "AlwaysAllow"] })],
  ["by a file", () => ({ authorization: { webhook: {}, configFile: fileOf(everythingAllowed) } })],
] as const;
/**
 * The authentication file, the status of anonymous requests at `/version` and `/livez`, and the
 * logged warning.
 */
const anonymousRows: [
  what: string,
  anonymous: object | undefined,
  statuses: readonly number[],
  warning: RegExp | undefined,
][] = [
  [
    "without an authentication file",
    undefined,
    [401, 401],
    /^AnonymousAuth is not allowed with the AlwaysAllow authorizer/,
  ],
  ["with a file without anonymous", {}, [401, 401], /^AnonymousAuth is not allowed with the AlwaysAllow authorizer/],
  ["with a file that disables them", { anonymous: { enabled: false } }, [401, 401], undefined],
  [
    "with a file that enables them",
    { anonymous: { enabled: true } },
    [200, 200],
    /^Anonymous requests may do everything: /,
  ],
  [
    "with a file that enables them at some paths",
    { anonymous: { enabled: true, conditions: [{ path: "/livez" }] } },
    [401, 200],
    /^Anonymous requests may do everything at \/livez: /,
  ],
];
for (const [how, options] of alwaysAllow) {
  for (const [what, anonymous, statuses, warning] of anonymousRows) {
    test(`answers anonymous requests and logs a warning with AlwaysAllow ${how}, ${what}`, async () => {
      const warnings: string[] = [];
      const server = await startServer({
        ...options(),
        ...(anonymous && { authenticationConfigFile: fileOf(configuration([], anonymous)) }),
        controllers: [],
        logger: { info() {}, warn: (message) => void warnings.push(message), error() {} },
      });
      const client = rawClient(server.kubeconfig);
      const found = await Promise.all(
        ["/version", "/livez"].map(async (path) => (await client.send({ path, anonymous: true })).status),
      );
      assert.deepEqual(found, statuses);
      const anonymousWarnings = warnings.filter((message) => /anonymous/i.test(message));
      assert.equal(anonymousWarnings.length, warning === undefined ? 0 : 1);
      if (warning !== undefined) assert.match(anonymousWarnings[0] as string, warning);
      client.close();
      await server.close();
    });
  }
}
