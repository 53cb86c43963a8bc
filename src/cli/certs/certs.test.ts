/** `coxswain certs`, with servers that use its files. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { etcdOptions, freePorts, skipWithoutEtcd, startEtcd } from "../../../test/support/etcd.ts";
import { type RawClient, rawClient } from "../../../test/support/raw-client.ts";
import { runCommand } from "../../../test/support/run-command.ts";
import { until } from "../../../test/support/until.ts";
import { silentLogger } from "../../apimachinery/logger.ts";
import { defaultOptions } from "../../server/default-options.ts";
import type { RunningServer } from "../../server/options.ts";
import { startServer } from "../../server/start-server.ts";
import { openEtcdStorage } from "../../storage/etcd/etcd-storage.ts";
import { certsCommand } from "./command.ts";
import { openDirectory } from "./directory.ts";
import { renewCertificates } from "./renew.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-certs-"));
after(() => rmSync(directory, { recursive: true }));

const dayMs = 24 * 3600_000;

async function certs(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  return runCommand((output) => certsCommand.run(argv, output, {}));
}

async function succeed(...argv: string[]): Promise<string> {
  const { code, out, err } = await certs(...argv);
  assert.deepEqual([code, err], [0, ""], out);
  return out;
}

/** @returns a directory with all files */
async function initialized(name: string): Promise<string> {
  const pki = join(directory, name);
  await succeed("init", pki, "--name", "lb.example.com", "--name", "127.0.0.1");
  return pki;
}

const filesOf = (pki: string): Record<string, string> =>
  Object.fromEntries(readdirSync(pki).map((name) => [name, readFileSync(join(pki, name), "utf8")]));

/** Starts a server with the flags that `certs init` prints. */
function serve(pki: string, name: string): Promise<RunningServer> {
  return startServer({
    dataDir: join(directory, name),
    securePort: 0,
    storage: "lmdb",
    logger: silentLogger,
    clientCaFile: join(pki, "ca.crt"),
    tlsCertFile: join(pki, "apiserver.crt"),
    tlsPrivateKeyFile: join(pki, "apiserver.key"),
    serviceAccountSigningKeyFile: join(pki, "sa.key"),
    serviceAccountKeyFiles: [join(pki, "sa.pub")],
    requestHeader: {
      ...defaultOptions.requestHeader,
      clientCaFile: join(pki, "front-proxy-ca.crt"),
      allowedNames: ["front-proxy-client"],
    },
  });
}

/** The administrator, as the kubeconfig of the directory is now. */
async function adminOf(pki: string, { url }: RunningServer): Promise<RawClient> {
  await succeed("renew", pki, "--server", url);
  return rawClient(readFileSync(join(pki, "admin.kubeconfig"), "utf8"));
}

async function userOf(admin: RawClient, headers: Record<string, string> = {}): Promise<string | number> {
  const { status, body } = await admin.send({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    headers,
    body: { kind: "SelfSubjectReview", apiVersion: "authentication.k8s.io/v1" },
    anonymous: headers.authorization !== undefined,
  });
  return status === 201 ? body.status.userInfo.username : status;
}

test("init makes private keys that only their owner can read, and replaces nothing", async () => {
  const pki = await initialized("modes");
  const mode = (name: string): number => statSync(join(pki, name)).mode & 0o777;
  assert.equal(statSync(pki).mode & 0o777, 0o700);
  for (const name of readdirSync(pki)) assert.equal(mode(name), /key$|kubeconfig$/.test(name) ? 0o600 : 0o644, name);
  const before = filesOf(pki);
  const { code, err } = await certs("init", pki);
  assert.deepEqual([code, /^Error: .*ca\.key exists already, and is not replaced/.test(err)], [2, true], err);
  rmSync(join(pki, "ca.key"));
  assert.equal((await certs("init", pki)).code, 2);
  const { "ca.key": _, ...others } = before;
  assert.deepEqual(filesOf(pki), others);
});

test("what a failed init has written is removed, and nothing else", async () => {
  const path = join(directory, "removed");
  mkdirSync(path);
  const files = openDirectory(path);
  writeFileSync(join(path, "other"), "");
  await files.write("ca.key", "a", "created");
  await files.write("ca.crt", "b", "created");
  await files.removeWritten();
  assert.deepEqual(readdirSync(path), ["other"]);
});

test("the serving certificate has the names of the servers and of the Service", async () => {
  const { subjectAltName = "" } = new X509Certificate(readFileSync(join(await initialized("names"), "apiserver.crt")));
  for (const name of [
    "DNS:lb.example.com",
    "IP Address:127.0.0.1",
    "DNS:kubernetes.default.svc",
    "IP Address:10.0.0.1",
  ])
    assert.ok(subjectAltName.includes(name), name);
});

describe("show", () => {
  test("has subjects, usages, expiry and no key", async () => {
    const pki = await initialized("shown");
    const out = await succeed("show", pki);
    assert.match(out, /^apiserver\.crt: CN=kube-apiserver\n {2}State: {2}in use\n {2}Usages: server$/m);
    assert.match(out, /^ca\.crt: CN=coxswain-ca .*\n {2}State: {2}in use\n {2}Usages: authority$/m);
    const json = await succeed("show", pki, "-o", "json");
    for (const name of readdirSync(pki).filter((one) => one.endsWith(".key"))) {
      const [, middle = ""] = readFileSync(join(pki, name), "utf8").split("\n");
      assert.ok(middle.length > 40 && !out.includes(middle) && !json.includes(middle), name);
    }
    assert.deepEqual(JSON.parse(json).problems, []);
  });

  test("reports a private key that others can read, and a file that is no certificate", async () => {
    const pki = await initialized("readable");
    chmodSync(join(pki, "sa.key"), 0o644);
    writeFileSync(join(pki, "odd.crt"), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    const { code, out } = await certs("show", pki);
    assert.equal(code, 1);
    assert.match(out, /^Problem: \S+sa\.key can be read by others \(mode 644\): chmod 600 \S+sa\.key$/m);
  });

  test("reports what expires soon", async () => {
    const pki = await initialized("soon");
    const { showCertificates } = await import("./show.ts");
    const later = Date.now() + 340 * dayMs;
    const { code, out } = await runCommand((output) => showCertificates(pki, { output: "text" }, output, later));
    assert.equal(code, 1);
    assert.match(out, /^Problem: apiserver\.crt \(CN=kube-apiserver\) expires at /m);
  });
});

describe("renew", () => {
  const renewAt = (pki: string, now: number): Promise<{ code: number; out: string; err: string }> =>
    runCommand(async (output) => {
      const options = { name: [], etcdName: [], within: "720h", keep: "0s", output: "text" } as const;
      await renewCertificates(pki, options, output, now);
      return 0;
    });

  test("changes nothing before it is necessary, and then keys, certificates and the kubeconfig", async () => {
    const pki = await initialized("renewed");
    const before = filesOf(pki);
    assert.equal(await succeed("renew", pki), "Nothing had to be renewed.\n");
    assert.deepEqual(filesOf(pki), before);
    const { out, err } = await renewAt(pki, Date.now() + 340 * dayMs);
    assert.equal(err, "");
    assert.match(out, /apiserver\.crt: issued/);
    const changed = Object.entries(filesOf(pki)).filter(([name, text]) => before[name] !== text);
    assert.deepEqual(changed.map(([name]) => name).sort(), [
      "admin.crt",
      "admin.key",
      "admin.kubeconfig",
      "apiserver.crt",
      "apiserver.key",
      "front-proxy-client.crt",
      "front-proxy-client.key",
    ]);
  });

  test("adds names, and keeps those that the certificate has", async () => {
    const pki = await initialized("more-names");
    await succeed("renew", pki, "--name", "10.0.0.77");
    const { subjectAltName = "" } = new X509Certificate(readFileSync(join(pki, "apiserver.crt")));
    for (const name of ["lb.example.com", "10.0.0.77", "kubernetes.default.svc"])
      assert.ok(subjectAltName.includes(name));
  });

  test("repairs a pair of which only one file was written", async () => {
    const pki = await initialized("half");
    const other = await initialized("half-other");
    writeFileSync(join(pki, "apiserver.key"), readFileSync(join(other, "apiserver.key")));
    assert.match(await succeed("renew", pki), /apiserver\.crt: issued/);
  });

  test("warns of an authority that expires", async () => {
    const { err } = await renewAt(await initialized("old"), Date.now() + 9.5 * 365 * dayMs);
    assert.match(err, /^Warning: ca\.crt expires at \S+: replace it with --prepare ca$/m);
  });

  const rejected: [argv: string[], message: RegExp][] = [
    [["--activate", "sa"], /^Error: no next key of sa is prepared: use --prepare sa/],
    [["--activate", "sa", "--prepare", "ca"], /^Error: --prepare cannot be combined with --activate/],
    [["--prepare", "admin"], /^Error: option '--prepare <key>' argument 'admin' is invalid/],
    [["--name", "a b"], /^Error: --name must be a DNS name or an IP address: "a b"/],
    [["--server", "http://a"], /^Error: --server must be an https URL/],
    [["--within", "soon"], /^Error: --within: /],
  ];
  for (const [argv, message] of rejected)
    test(`certs renew ${argv.join(" ")} is rejected, and changes nothing`, async () => {
      const pki = await initialized(`rejected ${argv.join(" ").replaceAll("/", "")}`);
      const before = filesOf(pki);
      const { code, err } = await certs("renew", pki, ...argv);
      assert.equal(code, 2);
      assert.match(err, message);
      assert.deepEqual(filesOf(pki), before);
    });

  test("does not read a private key as an authority, nor print it", async () => {
    const pki = await initialized("swapped");
    const key = readFileSync(join(pki, "ca.key"), "utf8");
    writeFileSync(join(pki, "ca.crt"), key);
    const { code, err } = await certs("renew", pki);
    assert.equal(code, 2);
    assert.match(err, /ca\.crt cannot be used: a block is of the type EC PRIVATE KEY/);
    assert.ok(!err.includes(key.split("\n")[1] as string));
  });
});

describe("two commands at once", () => {
  test("change nothing twice: the second one fails", async () => {
    const pki = await initialized("at once");
    const runs = await Promise.all([certs("renew", pki, "--all"), certs("renew", pki, "--prepare", "sa")]);
    assert.deepEqual(runs.map(({ code }) => code).sort(), [0, 2]);
    const [failed] = runs.filter(({ code }) => code === 2);
    assert.match(failed?.err ?? "", /^Error: another command \(process \d+ on [^)]+\) changes \S/);
    assert.equal(await succeed("renew", pki), "Nothing had to be renewed.\n");
  });

  test("neither removes what a first one makes in a new directory", async () => {
    const pki = join(directory, "both init");
    const codes = (await Promise.all([certs("init", pki), certs("init", pki)])).map(({ code }) => code);
    assert.deepEqual(codes.sort(), [0, 2]);
    assert.equal(await succeed("renew", pki), "Nothing had to be renewed.\n");
  });

  test("the lock of a killed one is named", async () => {
    const pki = await initialized("killed");
    writeFileSync(join(pki, ".lock"), "process 1 on a\n");
    const { code, err } = await certs("renew", pki);
    assert.equal(code, 2);
    assert.match(
      err,
      /^Error: another command \(process 1 on a\) changes \S+killed: wait .* remove \S+killed\/\.lock\n$/,
    );
    assert.match(await succeed("show", pki), /^ca\.crt: /m);
  });
});

/** The flags that the command prints, below the line that begins so. */
function printedFlags(out: string, heading: string): string[] {
  const lines = out.slice(out.indexOf(heading)).split("\n").slice(1);
  return lines
    .slice(
      0,
      lines.findIndex((line) => !line.startsWith("  ")),
    )
    .flatMap((line) => line.trim().split(" "));
}

describe("certificates of etcd", { skip: skipWithoutEtcd }, () => {
  const members = "Copy etcd-ca.crt, etcd-server.* and etcd-peer.*";
  const servers = "Copy etcd-ca.crt and apiserver-etcd-client.*";

  test("members accept each other and servers, and no other client", async () => {
    const pki = join(directory, "etcd");
    const out = await succeed("init", pki, "--etcd-name", "etcd.example.com");
    const flags = printedFlags(out, members);
    const [, caFile = "", , certFile = "", , keyFile = ""] = printedFlags(out, servers);
    const { subjectAltName = "" } = new X509Certificate(readFileSync(join(pki, "etcd-peer.crt")));
    assert.match(subjectAltName, /DNS:etcd\.example\.com/);

    const [port] = (await freePorts(1)) as [number];
    const secure = `https://127.0.0.1:${port}`;
    const single = await startEtcd({ flags, moreUrls: [secure], peerScheme: "https" });
    const open = (tls: object): Promise<string> =>
      openEtcdStorage({ ...etcdOptions, servers: [secure], tls, startTimeoutMs: 3_000 }).then(
        async (storage) => {
          await storage.close();
          return "opened";
        },
        (error: Error) => error.message,
      );
    try {
      assert.equal(await open({ caFile, certFile, keyFile }), "opened");
      const admin = { caFile, certFile: join(pki, "admin.crt"), keyFile: join(pki, "admin.key") };
      assert.match(await open(admin), /certificate|Unavailable/);
    } finally {
      await single.close();
    }
    const two = await startEtcd({ flags, members: 2, peerScheme: "https" });
    await two.close();
  });

  test("are added later, and renewed with the others", async () => {
    const pki = await initialized("etcd-later");
    const { err } = await certs("renew", pki, "--prepare", "etcd-ca");
    assert.match(err, /^Error: \S+ has no certificates of etcd: --etcd-name makes them\n$/);
    const out = await succeed("renew", pki, "--etcd-name", "10.0.0.31");
    assert.match(out, /\nCopy etcd-ca\.crt and apiserver-etcd-client\.\* to all servers/);
    assert.equal(await succeed("renew", pki), "Nothing had to be renewed.\n");
    await succeed("renew", pki, "--prepare", "etcd-ca");
    const activated = await succeed("renew", pki, "--activate", "etcd-ca");
    assert.match(activated, /apiserver-etcd-client\.crt: issued/);
    assert.match(activated, /^Members of etcd read etcd-ca\.crt at their start/m);
  });
});

test("two servers accept each other's administrator", async (context) => {
  const pki = await initialized("two");
  const servers = [await serve(pki, "two-a"), await serve(pki, "two-b")];
  context.after(() => Promise.all(servers.map((server) => server.close())));
  for (const server of servers) {
    const admin = await adminOf(pki, server);
    assert.equal(await userOf(admin), "kubernetes-admin");
    admin.close();
  }
});

/** Asks a server for a token of a service account. */
async function tokenFrom(admin: RawClient): Promise<string> {
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  await admin.send({ method: "POST", path: accounts, body: { metadata: { name: "worker" } } });
  const { body } = await admin.send({ method: "POST", path: `${accounts}/worker/token`, body: { spec: {} } });
  return body.status.token;
}

test("tokens are accepted before, while and after their key is replaced, until it is not kept", async () => {
  const pki = await initialized("tokens");
  const worker = "system:serviceaccount:default:worker";
  const tokens: string[] = [];
  /** Starts the server again, and returns which of the tokens it accepts. */
  const accepted = async (): Promise<boolean[]> => {
    const server = await serve(pki, "tokens-data");
    const admin = await adminOf(pki, server);
    tokens.push(await tokenFrom(admin));
    const users: (string | number)[] = [];
    for (const token of tokens) users.push(await userOf(admin, { authorization: `Bearer ${token}` }));
    admin.close();
    await server.close();
    return users.map((user) => user === worker);
  };
  assert.deepEqual(await accepted(), [true]);
  await succeed("renew", pki, "--prepare", "sa");
  assert.deepEqual(await accepted(), [true, true]);
  await succeed("renew", pki, "--activate", "sa");
  assert.deepEqual(await accepted(), [true, true, true]);
  const [, second, third] = tokens.map((token) => JSON.parse(atob(token.split(".")[0] as string)).kid);
  assert.notEqual(second, third);
  await succeed("renew", pki, "--prepare", "sa");
  await succeed("renew", pki, "--activate", "sa", "--keep", "0s");
  assert.deepEqual(await accepted(), [true, true, false, true]);
});

test("an authority is replaced while a server runs and clients are connected", async (context) => {
  const pki = await initialized("authority");
  const server = await serve(pki, "authority-data");
  context.after(() => server.close());
  const authority = (): string | undefined => new X509Certificate(readFileSync(join(pki, "admin.crt"))).issuer;
  (await adminOf(pki, server)).close();
  const first = authority();
  await succeed("renew", pki, "--prepare", "ca");
  assert.equal(authority(), first);
  const between = rawClient(readFileSync(join(pki, "admin.kubeconfig"), "utf8")); // Trusts both authorities.
  assert.equal(await userOf(between), "kubernetes-admin");
  await succeed("renew", pki, "--activate", "ca");
  assert.notEqual(authority(), first);
  const next = rawClient(readFileSync(join(pki, "admin.kubeconfig"), "utf8"));
  // The server reads the files again within seconds.
  await until(async () => (await userOf(next).catch(() => 0)) === "kubernetes-admin");
  assert.equal(await userOf(between), "kubernetes-admin");
  for (const client of [between, next]) client.close();
});
