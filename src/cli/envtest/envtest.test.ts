import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { main } from "../../../test/support/program.ts";
import { runCommand } from "../../../test/support/run-command.ts";
import { eventually } from "../../testing/eventually.ts";
import { envtestCommand } from "./command.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain envtest's "));
test.after(() => rmSync(directory, { recursive: true, force: true }));

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("passes the flags on in their order, wherever they are", async () => {
  const assets = join(directory, "flags");
  const flags = ["--feature-gates=A=true", assets, "--controllers", "namespace", "--feature-gates=B=false"];
  const { code, err } = await runCommand((output) => envtestCommand.run(flags, output, {}));
  assert.deepEqual([code, err], [0, ""]);
  assert.match(
    readFileSync(join(assets, "kube-apiserver"), "utf8"),
    / '--controllers=' '--feature-gates=A=true' '--controllers=namespace' '--feature-gates=B=false' "\$@"\n$/,
  );
});

test("creates an etcd that answers health checks and ends on a signal, and a kube-apiserver with envtest's flags", async () => {
  const assets = join(directory, "assets");
  const printed = execFileSync(process.execPath, [main, "envtest", assets], { encoding: "utf8" });
  assert.equal(printed, `export KUBEBUILDER_ASSETS='${assets.replaceAll("'", "'\\''")}'\n`);
  const port = await freePort();
  const urls = [
    `--listen-peer-urls=http://127.0.0.1:0`,
    `--data-dir=${directory}`,
    `--advertise-client-urls=http://127.0.0.1:${port}`,
  ];
  const etcd = spawn(join(assets, "etcd"), [...urls, `--listen-client-urls=http://127.0.0.1:${port}`], {
    stdio: "inherit",
  });
  const answer = await eventually(() => fetch(`http://127.0.0.1:${port}/health`), { timeoutMs: 60_000 });
  assert.deepEqual([answer.status, await answer.json()], [200, { health: "true", reason: "" }]);
  etcd.kill("SIGTERM");
  const [code] = await new Promise<unknown[]>((resolve) => etcd.once("exit", (...ended) => resolve(ended)));
  assert.equal(code, 0);
  const help = execFileSync(join(assets, "kube-apiserver"), ["--help"], { encoding: "utf8" });
  assert.match(help, /--cert-dir/);
  assert.doesNotMatch(help, /insecure-port/);
});

const missing = /^Error: missing required argument 'directory'\nRun coxswain envtest --help for its options\.\n$/;
const rows: [argv: string[], code: number, text: RegExp][] = [
  [["--help"], 0, /^Usage: coxswain envtest \[options\] <directory> \[flags of the server\]\n/],
  [["a", "--help"], 0, /\nFlags of the server: coxswain serve --help\n/],
  [[], 2, missing],
  [["--controllers=namespace"], 2, missing],
  [["a", "b"], 2, /^Error: too many arguments\. Expected 1 argument but got 2/],
  [["a", "--secure-prot=1"], 2, /^Error: unknown option '--secure-prot=1' \(did you mean --secure-port\?\)\n/],
  [["a", "--controllers=*,-foo"], 2, /^Error: "foo" is not in the list of known controllers\n/],
  [["a", "--tls-cert-file=b"], 2, /^Error: missing filename for serving cert\nRun coxswain envtest --help/],
  [["etcd"], 2, /^Error: missing required argument 'pid'\n/],
  [["kube-apiserver", "--secure-port=0"], 2, /^Error: unknown option '--secure-port=0'/],
  [["kube-apiserver", "a"], 2, /^Error: "a" is no process ID\n/],
  [["etcd", String(process.ppid)], 2, /^Error: --listen-client-urls=<urls> is missing\n/],
];
for (const [argv, code, text] of rows) {
  test(`envtest ${argv.join(" ")}`, async () => {
    const ran = await runCommand((output) => envtestCommand.run(argv, output, {}));
    assert.equal(ran.code, code);
    assert.match(ran.out + ran.err, text);
  });
}
