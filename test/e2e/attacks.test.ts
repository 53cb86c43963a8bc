/**
 * Hostile credentials and headers over both protocols: each gets the right status, and the answer
 * reveals nothing else.
 */
import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import tls from "node:tls";
import { decodeJwt, SignJWT, UnsecuredJWT } from "jose";
import { startServer } from "../../src/index.ts";
import { type AuthAnswer, type Caller, type Protocol, reviewSelf } from "../support/auth-client.ts";
import { field } from "../support/kubeconfig-fields.ts";
import { clientAuth, type OddAuthority, type OddCertificate, oddCertificate } from "../support/odd-certificates.ts";
import { type Answer, type RawClient, rawClient } from "../support/raw-client.ts";
import { rawSocket } from "../support/raw-socket.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

const protocols: readonly Protocol[] = ["HTTP/1.1", "HTTP/2.0"];
const issuer = "https://kubernetes.default.svc.cluster.local";
const directory = mkdtempSync(join(tmpdir(), "coxswain-attacks-"));
const file = (name: string, content: string): string => {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
};
const pemKey = (): string =>
  generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const ourKey = pemKey();
const otherKey = pemKey();
const publicPem = createPublicKey(ourKey).export({ type: "spki", format: "pem" }).toString();

const authority = (name: string): Promise<OddAuthority> => oddCertificate({ subject: [{ CN: [name] }], authority: {} });
const [clients, proxies, strangers] = [
  await authority("clients"),
  await authority("proxies"),
  await authority("clients"),
];
const subjectOf = async (subject: OddCertificate["subject"], by: OddAuthority): Promise<Caller> => {
  const { cert, key } = await oddCertificate({ subject, usages: [clientAuth] }, by);
  return { cert, key };
};
const certificate = (name: string, by: OddAuthority, ...groups: string[]): Promise<Caller> =>
  subjectOf([...groups.map((group) => ({ O: [group] })), { CN: [name] }], by);
const [ann, proxy, otherProxy, impostor, fakeProxy, withoutName, emptyName, emptyLastName, namelessProxy] =
  await Promise.all([
    certificate("ann", clients, "devs"),
    certificate("front-proxy", proxies),
    certificate("other-proxy", proxies),
    certificate("system:serviceaccount:default:gone", strangers, "system:masters"),
    certificate("front-proxy", clients),
    subjectOf([{ O: ["system:masters"] }], clients),
    certificate("", clients, "system:masters"),
    subjectOf([{ CN: ["ann"] }, { O: ["system:masters"] }, { CN: [""] }], clients),
    subjectOf([{ O: ["proxies"] }], proxies),
  ]);

const headers = {
  usernameHeaders: ["X-Remote-User"],
  uidHeaders: ["X-Remote-Uid"],
  groupHeaders: ["X-Remote-Group"],
  extraHeaderPrefixes: ["X-Remote-Extra-"],
};
let server: TestServer;
let admin: RawClient;
let ca = "";
/** Tokens of an existing account, and of one that was deleted and created again. */
let live = "";
let stale = "";

async function created(path: string, body: object): Promise<Answer["body"]> {
  const answer = await admin.send({ method: "POST", path, body });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

async function accountToken(name: string): Promise<string> {
  const path = "/api/v1/namespaces/default/serviceaccounts";
  await created(path, { metadata: { name } });
  return (await created(`${path}/${name}/token`, {})).status.token;
}

const bootstrapSecret = (
  id: string,
  more: Readonly<Record<string, string>> = {},
  name = `bootstrap-token-${id}`,
): object => ({
  metadata: { name },
  type: "bootstrap.kubernetes.io/token",
  stringData: { "token-id": id, "token-secret": `${id}${id}abcd`, "usage-bootstrap-authentication": "true", ...more },
});

/** Everything that the server logged. */
let logged = "";
const log = (message: string, values?: Record<string, unknown>): void => {
  logged += `${message} ${JSON.stringify(values)}\n`;
};

before(async () => {
  server = await startTestServer({
    logger: { info: log, warn: log, error: log },
    clientCaFile: file("clients.crt", clients.cert),
    requestHeader: { ...headers, clientCaFile: file("proxies.crt", proxies.cert), allowedNames: ["front-proxy"] },
    tokenAuthFile: file("tokens.csv", 'static-token,eve,7,"a,b"\n"quoted""token",quo,8\nspaced ,spa,9\n'),
    serviceAccountSigningKeyFile: file("sa.key", ourKey),
    bootstrapTokenAuth: true,
  });
  admin = rawClient(server.kubeconfig);
  ca = field(server.kubeconfig, "certificate-authority-data");
  live = await accountToken("live");
  stale = await accountToken("gone");
  await admin.send({ method: "DELETE", path: "/api/v1/namespaces/default/serviceaccounts/gone" });
  await accountToken("gone");
  const secrets = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets`;
  await created(secrets("kube-system"), bootstrapSecret("aaaaaa"));
  await created(secrets("default"), bootstrapSecret("bbbbbb"));
  await created(secrets("kube-system"), bootstrapSecret("cccccc", {}, "bootstrap-token-cccccd"));
  await created(secrets("kube-system"), bootstrapSecret("dddddd", { expiration: "2025-01-01T00:00:00Z" }));
  await created(secrets("kube-system"), bootstrapSecret("eeeeee", { "auth-extra-groups": "system:masters" }));
  await created(secrets("kube-system"), bootstrapSecret("ffffff", { "usage-bootstrap-authentication": "false" }));
});

after(async () => {
  admin.close();
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

const unauthorized = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: "Unauthorized",
  reason: "Unauthorized",
  code: 401,
};
/** Headers that an answer of any status may have. */
const headersAllowed = [
  "audit-id",
  "cache-control",
  "connection",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "x-content-type-options",
  ":status",
];

function assertSaysNoMore(answer: AuthAnswer, want: 400 | 401 | 403): void {
  assert.equal(answer.status, want, answer.text);
  const flowControlHeaders =
    answer.headers["x-kubernetes-pf-flowschema-uid"] === undefined
      ? []
      : ["x-kubernetes-pf-flowschema-uid", "x-kubernetes-pf-prioritylevel-uid"];
  assert.deepEqual(
    Object.keys(answer.headers).filter((name) => !headersAllowed.includes(name) && !flowControlHeaders.includes(name)),
    [],
  );
  if (want === 401) assert.deepEqual(JSON.parse(answer.text), unauthorized);
  if (want === 403)
    assert.match(
      JSON.parse(answer.text).message,
      /^selfsubjectreviews\.authentication\.k8s\.io is forbidden: User "(system:anonymous|ann)" cannot (create|impersonate)|^[a-z.0-9]+ "[^"]*" is forbidden: User "(system:anonymous|ann)" cannot impersonate/,
    );
}

const bearer = (token: string): Caller => ({ headers: [["authorization", `Bearer ${token}`]] });
const text = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const now = (): number => Math.floor(Date.now() / 1000);
type Claims = Record<string, unknown>;
const signed = (claims: Claims, key = ourKey, header: object = {}): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: "ES256", ...header }).sign(createPrivateKey(key));

/**
 * Forges a token from the claims of a valid one, and the token itself. Signed with the server's key
 * unless the row says otherwise.
 */
const forgeries: [what: string, forge: (claims: Claims, token: string) => string | Promise<string>][] = [
  ["expired", (claims) => signed({ ...claims, exp: now() - 90 })],
  ["not yet valid", (claims) => signed({ ...claims, nbf: now() + 90 })],
  ["the wrong audience", (claims) => signed({ ...claims, aud: ["vault"] })],
  ["the wrong issuer", (claims) => signed({ ...claims, iss: "https://evil.example" })],
  ["alg: none", (claims) => new UnsecuredJWT(claims).encode()],
  ["alg: nOnE", (claims) => `${text({ alg: "nOnE" })}.${text(claims)}.`],
  [
    "HS256 signed with the public key",
    (claims) => new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(publicPem)),
  ],
  ["HS256 signed with nothing", (claims) => `${text({ alg: "HS256" })}.${text(claims)}.`],
  ["an unknown kid", (claims) => signed(claims, ourKey, { kid: "x" })],
  [
    "signed with another key, with the server's kid",
    (claims, token) =>
      signed(claims, otherKey, {
        kid: JSON.parse(Buffer.from(token.split(".")[0] as string, "base64url").toString()).kid,
      }),
  ],
  [
    "signed with another key, which the token contains",
    (claims) => signed(claims, otherKey, { jwk: createPublicKey(otherKey).export({ format: "jwk" }) }),
  ],
  [
    "signed with another key, with the address of its key set",
    (claims) => signed(claims, otherKey, { jku: "https://evil.example/jwks" }),
  ],
  ["truncated", (_claims, token) => token.slice(0, -1)],
  ["truncated within the claims", (_claims, token) => token.slice(0, token.length / 2)],
  [
    "duplicate claims",
    (claims, token) =>
      `${token.split(".")[0]}.${Buffer.from(`{"sub":"x",${JSON.stringify(claims).slice(1)}`).toString("base64url")}.${token.split(".")[2]}`,
  ],
  ["nested in another token", (_claims, token) => signed({ iss: issuer, token } as Claims, ourKey, { cty: "JWT" })],
  ["encrypted", (_claims, token) => `${token.split(".")[0]}.${text({})}.${text({})}.${text({})}.${text({})}`],
  ["the subject of another account", (claims) => signed({ ...claims, sub: "system:serviceaccount:kube-system:admin" })],
  [
    "__proto__",
    (claims, token) =>
      `${token.split(".")[0]}.${Buffer.from(`{"__proto__":${JSON.stringify(claims)}}`).toString("base64url")}.${token.split(".")[2]}`,
  ],
];
describe("forged tokens of service accounts", () => {
  for (const [what, forge] of forgeries) {
    for (const protocol of protocols) {
      test(`answers 401 without details to a token that is forged: ${what}, over ${protocol}`, async () => {
        assertSaysNoMore(
          await reviewSelf(server.url, ca, bearer(await forge({ ...decodeJwt(live) }, live)), protocol),
          401,
        );
      });
    }
  }
});

const annIs = { username: "ann", groups: ["devs", "system:authenticated"] };
const throughProxy = (...lines: [string, string][]): Caller => ({ ...proxy, headers: lines });

/** The authenticated user without extras, or the status of the error. */
const annItself = { username: "ann", groups: ["devs", "system:authenticated"] };
const rows: [
  what: string,
  caller: () => Caller,
  want: { username: string; groups: string[]; uid?: string } | 400 | 401 | 403,
][] = [
  ["a token of an account that was deleted and created again", () => bearer(stale), 401],
  [
    "a certificate with the name of an account, issued by another authority with the name of the trusted one",
    () => impostor,
    401,
  ],
  [
    "that certificate and a valid token",
    () => ({ ...impostor, ...bearer("static-token") }),
    { username: "eve", uid: "7", groups: ["a", "b", "system:authenticated"] },
  ],

  ["a certificate without a common name", () => withoutName, 401],
  ["a certificate with an empty common name", () => emptyName, 401],
  ["a certificate whose last common name is empty", () => emptyLastName, 401],
  [
    "a certificate without a common name and a valid token",
    () => ({ ...withoutName, ...bearer("static-token") }),
    { username: "eve", uid: "7", groups: ["a", "b", "system:authenticated"] },
  ],
  ["a certificate without a common name and an invalid token", () => ({ ...withoutName, ...bearer("x") }), 401],
  [
    "impersonation with a certificate without a common name",
    () => ({ ...withoutName, headers: [["impersonate-user", "root"]] }),
    401,
  ],

  [
    "a proxy's headers without a certificate",
    () => ({
      headers: [
        ["x-remote-user", "root"],
        ["x-remote-group", "system:masters"],
      ],
    }),
    403,
  ],
  [
    "a proxy's headers from an ordinary client",
    () => ({
      ...ann,
      headers: [
        ["x-remote-user", "root"],
        ["x-remote-group", "system:masters"],
      ],
    }),
    annIs,
  ],
  [
    "a proxy's headers from a client with the proxy's name",
    () => ({ ...fakeProxy, headers: [["x-remote-user", "root"]] }),
    { username: "front-proxy", groups: ["system:authenticated"] },
  ],
  [
    "a proxy's headers from a proxy whose name is not allowed",
    () => ({ ...otherProxy, headers: [["x-remote-user", "root"]] }),
    401,
  ],
  [
    "a proxy's headers from another authority's proxy",
    () => ({ ...impostor, headers: [["x-remote-user", "root"]] }),
    401,
  ],
  [
    "a proxy's headers with a token",
    () => ({
      headers: [
        ["authorization", "Bearer static-token"],
        ["x-remote-user", "root"],
      ],
    }),
    { username: "eve", uid: "7", groups: ["a", "b", "system:authenticated"] },
  ],
  [
    "a proxy's headers with an invalid token",
    () => ({
      headers: [
        ["authorization", "Bearer x"],
        ["x-remote-user", "root"],
      ],
    }),
    401,
  ],
  ["a proxy without headers", () => proxy, 401],
  ["an empty user from a proxy", () => throughProxy(["x-remote-user", ""], ["x-remote-group", "system:masters"]), 401],
  [
    "an empty user from a proxy before another user",
    () => throughProxy(["x-remote-user", ""], ["x-remote-user", "root"]),
    401,
  ],
  ["a proxy without a common name", () => ({ ...namelessProxy, headers: [["x-remote-user", "root"]] }), 401],
  ["groups from a proxy without a user", () => throughProxy(["x-remote-group", "system:masters"]), 401],
  [
    "a second user, in a header in another case, after the proxy's",
    () => throughProxy(["x-remote-user", "ann"], ["X-REMOTE-USER", "root"]),
    { username: "ann", groups: ["system:authenticated"] },
  ],
  [
    "a repeated user header",
    () => throughProxy(["x-remote-user", "ann"], ["x-remote-user", "root"]),
    { username: "ann", groups: ["system:authenticated"] },
  ],
  [
    "a header with underscores instead of hyphens",
    () => throughProxy(["x-remote-user", "ann"], ["x_remote_group", "system:masters"]),
    { username: "ann", groups: ["system:authenticated"] },
  ],
  [
    "groups in one header line, which are one group",
    () => throughProxy(["x-remote-user", "ann"], ["x-remote-group", "devs,system:masters"]),
    { username: "ann", groups: ["devs,system:masters", "system:authenticated"] },
  ],
  [
    "the anonymous user from a proxy",
    () => throughProxy(["x-remote-user", "system:anonymous"], ["x-remote-group", "system:unauthenticated"]),
    403,
  ],

  ["impersonation without credentials", () => ({ headers: [["impersonate-user", "root"]] }), 403],
  [
    "impersonation by a user without permission",
    () => ({
      ...ann,
      headers: [
        ["impersonate-user", "root"],
        ["impersonate-group", "system:masters"],
      ],
    }),
    403,
  ],
  ["impersonation with headers in another case", () => ({ ...ann, headers: [["iMPERSONATE-uSER", "root"]] }), 403],
  [
    "impersonation with a repeated header",
    () => ({
      ...ann,
      headers: [
        ["impersonate-user", "root"],
        ["impersonate-user", "ann"],
      ],
    }),
    403,
  ],
  [
    "Impersonate-Group without Impersonate-User",
    () => ({ ...ann, headers: [["impersonate-group", "system:masters"]] }),
    400,
  ],
  ["Impersonate-Uid without Impersonate-User", () => ({ ...ann, headers: [["impersonate-uid", "1"]] }), 400],
  ["Impersonate-Extra without Impersonate-User", () => ({ ...ann, headers: [["impersonate-extra-a", "1"]] }), 400],
  [
    "Impersonate-Group with an empty Impersonate-User",
    () => ({
      ...ann,
      headers: [
        ["impersonate-user", ""],
        ["impersonate-group", "system:masters"],
      ],
    }),
    400,
  ],
  [
    "an empty Impersonate-User without other headers",
    () => ({ ...ann, headers: [["impersonate-user", ""]] }),
    annItself,
  ],
  [
    "an empty Impersonate-User before another one",
    () => ({
      ...ann,
      headers: [
        ["impersonate-user", ""],
        ["impersonate-user", "root"],
      ],
    }),
    annItself,
  ],
  [
    "impersonation with an invalid token",
    () => ({
      headers: [
        ["authorization", "Bearer x"],
        ["impersonate-group", "a"],
      ],
    }),
    401,
  ],

  [
    "a valid bootstrap token",
    () => bearer("aaaaaa.aaaaaaaaaaaaabcd"),
    { username: "system:bootstrap:aaaaaa", groups: ["system:bootstrappers", "system:authenticated"] },
  ],
  ["a bootstrap token with another secret part", () => bearer("aaaaaa.aaaaaaaaaaaaabce"), 401],
  ["only the secret part of a bootstrap token", () => bearer("aaaaaaaaaaaaabcd"), 401],
  ["a bootstrap token whose secret is in another namespace", () => bearer("bbbbbb.bbbbbbbbbbbbabcd"), 401],
  ["a bootstrap token whose secret has another name", () => bearer("cccccc.ccccccccccccabcd"), 401],
  [
    "a bootstrap token with the id from the name of a secret with another id",
    () => bearer("cccccd.ccccccccccccabcd"),
    401,
  ],
  ["an expired bootstrap token", () => bearer("dddddd.ddddddddddddabcd"), 401],
  ["a bootstrap token that requests the group system:masters", () => bearer("eeeeee.eeeeeeeeeeeeabcd"), 401],
  ["a bootstrap token that is not for authentication", () => bearer("ffffff.ffffffffffffabcd"), 401],
  ["a bootstrap token with a path out of the namespace", () => bearer("../aaa.aaaaaaaaaaaaaaaa"), 401],

  [
    "a token of the token file",
    () => bearer("static-token"),
    { username: "eve", uid: "7", groups: ["a", "b", "system:authenticated"] },
  ],
  [
    "a token with a quote that is escaped in the file",
    () => bearer('quoted"token'),
    { username: "quo", uid: "8", groups: ["system:authenticated"] },
  ],
  ["that token with the escapes of the file", () => bearer('"quoted""token"'), 401],
  ["a token without the space that is part of it", () => bearer("spaced"), 401],
  ["a whole line of the token file", () => bearer('static-token,eve,7,"a,b"'), 401],
  ["a prefix of a token", () => bearer("static-toke"), 401],
  ["a token in another case", () => bearer("Static-Token"), 401],
  ["the name of a user as token", () => bearer("eve"), 401],
  [
    "two tokens of which the first one is valid",
    () => ({
      headers: [
        ["authorization", "Bearer static-token"],
        ["authorization", "Bearer x"],
      ],
    }),
    { username: "eve", uid: "7", groups: ["a", "b", "system:authenticated"] },
  ],
  [
    "two tokens of which the second one is valid",
    () => ({
      headers: [
        ["authorization", "Bearer x"],
        ["authorization", "Bearer static-token"],
      ],
    }),
    401,
  ],
  [
    "a token in the Basic scheme",
    () => ({ headers: [["authorization", `Basic ${Buffer.from("eve:static-token").toString("base64")}`]] }),
    403,
  ],
  ["the Bearer scheme without a token", () => ({ headers: [["authorization", "Bearer"]] }), 403],
];
describe("credentials", () => {
  for (const [what, caller, want] of rows) {
    for (const protocol of protocols) {
      test(`answers ${typeof want === "number" ? want : `as ${want.username}`} to ${what}, over ${protocol}`, async () => {
        const answer = await reviewSelf(server.url, ca, caller(), protocol);
        if (typeof want === "number") return assertSaysNoMore(answer, want);
        assert.equal(answer.status, 201, answer.text);
        const { extra: _, ...user } = answer.user;
        assert.deepEqual(user, want);
      });
    }
  }

  test("rejects a header with a token of one mebibyte", async () => {
    for (const protocol of protocols) {
      const outcome = await reviewSelf(server.url, ca, bearer("x".repeat(1 << 20)), protocol).then(
        ({ status }) => status,
        () => "cut",
      );
      assert.ok(outcome === 431 || outcome === "cut", String(outcome));
    }
  });
});

const rawRows: [what: string, lines: string, status: 400 | 401 | 403][] = [
  ["a newline in a value", "X-Remote-User: ann\nX-Remote-Group: system:masters", 400],
  ["a carriage return in a value", "X-Remote-User: ann\rX-Remote-Group: system:masters", 400],
  ["a value that continues in the next line", "Authorization: Bearer\r\n static-token", 400],
  ["a zero byte in a value", "Authorization: Bearer static-token\0", 400],
  ["a space before the colon", "X-Remote-User : root", 400],
  ["a header without a name", ": root", 400],
  ["two lengths", "Content-Length: 2\r\nContent-Length: 3", 400],
  ["a length and chunks", "Content-Length: 2\r\nTransfer-Encoding: chunked", 400],
];
describe("header lines that no library sends", () => {
  for (const [what, lines, status] of rawRows) {
    test(`rejects ${what}`, async () => {
      const { socket, all } = await rawSocket(server.kubeconfig);
      socket.write(`GET /api HTTP/1.1\r\nHost: x\r\n${lines}\r\nConnection: close\r\n\r\n`);
      const answer = await all();
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.doesNotMatch(answer, /static-token|root|masters/);
      socket.destroy();
    });
  }
});

const webSocket = "Connection: Upgrade\r\nUpgrade: websocket";
const [goodToken, badToken] = ["static-token", "x"].map(
  (token) => `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString("base64url")}`,
);
const webSocketRows: [request: string, headers: string, protocols: string, status: 200 | 401 | 403][] = [
  ["GET /version", webSocket, `${badToken}, x`, 401],
  ["GET /version", webSocket, `${goodToken}`, 401],
  ["GET /version", webSocket, `x, ${goodToken}`, 200],
  ["GET /version", "Upgrade: websocket", `${badToken}, x`, 200],
  ["GET /version", "Connection: Upgrade", `${badToken}, x`, 200],
  ["POST /version", webSocket, `${badToken}, x`, 401],
  ["GET /api/v1/pods?watch=1", webSocket, `${goodToken}`, 401],
  ["GET /api/v1/pods?watch=1", webSocket, `${goodToken}, x`, 403],
  ["GET /api/v1/namespaces/a/pods/b/exec", webSocket, `${goodToken}`, 401],
  ["GET /api/v1/namespaces/a/pods/b/exec", webSocket, `${goodToken}, v5.channel.k8s.io`, 403],
];
describe("tokens in subprotocols of WebSockets", () => {
  for (const [request, lines, requested, status] of webSocketRows)
    test(`answers ${status} to ${request} with ${JSON.stringify(lines)} and ${requested}`, async () => {
      const { socket, until } = await rawSocket(server.kubeconfig, { ca });
      socket.write(`${request} HTTP/1.1\r\nHost: x\r\n${lines}\r\nSec-WebSocket-Protocol: ${requested}\r\n\r\n`);
      assert.match(await until(/\r\n\r\n/), new RegExp(`^HTTP/1\\.1 ${status} `));
      socket.destroy();
    });
});

/** A header list that no library encodes, as HPACK literals without indexing. */
function headerBlock(lines: readonly (readonly [name: string, value: string])[]): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length]), Buffer.from(value, "latin1")]);
  return Buffer.concat(lines.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const [dataFrame, headersFrame, resetFrame, settingsFrame, goAwayFrame] = [0, 1, 3, 4, 7];
const preface = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  frame(settingsFrame, 0, 0, Buffer.alloc(0)),
]);

/**
 * Sends the header list on stream 1 with the certificate of a proxy.
 * @returns types of the received frames, up to the one that ends the stream or the connection
 */
async function framesOf(lines: readonly (readonly [name: string, value: string])[]): Promise<number[]> {
  const { hostname, port } = new URL(server.url);
  const socket = tls.connect({
    host: hostname,
    port: Number(port),
    ca,
    cert: proxy.cert as string,
    key: proxy.key as string,
    ALPNProtocols: ["h2"],
  });
  socket.write(Buffer.concat([preface, frame(headersFrame, 0x5, 1, headerBlock(lines))]));
  const types: number[] = [];
  let rest = Buffer.alloc(0);
  try {
    for await (const piece of socket) {
      rest = Buffer.concat([rest, piece]);
      while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
        const [type, stream] = [rest.readUInt8(3), rest.readUInt32BE(5)];
        if (stream === 1 || type === goAwayFrame) types.push(type);
        rest = rest.subarray(9 + rest.readUIntBE(0, 3));
        if ([resetFrame, goAwayFrame, dataFrame].includes(types.at(-1) ?? -1)) return types;
      }
    }
    return types;
  } finally {
    socket.destroy();
  }
}

const pseudo = [
  [":method", "GET"],
  [":scheme", "https"],
  [":path", "/api"],
  [":authority", "x"],
] as const;
const frameRows: [what: string, lines: readonly (readonly [name: string, value: string])[], answered?: true][] = [
  ["a valid list", [...pseudo, ["x-remote-user", "ann"]], true],
  ["a newline in a value", [...pseudo, ["x-remote-user", "ann\nx-remote-group: system:masters"]]],
  ["a carriage return in a value", [...pseudo, ["x-remote-user", "ann\r"]]],
  ["a zero byte in a value", [...pseudo, ["x-remote-user", "ann\0"]]],
  ["a name in upper case", [...pseudo, ["X-Remote-User", "root"]]],
  ["a space in a name", [...pseudo, ["x-remote-user ", "root"]]],
  ["a newline in a name", [...pseudo, ["x-remote-user\n", "root"]]],
  ["a colon before a name", [...pseudo, [":x-remote-user", "root"]]],
  ["two paths", [...pseudo, [":path", "/healthz"]]],
  ["a path after other headers", [...pseudo.slice(0, 2), ["x-remote-user", "root"], ...pseudo.slice(2)]],
  ["a connection header", [...pseudo, ["x-remote-user", "root"], ["connection", "x-remote-user"]]],
];
describe("HTTP/2 header lists that no library sends", () => {
  for (const [what, lines, answered] of frameRows) {
    test(`${answered === true ? "answers" : "rejects"} ${what}`, async () => {
      const types = await framesOf(lines);
      assert.equal(types.includes(headersFrame as number), answered === true, String(types));
    });
  }
});

test("the log contains no part of a credential", () => {
  assert.doesNotMatch(logged, /static-token|quoted"token|aaaaaaaaaaaaabcd|BEGIN|Bearer|eyJ/);
});

const startRows: [what: string, csv: string, message: RegExp][] = [
  ["a repeated token", "a,b,c\na,d,e\n", /^token file '.*' line 2: the token is equal to that of line 1$/],
  ["a token that is repeated in quotes", 'a,b,c\n"a",d,e\n', /line 2: the token is equal to that of line 1$/],
  ["an empty token", ",b,c\n", /line 1: the token is empty$/],
  ["an empty user name", "a,,c\n", /line 1: the user name is empty$/],
  ["an empty user name in quotes", 'a,"",c,system:masters\n', /line 1: the user name is empty$/],
  ["too few columns", "a,b\n", /line 1: must have at least 3 columns/],
  ["a quote that does not end", 'secret,"b,c\n', /line 1/],
  ["a quote within a field", 'a,b"b,c\n', /line 1/],
];
for (const [what, csv, message] of startRows) {
  test(`a server does not start with a token file that has ${what}`, () =>
    assert.rejects(startServer({ tokenAuthFile: file("bad.csv", csv) }), (error: Error) => {
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    }));
}
