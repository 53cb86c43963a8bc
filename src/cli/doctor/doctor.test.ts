/** `coxswain doctor`: each finding, on directories, ports and servers that have the problem. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { type EtcdCluster, skipWithoutEtcd, startEtcd } from "../../../test/support/etcd.ts";
import { runCommand } from "../../../test/support/run-command.ts";
import { startTestServer } from "../../../test/support/start-test-server.ts";
import { checkDirectory, checkSpace } from "./check-directory.ts";
import { checkRuntime } from "./check-process.ts";
import { checkClock } from "./check-server.ts";
import { doctorCommand } from "./command.ts";
import type { Finding } from "./contract.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-doctor-"));
after(() => rmSync(directory, { recursive: true }));

interface Ran {
  readonly code: number;
  readonly findings: readonly Finding[];
}

/** Runs the command with a free port, unless the arguments name one. */
async function doctor(argv: readonly string[], env: NodeJS.ProcessEnv = { HOME: directory }): Promise<Ran> {
  const defaults = ["--data-dir", join(directory, "none"), "--secure-port", "0", "-o", "json"];
  const { code, out, err } = await runCommand((output) => doctorCommand.run([...defaults, ...argv], output, env));
  assert.equal(err, "");
  return { code, findings: JSON.parse(out) };
}

const found = ({ findings }: Ran, check: string): Finding | undefined =>
  findings.find((one) => one.check.startsWith(check));

test("checks a machine without a server: exit code 0, and a warning about the kubeconfig", async () => {
  const ran = await doctor(["--kubeconfig", join(directory, "absent")]);
  assert.equal(found(ran, "kubeconfig")?.status, "problem");
  const checks = ran.findings.map(({ check, status }) => `${check} ${status}`);
  for (const one of ["runtime ok", "port 0 ok", "data directory ok", "clock ok"]) assert.ok(checks.includes(one), one);
});

describe("the port", () => {
  test("is taken by another process", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const { port } = taken.address() as { port: number };
    const ran = await doctor(["--secure-port", String(port)]);
    taken.close();
    assert.equal(ran.code, 1);
    const finding = found(ran, `port ${port}`);
    assert.equal(finding?.status, "problem");
    assert.match(finding?.message ?? "", /is taken by process \d+/);
    assert.equal(finding?.advice, "choose another one with --secure-port");
  });

  test("is of an address that this machine does not have", async () => {
    const finding = found(await doctor(["--bind-address", "203.0.113.1"]), "port");
    assert.deepEqual(
      [finding?.status, finding?.message, finding?.advice],
      ["problem", "203.0.113.1 is not an address of this machine", "choose one with --bind-address"],
    );
  });
});

describe("the data directory", () => {
  const options = (dataDir: string): Parameters<typeof checkDirectory>[0] => ({
    dataDir,
    bindAddress: "127.0.0.1",
    securePort: 0,
    etcdServers: [],
  });

  test("is below a file", () => {
    writeFileSync(join(directory, "file"), "");
    const [finding] = checkDirectory(options(join(directory, "file/data")));
    assert.equal(finding?.status, "problem");
    assert.match(finding?.message ?? "", /file is not a directory$/);
  });

  test("has files that others can read", () => {
    const data = join(directory, "readable");
    mkdirSync(data, { mode: 0o700 });
    for (const name of ["ca.key", "kubeconfig", "ca.crt"]) writeFileSync(join(data, name), "");
    chmodSync(join(data, "ca.key"), 0o600);
    chmodSync(join(data, "kubeconfig"), 0o640);
    const finding = checkDirectory(options(data)).find(({ check }) => check === "file modes");
    assert.deepEqual([finding?.status, finding?.advice], ["problem", `chmod go= ${join(data, "kubeconfig")}`]);
    chmodSync(join(data, "kubeconfig"), 0o600);
    assert.equal(checkDirectory(options(data)).find(({ check }) => check === "file modes")?.status, "ok");
  });

  test("can be changed by others", () => {
    const data = join(directory, "open");
    mkdirSync(data);
    chmodSync(data, 0o777);
    const finding = checkDirectory(options(data)).find(({ check }) => check === "file modes");
    assert.deepEqual([finding?.status, finding?.advice], ["problem", `chmod go-w ${data}`]);
  });

  test("is on a disk with much, little and hardly any space", () => {
    const statuses = [2 ** 40, 500 * 2 ** 20, 2 ** 20].map((bytes) => checkSpace(bytes, "/data").status);
    assert.deepEqual(statuses, ["ok", "warning", "problem"]);
  });
});

test("a low limit of open files is a warning", () => {
  const statuses = [256, 4096].map((filesMax) => checkRuntime({ versions: { node: "26.0.0" }, filesMax })[1]?.status);
  assert.deepEqual(statuses, ["warning", "ok"]);
});

test("the clock is compared with the release, and with that of the server", () => {
  const now = Date.UTC(2026, 10, 30);
  const after = (skewMs: number): Finding => checkClock({ server: now, own: now + skewMs }, now);
  assert.equal(checkClock(undefined, now).status, "ok");
  assert.equal(checkClock(undefined, 0).status, "problem");
  assert.deepEqual(
    [0, 30_000, -30_000, 120_000, -120_000].map((skewMs) => after(skewMs).status),
    ["ok", "warning", "warning", "problem", "problem"],
  );
});

describe("the kubeconfig", () => {
  test("names a server that answers, on its own port", async (context) => {
    const server = await startTestServer();
    context.after(() => server.close());
    const { port } = new URL(server.url);
    const ran = await doctor(["--kubeconfig", server.kubeconfigPath, "--secure-port", port]);
    assert.equal(ran.code, 0);
    assert.match(found(ran, "kubeconfig")?.message ?? "", /answers, version v1\.36\.\d+\+coxswain$/);
    assert.equal(found(ran, "port")?.message, "the server of the kubeconfig listens there already");
    assert.match(found(ran, "clock")?.message ?? "", /^\d s from the clock of the server/);
  });

  test("has credentials that the server rejects", async (context) => {
    const server = await startTestServer();
    context.after(() => server.close());
    const text = server.kubeconfig.replace(/client-certificate-data: .*\n\s+client-key-data: .*/, "token: wrong");
    const file = join(directory, "rejected.kubeconfig");
    writeFileSync(file, text);
    const finding = found(await doctor(["--kubeconfig", file]), "kubeconfig");
    assert.equal(finding?.status, "problem");
    assert.match(finding?.message ?? "", /rejects the credentials \(401\)$/);
  });

  test("is not valid", async () => {
    const file = join(directory, "broken.kubeconfig");
    writeFileSync(file, "clusters: 1");
    const ran = await doctor(["--kubeconfig", file]);
    assert.deepEqual([ran.code, found(ran, "kubeconfig")?.status], [1, "problem"]);
  });

  test("is that of the data directory, whose server does not run", async () => {
    const data = join(directory, "stopped");
    const server = await startTestServer({ dataDir: data });
    await server.close();
    const ran = await doctor(["--data-dir", data]);
    assert.equal(found(ran, "kubeconfig")?.message, "that of the data directory is valid, and its server does not run");
  });
});

describe("etcd", () => {
  test("does not answer", async () => {
    const ran = await doctor(["--etcd-servers", "http://127.0.0.1:1"]);
    assert.equal(ran.code, 1);
    assert.equal(found(ran, "etcd")?.message, "does not answer: connect ECONNREFUSED 127.0.0.1:1");
  });

  test("has a URL or a file that is not valid", async () => {
    for (const argv of [
      ["--etcd-servers", "ftp://a"],
      ["--etcd-servers", "https://127.0.0.1:1", "--etcd-cafile", join(directory, "absent")],
    ])
      assert.equal(found(await doctor(argv), "etcd")?.status, "problem");
  });

  test("answers", { skip: skipWithoutEtcd }, async (context) => {
    const cluster: EtcdCluster = await startEtcd();
    context.after(() => cluster.close());
    const finding = found(await doctor(["--etcd-servers", cluster.urls.join()]), "etcd");
    assert.equal(finding?.status, "ok");
    assert.match(finding?.message ?? "", /^answers, version 3\.\d+\.\d+/);
  });
});

test("prints lines with what to do, colored on terminals", async () => {
  const argv = ["--data-dir", join(directory, "none"), "--secure-port", "0", "--kubeconfig", join(directory, "absent")];
  const { out } = await runCommand((output) => doctorCommand.run(argv, output, {}));
  assert.match(out, /^ok {7}runtime {9}node \d/m);
  assert.match(out, /^problem {2}kubeconfig {6}.* cannot be read: no such file or directory\n +→ check that/m);
  const colors = await runCommand((output) => doctorCommand.run(argv, { ...output, outColors: true }, {}));
  assert.ok(colors.out.includes("\x1b[31mproblem"));
});

const rejected: [argv: string[], message: RegExp][] = [
  [["--secure-port", "70000"], /argument '70000' is invalid/],
  [["--secure-port", "1e3"], /argument '1e3' is invalid/],
  [["x"], /too many arguments/],
];
for (const [argv, message] of rejected)
  test(`coxswain doctor ${argv.join(" ")} is rejected`, async () => {
    const { code, err } = await runCommand((output) => doctorCommand.run(argv, output, {}));
    assert.equal(code, 2);
    assert.match(err, message);
  });
