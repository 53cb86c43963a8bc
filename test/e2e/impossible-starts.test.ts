/**
 * When the command cannot start, it prints one sentence that names what to change, and exits with
 * code 1.
 */
import assert from "node:assert/strict";
import { type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { skipWithout } from "../support/needs.ts";
import { main } from "../support/program.ts";

const base = mkdtempSync(join(tmpdir(), "coxswain-impossible-"));
// Another user must reach a directory in it.
chmodSync(base, 0o755);
after(() => rmSync(base, { recursive: true, force: true }));
const notLinux = skipWithout("linux");
const notRoot = skipWithout("root");

function skip(context: TestContext, why: string): void {
  console.error(`NOT TESTED: ${context.name}: ${why}`);
  context.skip(why);
}

/** @returns the output of the command, and its exit code */
async function run(
  command: readonly string[],
  options: SpawnOptions = {},
): Promise<{ output: string; code: number | null }> {
  const child = spawn(command[0] as string, command.slice(1), { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const listen = (piece: Buffer): void => {
    output += piece;
  };
  child.stdout?.on("data", listen);
  child.stderr?.on("data", listen);
  const [code] = (await once(child, "close")) as [number | null];
  return { output, code };
}

const server = (dataDir: string, ...flags: string[]): string[] => [
  process.execPath,
  main,
  "--secure-port=0",
  "--data-dir",
  dataDir,
  ...flags,
];
const directory = (name: string, mode = 0o700): string => {
  mkdirSync(join(base, name), { mode });
  return join(base, name);
};

async function check(command: readonly string[], expected: RegExp, options?: SpawnOptions): Promise<void> {
  const { output, code } = await run(command, options);
  assert.match(output, expected);
  assert.equal(output.trimEnd().split("\n").length, 1, output);
  assert.equal(code, 1, output);
}

test("rejects a data directory that cannot be created", async (context) => {
  if (notLinux) return skip(context, notLinux);
  await check(server("/proc/coxswain"), /^Error: the data directory \/proc\/coxswain\/storage cannot be made: ENOENT/);
});

test("rejects a certificate directory that cannot be created", async (context) => {
  if (notLinux) return skip(context, notLinux);
  await check(
    server(join(base, "certificates"), "--cert-dir=/proc/coxswain"),
    /^Error: \/proc\/coxswain cannot be created: no such file or directory\n$/,
  );
});

test("rejects a data directory that is a file", async () => {
  writeFileSync(join(base, "file"), "");
  await check(server(join(base, "file")), /^Error: the data directory .*file\/storage cannot be made: ENOTDIR|EEXIST/);
});

test("rejects a data directory of another user", async (context) => {
  if (notRoot) return skip(context, notRoot);
  const foreign = directory("foreign", 0o755);
  mkdirSync(join(foreign, "storage"), { mode: 0o755 });
  const readable = spawnSync(process.execPath, [main, "--help"], { uid: 65534, stdio: "ignore", cwd: "/" });
  if (readable.status !== 0) return skip(context, "other users cannot read the program here");
  await check(server(foreign), /^Error: the data directory .*foreign\/storage cannot be written to: EACCES/, {
    uid: 65534,
    cwd: "/",
  });
});

test("rejects a file system without locks", async (context) => {
  if (spawnSync("strace", ["-qq", "-o", join(base, "probe"), "true"]).status !== 0)
    return skip(context, skipWithout("strace") || "strace is not permitted here");
  const dataDir = directory("without-locks");
  const lock = ["-P", join(dataDir, "storage", "lock"), "-e", "trace=fcntl", "-e", "inject=fcntl:error=ENOLCK"];
  const expected =
    /^Error: the data directory .* (?:is in use by another server, or is on a file system without locks|cannot be locked)/;
  const { output, code } = await run(["strace", "-f", "-qq", "-o", join(base, "trace"), ...lock, ...server(dataDir)]);
  assert.match(output, expected);
  assert.equal(code, 1);
});

test("reports a limit on address space below what the store reserves", async (context) => {
  if (notLinux) return skip(context, notLinux);
  const limited = ["bash", "-c", 'ulimit -v 12582912; exec "$@"', "bash", ...server(directory("limited"))];
  await check(
    limited,
    /^Error: the store needs 16\.0 GiB of address space, and the limit of this process \(ulimit -v\) leaves \d+\.\d GiB\n$/,
  );
});

test("reports a port that is in use, and an address that is not of this machine", async () => {
  const taken = net.createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as net.AddressInfo;
  const started = server(directory("port"), `--secure-port=${port}`);
  await check(
    started,
    new RegExp(
      `^Error: port ${port} of 127\\.0\\.0\\.1 is taken by ${notLinux === false ? `process ${process.pid} \\(.+\\)` : "another process .*"}: choose another one with --secure-port\n$`,
    ),
  );
  taken.close();
  await check(
    server(join(base, "port"), "--bind-address=192.0.2.1"),
    /^Error: 192\.0\.2\.1 is not an address of this machine: .*--bind-address\n$/,
  );
});
