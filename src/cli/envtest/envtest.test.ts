import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { main } from "../../../test/support/program.ts";
import { eventually } from "../../testing/eventually.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain envtest's "));
test.after(() => rmSync(directory, { recursive: true, force: true }));

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

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

const rows: [argv: string[], code: number, text: RegExp][] = [
  [["--help"], 0, /^Usage: coxswain envtest <directory> \[flags of kube-apiserver\]/],
  [
    [],
    1,
    /^Error: expected a directory, such as: coxswain envtest bin\nRun coxswain envtest --help for its arguments\.\n$/,
  ],
  [["--controllers=namespace"], 1, /^Error: expected a directory, such as: /],
  [["a", "b"], 1, /^Error: unexpected arguments: only flags are accepted\n/],
  [["a", "--help"], 1, /^Error: expected flags of the server\n/],
  [["a", "--secure-prot=1"], 1, /^Error: unknown flag: --secure-prot \(did you mean --secure-port\?\)\n/],
  [["a", "--controllers=*,-foo"], 1, /^Error: "foo" is not in the list of known controllers\n/],
  [["etcd"], 1, /^Usage: coxswain envtest etcd <pid of the test process> \[flags\]\n/],
  [["kube-apiserver", "--secure-port=0"], 1, /^Usage: coxswain envtest kube-apiserver <pid of the test process>/],
  [["etcd", String(process.ppid)], 1, /--listen-client-urls=<urls>/],
];
for (const [argv, code, text] of rows) {
  test(`envtest ${argv.join(" ")}`, async () => {
    const { envtestCommand } = await import("./command.ts");
    const printed: string[] = [];
    const take = (more: string): void => void printed.push(more);
    assert.equal(await envtestCommand.run(argv, { out: take, err: take }, {}), code);
    assert.match(printed.join(""), text);
  });
}
