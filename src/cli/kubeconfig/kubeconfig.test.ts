/** `coxswain kubeconfig`, with a server that runs. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createPrivateKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { field } from "../../../test/support/kubeconfig-fields.ts";
import { skipWithout } from "../../../test/support/needs.ts";
import { oddCertificate } from "../../../test/support/odd-certificates.ts";
import { main } from "../../../test/support/program.ts";
import { rawClient } from "../../../test/support/raw-client.ts";
import { runCommand } from "../../../test/support/run-command.ts";
import type { RunningServer } from "../../server/options.ts";
import { startServer } from "../../server/start-server.ts";
import { kubeconfigCommand } from "./command.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-kubeconfig-"));
chmodSync(directory, 0o755);
const dataDir = join(directory, "data");
const file = (name: string): string => join(directory, name);
const opensslAuthority = (name: string, ...algorithm: string[]): string[] => [
  ...["req", "-x509", "-nodes", "-subj", `/CN=${name}`, "-days", "2", ...algorithm],
  ...["-keyout", file(`${name}.key`), "-out", file(`${name}.crt`)],
];
const noOpenssl = skipWithout("openssl");
let server: RunningServer;

before(async () => {
  if (noOpenssl === false) {
    spawnSync("openssl", opensslAuthority("rsa", "-newkey", "rsa:2048"));
    spawnSync("openssl", opensslAuthority("p384", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:secp384r1"));
    const bundle = ["rsa", "p384"].map((name) => readFileSync(file(`${name}.crt`), "utf8")).join("");
    writeFileSync(file("clients.crt"), bundle);
  }
  const clients = noOpenssl === false ? { clientCaFile: file("clients.crt") } : {};
  server = await startServer({ storage: "memory", dataDir, controllers: [], ...clients });
});
after(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function issue(argv: readonly string[]): Promise<Ran> {
  const { code, out, err } = await runCommand((output) =>
    kubeconfigCommand.run(["--data-dir", dataDir, ...argv], output, {}),
  );
  return { status: code, stdout: out, stderr: err };
}

/** As {@link issue}, as a process. */
function issueAsProcess(argv: readonly string[], options: { uid?: number; cwd?: string } = {}): Ran {
  const all = [main, "kubeconfig", "--data-dir", dataDir, ...argv];
  return spawnSync(process.execPath, all, { encoding: "utf8", timeout: 120_000, ...options });
}

/** The user as whom the server sees the kubeconfig. */
async function userOf(kubeconfig: string): Promise<{ username: string; groups: string[] }> {
  const client = rawClient(kubeconfig);
  try {
    const { status, text, body } = await client.send({
      method: "POST",
      path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
    });
    assert.equal(status, 201, text);
    return body.status.userInfo;
  } finally {
    client.close();
  }
}

const users: [user: string, groups: string[]][] = [
  ["ann", []],
  ["ann", ["dev", "ops"]],
  ["#41", ["#42"]],
  ["a\\0ab", ["a\\,b"]],
  ['"x" y', ["'z'"]],
  ["ännchen", ["größe"]],
  ["a=b,O=system:masters", ["CN=root+O=x"]],
  ["system:serviceaccount:default:default", []],
  ["true", ["null"]],
  ["a: b # c", ["- d"]],
  ["n".repeat(200), []],
];
describe("the server sees the user and the groups of the options", () => {
  for (const [user, groups] of users) {
    test(JSON.stringify([user, groups]), async () => {
      const { status, stdout, stderr } = await issue([`--user=${user}`, ...groups.map((group) => `--group=${group}`)]);
      assert.deepEqual([status, stderr], [0, ""]);
      const { username, groups: seen } = await userOf(stdout);
      assert.deepEqual([username, seen.filter((group) => group !== "system:authenticated")], [user, groups]);
    });
  }
});

test("is run by the command", async () => {
  const { status, stdout, stderr } = issueAsProcess(["--user=ann", "--group=dev"]);
  assert.deepEqual([status, stderr], [0, ""]);
  assert.equal((await userOf(stdout)).username, "ann");
});

test("members of system:masters are allowed everything, and the command warns of it", async () => {
  const { status, stdout, stderr } = await issue(["--user=root", "--group=system:masters"]);
  assert.equal(status, 0);
  assert.match(stderr, /^Warning: members of system:masters are allowed everything, .*\n$/);
  const client = rawClient(stdout);
  assert.equal((await client.send({ path: "/api/v1/secrets" })).status, 200);
  client.close();
});

test("other users have only their own rights", async () => {
  const client = rawClient((await issue(["--user=ann"])).stdout);
  assert.equal((await client.send({ path: "/api/v1/secrets" })).status, 403);
  client.close();
});

test("the certificate is valid for the time of --expires, and only for clients", async () => {
  const before = Date.now();
  const certificate = new X509Certificate(
    field((await issue(["--user=ann", "--expires=90m"])).stdout, "client-certificate-data"),
  );
  const lifetimeMs = certificate.validToDate.getTime() - before;
  assert.ok(lifetimeMs >= 90 * 60_000 - 1000 && lifetimeMs <= 90 * 60_000 + (Date.now() - before), `${lifetimeMs}`);
  assert.deepEqual([certificate.ca, certificate.keyUsage], [false, ["1.3.6.1.5.5.7.3.2"]]);
});

test("the certificate does not outlive its authority", async () => {
  const { status, stdout, stderr } = await issue(["--user=ann", "--expires=200000h"]);
  assert.equal(status, 0);
  assert.match(stderr, /^Warning: the certificate expires with its authority, .*ca\.crt\n$/);
  const { validTo } = new X509Certificate(field(stdout, "client-certificate-data"));
  assert.equal(validTo, new X509Certificate(readFileSync(join(dataDir, "ca.crt"))).validTo);
});

test("--server replaces the URL", async () => {
  assert.match(
    (await issue(["--user=ann", "--server=https://api.example:6443"])).stdout,
    /server: https:\/\/api\.example:6443\n/,
  );
});

for (const name of ["rsa", "p384"]) {
  test(`signs with the authority ${name} of --client-ca-file`, async (context) => {
    if (noOpenssl) return context.skip(noOpenssl);
    const { status, stdout, stderr } = await issue([
      ...["--user=ann", `--client-ca-file=${file(`${name}.crt`)}`, `--client-ca-key=${file(`${name}.key`)}`],
    ]);
    assert.deepEqual([status, stderr], [0, ""]);
    assert.equal((await userOf(stdout)).username, "ann");
  });
}

test("--write creates a file that only its owner can read, and replaces none", async () => {
  const target = file("ann.kubeconfig");
  const first = await issue(["--user=ann", "--write", target]);
  assert.deepEqual([first.status, first.stderr], [0, ""]);
  assert.match(first.stdout, /^\S+ann\.kubeconfig: user "ann", valid until \d{4}-\S+Z\n$/);
  assert.equal(statSync(target).mode & 0o777, 0o600);
  const text = readFileSync(target, "utf8");
  assert.equal((await userOf(text)).username, "ann");
  const second = await issue(["--user=bob", "--write", target]);
  assert.deepEqual([second.status, second.stdout], [2, ""]);
  assert.match(second.stderr, /^Error: \S+ann\.kubeconfig exists already: --force replaces it\n$/);
  assert.equal(readFileSync(target, "utf8"), text);
  chmodSync(target, 0o644);
  assert.equal((await issue(["--user=bob", "--write", target, "--force"])).status, 0);
  assert.equal(statSync(target).mode & 0o777, 0o600);
  assert.equal((await userOf(readFileSync(target, "utf8"))).username, "bob");
});

test("--write does not follow links", async () => {
  const [aim, link] = [file("aim"), file("link")];
  writeFileSync(aim, "unchanged", { mode: 0o644 });
  symlinkSync(aim, link);
  assert.equal((await issue(["--user=ann", "--write", link])).status, 2);
  assert.equal((await issue(["--user=ann", "--write", link, "--force"])).status, 0);
  assert.equal(readFileSync(aim, "utf8"), "unchanged");
  assert.match(readFileSync(link, "utf8"), /^apiVersion: v1/);
});

test("names the file that the user must not read", (context) => {
  const notRoot = skipWithout("root");
  if (notRoot) return context.skip(notRoot);
  const other = { uid: 65534, cwd: "/" };
  if (spawnSync(process.execPath, [main, "version"], other).status !== 0)
    return context.skip("other users cannot read the program here");
  const open = file("open");
  mkdirSync(open, { mode: 0o755 });
  for (const [name, mode] of [
    ["ca.crt", 0o644],
    ["ca.key", 0o600],
    ["kubeconfig", 0o600],
  ] as const)
    writeFileSync(join(open, name), readFileSync(join(dataDir, name)), { mode });
  const { status, stderr } = issueAsProcess(["--user=ann", "--data-dir", open], other);
  assert.equal(status, 2);
  assert.match(stderr, /^Error: \S+ca\.key cannot be read: permission denied\. The user that runs the server can/);
});

test("rejects authorities that cannot sign", async () => {
  const hourMs = 3_600_000;
  const named = (name: string) => ({ subject: [{ CN: [name] }] });
  const expired = { notBefore: new Date(Date.now() - 2 * hourMs), notAfter: new Date(Date.now() - hourMs) };
  const future = { notBefore: new Date(Date.now() + hourMs), notAfter: new Date(Date.now() + 2 * hourMs) };
  const written: Record<string, { cert: string; key: string }> = {
    expired: await oddCertificate({ ...named("expired"), ...expired, authority: {} }),
    future: await oddCertificate({ ...named("future"), ...future, authority: {} }),
    leaf: await oddCertificate(named("leaf")),
    good: await oddCertificate({ ...named("good"), authority: {} }),
  };
  for (const [name, { cert, key }] of Object.entries(written)) {
    writeFileSync(file(`${name}.crt`), cert);
    writeFileSync(file(`${name}.key`), key);
  }
  const key = createPrivateKey(written.good?.key ?? "");
  const cipher = { cipher: "aes-256-cbc", passphrase: "x" };
  writeFileSync(file("encrypted.key"), key.export({ type: "pkcs8", format: "pem", ...cipher }));
  writeFileSync(file("ed.key"), generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }));
  const rows: [cert: string, key: string, message: RegExp][] = [
    ["expired", "expired", /^Error: \S+expired\.crt expired at \d{4}-/],
    ["future", "future", /^Error: \S+future\.crt is not valid before \d{4}-/],
    ["leaf", "leaf", /^Error: \S+leaf\.crt is not a certificate authority\n/],
    ["good", "leaf", /^Error: \S+leaf\.key is not the key of \S+good\.crt\n/],
    ["good", "ed", /^Error: \S+ed\.key is not the key of \S+good\.crt\n/],
    ["good", "encrypted", /^Error: \S+encrypted\.key cannot be used: the key is encrypted\n/],
    ["good", "none", /^Error: \S+none\.key does not exist\n/],
  ];
  for (const [cert, ofKey, message] of rows) {
    const { status, stdout, stderr } = await issue([
      ...["--user=ann", `--client-ca-file=${file(`${cert}.crt`)}`, `--client-ca-key=${file(`${ofKey}.key`)}`],
    ]);
    assert.deepEqual([status, stdout], [2, ""]);
    assert.match(stderr, message);
  }
});

const rejected: [argv: string[], message: RegExp][] = [
  [[], /^Error: required option '--user <name>' not specified\n/],
  [["--user="], /^Error: --user must not be empty\n$/],
  [["--user=a", "--group="], /^Error: --group must not be empty\n$/],
  [["--user=a\nb"], /^Error: --user must not contain control characters\n$/],
  [["--user=a", "--group=\u001b[31m"], /^Error: --group must not contain control characters\n$/],
  [["--user=a", "--expires=1"], /^Error: --expires: time: missing unit in duration "1"\n$/],
  [["--user=a", "--expires=0"], /^Error: --expires must be at least 1s\n$/],
  [["--user=a", "--expires=-1h"], /^Error: --expires: must not be negative\n$/],
  [
    ["--user=a", "--server=http://x"],
    /^Error: --server must be an https URL: "http:\/\/x"\nRun coxswain kubeconfig --help/,
  ],
  [["--user=a", "--force"], /^Error: --force needs --write\nRun coxswain kubeconfig --help/],
  [
    ["--user=a", "--client-ca-file=x"],
    /^Error: --client-ca-file and --client-ca-key must be set together\nRun coxswain kubeconfig --help/,
  ],
  [
    ["--user=a", "--data-dir=/nothing"],
    /^Error: \/nothing\/ca\.crt does not exist\. A server creates it at its first start with --data-dir \/nothing; .*--client-ca-key\n$/,
  ],
  [["--user=a", "--write=/nothing/file"], /^Error: \/nothing\/file cannot be opened: no such file or directory\n$/],
];
for (const [argv, message] of rejected) {
  test(`coxswain kubeconfig ${JSON.stringify(argv)} is rejected`, async () => {
    const { status, stdout, stderr } = await issue(argv);
    assert.match(stderr, message);
    assert.deepEqual([status, stdout], [2, ""]);
  });
}
