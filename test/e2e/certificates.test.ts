/**
 * Client certificates against a real server: the users that they authenticate, rejected
 * certificates, and changed files.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import tls from "node:tls";
import { type ServerOptions, startServer } from "../../src/index.ts";
import { type Caller, openAuthConnection, type Protocol, reviewSelf } from "../support/auth-client.ts";
import { field } from "../support/kubeconfig-fields.ts";
import {
  anyUsage,
  clientAuth,
  type OddAuthority,
  type OddCertificate,
  oddCertificate,
  serverAuth,
} from "../support/odd-certificates.ts";
import { rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";

const protocols: readonly Protocol[] = ["HTTP/1.1", "HTTP/2.0"];
const dayMs = 24 * 3600_000;
const directory = mkdtempSync(join(tmpdir(), "coxswain-certificates-"));
const file = (name: string, content: string): string => {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
};
after(() => rmSync(directory, { recursive: true, force: true }));

const authority = (name: string, pathLength?: number, issuer?: OddAuthority): Promise<OddAuthority> =>
  oddCertificate({ subject: [{ CN: [name] }], authority: pathLength === undefined ? {} : { pathLength } }, issuer);
const ann: OddCertificate = { subject: [{ O: ["b"] }, { O: ["a"] }, { CN: ["ann"] }], usages: [clientAuth] };
const uid = "1.3.6.1.4.1.57683.2";

const root = await authority("root");
const stranger = await authority("root"); // Of the same name, with another key.
const middle = await authority("middle", undefined, root);
const lower = await authority("lower", undefined, middle);
const last = await authority("last", 0, root);
const belowLast = await authority("below the last", undefined, last);
const noAuthority = await oddCertificate({ subject: [{ CN: ["no authority"] }], usages: [clientAuth] }, root);
const trustedAlone = await authority("trusted alone", undefined, stranger);
const impostor = await authority("trusted alone", undefined, stranger); // With another key.
const serversOnly = await oddCertificate(
  { subject: [{ CN: ["for servers"] }], usages: [serverAuth], authority: {} },
  root,
);

const withChain = async (
  certificate: OddCertificate,
  issuer: OddAuthority,
  ...chain: OddAuthority[]
): Promise<Caller> => {
  const { cert, key } = await oddCertificate(certificate, issuer);
  return { cert: [cert, ...chain.map((one) => one.cert)].join(""), key };
};
const groups = ["b", "a", "system:authenticated"];

/** The authenticated user, or the status of the error. */
const rows: [
  what: string,
  caller: () => Promise<Caller>,
  want: { username: string; groups: string[]; uid?: string } | 401 | 403,
][] = [
  ["a valid certificate", () => withChain(ann, root), { username: "ann", groups }],
  ["without usages", () => withChain({ ...ann, usages: [] }, root), { username: "ann", groups }],
  [
    "for clients and servers",
    () => withChain({ ...ann, usages: [serverAuth, clientAuth] }, root),
    { username: "ann", groups },
  ],
  [
    "with a uid",
    () => withChain({ ...ann, subject: [...ann.subject, { [uid]: ["u"] }] }, root),
    { username: "ann", groups, uid: "u" },
  ],
  [
    "with two uids",
    () => withChain({ ...ann, subject: [...ann.subject, { [uid]: ["u"] }, { [uid]: ["v"] }] }, root),
    401,
  ],
  [
    "with two common names, of which the last counts",
    () => withChain({ ...ann, subject: [{ CN: ["x"] }, ...ann.subject] }, root),
    { username: "ann", groups },
  ],
  ["without a common name", () => withChain({ ...ann, subject: [{ O: ["system:masters"] }] }, root), 401],
  ["sent with the intermediate authority", () => withChain(ann, middle, middle), { username: "ann", groups }],
  ["sent with both intermediate authorities", () => withChain(ann, lower, lower, middle), { username: "ann", groups }],
  [
    "of a trusted authority whose issuer is not trusted",
    () => withChain(ann, trustedAlone),
    { username: "ann", groups },
  ],
  [
    "of a trusted authority, sent with its issuer, which is not trusted",
    () => withChain(ann, trustedAlone, trustedAlone, stranger),
    { username: "ann", groups },
  ],
  [
    "for servers, of a trusted authority whose issuer is not trusted",
    () => withChain({ ...ann, usages: [serverAuth] }, trustedAlone),
    401,
  ],
  [
    "expired, of a trusted authority whose issuer is not trusted",
    () => withChain({ ...ann, notAfter: new Date(Date.now() - 1000) }, trustedAlone),
    401,
  ],
  [
    "of an authority with the name of that authority and another key",
    () => withChain(ann, impostor, impostor, stranger),
    401,
  ],
  ["sent without the intermediate authority", () => withChain(ann, middle), 401],
  ["sent without one of two intermediate authorities", () => withChain(ann, lower, lower), 401],
  ["of another authority of the same name", () => withChain(ann, stranger), 401],
  ["of another authority of the same name, sent with the trusted one", () => withChain(ann, stranger, root), 401],
  ["issued by a certificate that is no authority", () => withChain(ann, noAuthority, noAuthority), 401],
  ["of an authority below one with path length zero", () => withChain(ann, belowLast, belowLast, last), 401],
  ["of an authority for servers", () => withChain(ann, serversOnly, serversOnly), 401],
  ["for servers", () => withChain({ ...ann, usages: [serverAuth] }, root), 401],
  [
    "for any usage, which OpenSSL does not accept for clients",
    () => withChain({ ...ann, usages: [anyUsage] }, root),
    401,
  ],
  ["expired", () => withChain({ ...ann, notAfter: new Date(Date.now() - 1000) }, root), 401],
  [
    "not yet valid",
    () =>
      withChain({ ...ann, notBefore: new Date(Date.now() + dayMs), notAfter: new Date(Date.now() + 2 * dayMs) }, root),
    401,
  ],
  ["self-signed", async () => oddCertificate(ann), 401],
  ["the certificate of the authority", async () => root, 401],
];

describe("client certificates", () => {
  let server: TestServer;
  let ca = "";
  before(async () => {
    server = await startTestServer({ clientCaFile: file("clients.crt", `# Ours.\n${root.cert}${trustedAlone.cert}`) });
    ca = field(server.kubeconfig, "certificate-authority-data");
  });
  after(() => server.close());

  for (const [what, caller, want] of rows) {
    for (const protocol of protocols) {
      test(`authenticates ${typeof want === "number" ? "no user" : want.username} by a client certificate: ${what}, over ${protocol}`, async () => {
        const answer = await reviewSelf(server.url, ca, await caller(), protocol);
        if (typeof want === "number") return assert.equal(answer.status, want, answer.text);
        assert.equal(answer.status, 201, answer.text);
        const { extra, ...user } = answer.user;
        assert.deepEqual(user, want);
        assert.match(extra["authentication.kubernetes.io/credential-id"].join(), /^X509SHA256=[0-9a-f]{64}$/);
      });
    }
  }
});

for (const featureGates of ["", "UnauthenticatedHTTP2DOSMitigation=false"]) {
  test(`unauthenticated clients ${featureGates === "" ? "lose" : "keep"} their HTTP/2 connection with feature gates '${featureGates}'`, async () => {
    const server = await startTestServer({
      featureGates,
      clientCaFile: file("few.crt", root.cert),
      tokenAuthFile: file("few.csv", "t,ben,1\n"),
    });
    const ca = field(server.kubeconfig, "certificate-authority-data");
    const callers: [caller: Caller, status: number, ends: boolean][] = [
      [{}, 403, true],
      [{ headers: [["authorization", "Bearer x"]] }, 401, true],
      [{ headers: [["authorization", "Bearer t"]] }, 201, false],
      [await withChain(ann, root), 201, false],
      [await withChain(ann, stranger), 401, true],
    ];
    for (const [caller, status, ends] of callers) {
      for (const protocol of protocols) {
        const connection = openAuthConnection(server.url, ca, caller, protocol);
        assert.equal((await connection.ask(caller.headers)).status, status);
        const closes = ends && protocol === "HTTP/2.0" && featureGates === "";
        if (closes) await until(() => !connection.open);
        else assert.equal((await connection.ask(caller.headers)).status, status);
        connection.close();
      }
    }
    const admin = rawClient(server.kubeconfig);
    const { text } = await admin.send({ path: "/metrics" });
    assert.match(text, /^apiserver_client_certificate_expiration_seconds_bucket\{le="0"\} 0$/m);
    assert.match(text, /^apiserver_client_certificate_expiration_seconds_count [1-9]/m);
    admin.close();
    await server.close();
  });
}

describe("changed files", () => {
  let server: TestServer;
  let ca = "";
  const errors: string[] = [];
  const logger: ServerOptions["logger"] = {
    info() {},
    warn() {},
    error: (message, values) => void errors.push(`${message} ${JSON.stringify(values)}`),
  };
  const [one, other] = [root, stranger];
  let ofOne: Caller;
  let ofOther: Caller;
  const statusOf = async (caller: Caller, protocol: Protocol = "HTTP/2.0"): Promise<number> =>
    (await reviewSelf(server.url, ca, caller, protocol)).status;

  before(async () => {
    const serving = await oddCertificate({
      subject: [{ CN: ["serving"] }],
      dnsNames: ["localhost"],
      usages: [serverAuth],
    });
    server = await startTestServer({
      logger,
      clientCaFile: file("changing.crt", one.cert),
      tlsCertFile: file("serving.crt", serving.cert),
      tlsPrivateKeyFile: file("serving.key", serving.key),
    });
    ca = serving.cert;
    [ofOne, ofOther] = await Promise.all([
      withChain(ann, one),
      withChain({ ...ann, subject: [{ CN: ["ben"] }] }, other),
    ]);
    server = { ...server, url: server.url.replace("127.0.0.1", "localhost") };
  });
  after(() => server.close());

  test("added authorities are trusted, and removed ones no longer, on open connections too", async () => {
    const connections = protocols.flatMap((protocol) => [
      openAuthConnection(server.url, ca, ofOne, protocol),
      openAuthConnection(server.url, ca, ofOther, protocol),
    ]);
    const statuses = async (): Promise<number[]> => {
      const answers: number[] = [];
      for (const connection of connections)
        answers.push(
          await connection.ask().then(
            ({ status }) => status,
            () => 0,
          ),
        );
      return answers;
    };
    assert.deepEqual(await statuses(), [201, 401, 201, 401]);
    file("changing.crt", `${one.cert}${other.cert}`);
    await until(async () => (await statusOf(ofOther)) === 201);
    assert.deepEqual(
      (await statuses()).filter((_, index) => index % 2 === 0),
      [201, 201],
    );
    // Rejected clients connect again.
    for (const protocol of protocols) assert.equal(await statusOf(ofOther, protocol), 201);
    file("changing.crt", other.cert);
    await until(async () => (await statusOf(ofOne)) === 401);
    assert.deepEqual(
      (await statuses()).filter((_, index) => index % 2 === 0),
      [401, 401],
    );
    for (const protocol of protocols)
      assert.deepEqual([await statusOf(ofOne, protocol), await statusOf(ofOther, protocol)], [401, 201]);
    for (const connection of connections) connection.close();
  });

  for (const [what, content] of [
    ["no content", ""],
    ["no certificate", "x"],
    ["a damaged certificate", root.cert.replace("MII", "AAA")],
  ] as const) {
    test(`a bundle with ${what} is logged and does not replace the current one`, async () => {
      file("changing.crt", other.cert);
      await until(async () => (await statusOf(ofOther)) === 201);
      errors.length = 0;
      file("changing.crt", content);
      await until(async () => errors.length > 0);
      assert.match(errors[0] as string, /client-ca-bundle::.*changing\.crt/);
      assert.equal(await statusOf(ofOther), 201);
    });
  }

  test("new connections get a changed serving certificate once its key matches", async () => {
    const open = openAuthConnection(server.url, ca, ofOther, "HTTP/2.0");
    assert.equal((await open.ask()).status, 201);
    const fresh = await oddCertificate({ subject: [{ CN: ["fresh"] }], dnsNames: ["localhost"], usages: [serverAuth] });
    errors.length = 0;
    file("serving.crt", fresh.cert);
    await until(async () => errors.length > 0);
    assert.match(errors[0] as string, /tls: private key does not match public key/);
    assert.doesNotMatch(errors.join(), /PRIVATE KEY-|MII/);
    assert.equal(await statusOf(ofOther), 201);
    file("serving.key", fresh.key);
    const before = ca;
    ca = fresh.cert;
    await until(async () => (await statusOf(ofOther).catch(() => 0)) === 201);
    await assert.rejects(reviewSelf(server.url, before, ofOther, "HTTP/2.0"));
    assert.equal((await open.ask()).status, 201);
    open.close();
  });
});

describe("versions, suites and names", () => {
  let server: TestServer;
  const named: Record<string, OddAuthority> = {};
  before(async () => {
    for (const name of ["plain", "wild", "explicit", "address"]) {
      const dnsNames = { plain: ["plain.example"], wild: ["*.wild.example", "other.wild.example"] }[name] ?? [
        "unused.example",
      ];
      named[name] = await oddCertificate({ subject: [{ CN: [name] }], dnsNames, usages: [serverAuth] });
    }
    const files = (name: string, names: string[] = []) => ({
      certFile: file(`${name}.crt`, named[name]?.cert as string),
      keyFile: file(`${name}.key`, named[name]?.key as string),
      names,
    });
    server = await startTestServer({
      tls: {
        minVersion: "VersionTLS12",
        cipherSuites: ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"],
        curvePreferences: [24, 23],
        named: [
          files("plain"),
          files("wild"),
          files("explicit", ["other.wild.example", "*.explicit.example"]),
          files("address", ["::1"]),
        ],
      },
    });
  });
  after(() => server.close());

  const connect = (options: tls.ConnectionOptions): Promise<tls.TLSSocket> =>
    new Promise((resolve, reject) => {
      const socket = tls.connect(
        { host: "127.0.0.1", port: server.port, rejectUnauthorized: false, ALPNProtocols: ["h2"], ...options },
        () => resolve(socket),
      );
      socket.on("error", reject);
    });

  const names: [requested: string | undefined, shown: string][] = [
    [undefined, "kube-apiserver"],
    ["localhost", "kube-apiserver"],
    ["plain.example", "plain"],
    ["PLAIN.example", "plain"],
    ["plain", "plain"],
    ["a.wild.example", "wild"],
    ["a.b.wild.example", "kube-apiserver"],
    ["wild.example", "kube-apiserver"],
    ["other.wild.example", "explicit"],
    ["a.explicit.example", "explicit"],
    ["unused.example", "explicit"],
    ["unknown.example", "kube-apiserver"],
  ];
  for (const [requested, shown] of names) {
    test(`the server name ${requested ?? "(none)"} gets the certificate ${shown}`, async () => {
      const socket = await connect(requested === undefined ? {} : { servername: requested });
      assert.equal(socket.getPeerX509Certificate()?.subject, `CN=${shown}`);
      socket.destroy();
    });
  }

  test("connections use only the configured suites, versions and key exchanges", async () => {
    const tls12 = await connect({ maxVersion: "TLSv1.2" });
    assert.deepEqual(
      [tls12.getCipher().standardName, (tls12.getEphemeralKeyInfo() as { name?: string }).name],
      ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "prime256v1"],
    );
    tls12.destroy();
    const tls13 = await connect({});
    assert.equal(tls13.getProtocol(), "TLSv1.3");
    tls13.destroy();
    await assert.rejects(connect({ maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES256-GCM-SHA384" }));
    await assert.rejects(connect({ ecdhCurve: "X25519" }));
    const admin = rawClient(server.kubeconfig);
    const [, errors] =
      /^apiserver_tls_handshake_errors_total (\d+)$/m.exec((await admin.send({ path: "/metrics" })).text) ?? [];
    assert.ok(Number(errors) >= 2, String(errors));
    admin.close();
  });
});

const none = { minVersion: "", cipherSuites: [], curvePreferences: [], named: [] };
const proxy = {
  clientCaFile: undefined,
  allowedNames: [],
  usernameHeaders: [],
  uidHeaders: [],
  groupHeaders: [],
  extraHeaderPrefixes: [],
};
const pair = await oddCertificate({ subject: [{ CN: ["x"] }], usages: [serverAuth] });
const [crt, key, empty, text, rootFile] = [
  file("x.crt", pair.cert),
  file("x.key", pair.key),
  file("empty", ""),
  file("text", "x"),
  file("root.crt", root.cert),
];
const missing = join(directory, "missing");
const startRows: [what: string, options: Parameters<typeof startServer>[0], message: RegExp][] = [
  ["a client CA file that does not exist", { clientCaFile: missing }, /^open .*missing: no such file or directory$/],
  ["an empty client CA file", { clientCaFile: empty }, /^missing content for CA bundle "client-ca-bundle::.*empty"$/],
  [
    "a client CA file without certificates",
    { clientCaFile: text },
    /^error loading CA bundle for "client-ca-bundle::.*text": data does not contain any valid RSA or ECDSA certificates$/,
  ],
  ["a serving key without a certificate", { tlsPrivateKeyFile: key }, /go together|together/],
  [
    "a serving key of another certificate",
    { tlsCertFile: crt, tlsPrivateKeyFile: file("root.key", root.key) },
    /^tls: private key does not match public key$/,
  ],
  [
    "certificate and key exchanged",
    { tlsCertFile: key, tlsPrivateKeyFile: crt },
    /^tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched$/,
  ],
  [
    "a certificate as key",
    { tlsCertFile: crt, tlsPrivateKeyFile: crt },
    /^tls: found a certificate rather than a key in the PEM for the private key$/,
  ],
  [
    "a key file without a key",
    { tlsCertFile: crt, tlsPrivateKeyFile: text },
    /^tls: failed to find any PEM data in key input$/,
  ],
  [
    "a certificate file without a certificate",
    { tlsCertFile: text, tlsPrivateKeyFile: key },
    /^tls: failed to find any PEM data in certificate input$/,
  ],
  [
    "an empty certificate file",
    { tlsCertFile: empty, tlsPrivateKeyFile: key },
    /^missing content for serving cert "serving-cert::.*empty::.*x\.key"$/,
  ],
  [
    "a damaged key",
    { tlsCertFile: crt, tlsPrivateKeyFile: file("bad.key", pair.key.replace("MIG", "AAA")) },
    /^tls: failed to parse private key$/,
  ],
  [
    "a certificate for a server name without its key",
    { tls: { ...none, named: [{ certFile: crt, keyFile: missing, names: [] }] } },
    /no such file/,
  ],
  ["an unknown TLS version", { tls: { ...none, minVersion: "TLS12" } }, /^unknown tls version "TLS12"$/],
  [
    "an unknown cipher suite",
    { tls: { ...none, cipherSuites: ["X"] } },
    /^Cipher suite X not supported or doesn't exist$/,
  ],
  [
    "no cipher suite for HTTP/2",
    { tls: { ...none, cipherSuites: ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"] } },
    /^error configuring http2: .*missing an HTTP\/2-required/,
  ],
  ["an unknown key exchange", { tls: { ...none, curvePreferences: [1] } }, /^curve preference 1 is not supported/],
  ["a repeated key exchange", { tls: { ...none, curvePreferences: [23, 23] } }, /^duplicate curve preference 23$/],
  [
    "a key exchange out of range",
    { tls: { ...none, curvePreferences: [0] } },
    /^curve preference 0 is out of range \(must be 1-65535\)$/,
  ],
  [
    "a CA file for proxies without certificates",
    { requestHeader: { ...proxy, clientCaFile: text } },
    /^error loading CA bundle for "request-header::/,
  ],
  [
    "the same authorities for clients and for proxies of any name",
    { clientCaFile: rootFile, requestHeader: { ...proxy, clientCaFile: rootFile } },
    /^--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; --requestheader-allowed-names must be specified/,
  ],
  [
    "an empty header name",
    { requestHeader: { ...proxy, usernameHeaders: [" "] } },
    /^empty value in "requestheader-username-headers"$/,
  ],
];
for (const [what, options, message] of startRows) {
  test(`a server does not start with ${what}`, () =>
    assert.rejects(startServer(options), (error: Error) => {
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /MII/);
      return true;
    }));
}
