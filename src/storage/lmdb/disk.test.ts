/** What the operating system is asked to do, and what happens when it refuses. Linux only; says so loudly elsewhere. */
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";

const base = mkdtempSync(join(tmpdir(), "coxswain-disk-"));
after(() => rmSync(base, { recursive: true, force: true }));
const program = (name: string): string => join(import.meta.dirname, "../../testing", name);

function isMissing(context: TestContext, command: string, ...args: string[]): boolean {
  const { error, status } = spawnSync(command, args, { stdio: "ignore" });
  if (error === undefined && status === 0) return false;
  console.error(`NOT TESTED: ${context.name}: ${command} is missing or not permitted here`);
  context.skip(`${command} is missing or not permitted here`);
  return true;
}

/** @returns the system calls of a writer, each named when it has ended */
function traceWriter(durability: string): string[] {
  const trace = join(base, `trace-${durability}`);
  const calls = "trace=openat,fdatasync,fsync,msync,pwrite64,pwritev,write";
  const writer = [process.execPath, program("storage-writer.ts"), join(base, durability), "1", "20", durability];
  execFileSync("strace", ["-f", "-qq", "-s", "40", "-e", calls, "-o", trace, ...writer], { stdio: ["ignore", "pipe", "inherit"] });
  return readFileSync(trace, "utf8").split("\n");
}

/** For each acknowledgment, whether data was synced, and after that the root written with O_DSYNC, since the one before. */
function syncedAcknowledgments(lines: readonly string[]): boolean[] {
  const answers: boolean[] = [];
  let rootFile: string | undefined;
  let synced = false;
  let rooted = false;
  for (const line of lines) {
    rootFile = /openat\(.*data\.mdb".*O_DSYNC.* = (\d+)/.exec(line)?.[1] ?? rootFile;
    if (/(fdatasync|fsync|msync)(\(| resumed>).*\) += 0/.test(line)) synced = true;
    else if (synced && rootFile !== undefined && line.includes(`pwrite64(${rootFile},`)) rooted = true;
    else if (line.includes('write(1, "ack ')) {
      answers.push(synced && rooted);
      synced = false;
      rooted = false;
    }
  }
  return answers;
}

test("a commit is synced before it is answered", (context) => {
  if (isMissing(context, "strace", "-qq", "-o", join(base, "probe"), "true")) return;
  assert.deepEqual(syncedAcknowledgments(traceWriter("full")), Array(20).fill(true));
});

test("the check above would notice: relaxed durability does not sync", (context) => {
  if (isMissing(context, "strace", "-qq", "-o", join(base, "probe"), "true")) return;
  assert.deepEqual(syncedAcknowledgments(traceWriter("relaxed")), Array(20).fill(false));
});

test("on a full disk writes are refused, reads go on, and writes work again when there is room", async (context) => {
  if (isMissing(context, "prlimit", "--version")) return;
  const limited = `ulimit -Sf 4096; exec "${process.execPath}" "${program("storage-filler.ts")}" "${join(base, "full-disk")}"`;
  const child = spawn("bash", ["-c", limited], { stdio: ["pipe", "pipe", "inherit"] });
  const told = async (): Promise<unknown> => JSON.parse(String((await once(child.stdout, "data"))[0]));
  const { acknowledged, ...rest } = (await told()) as { acknowledged: number };
  assert.ok(acknowledged > 10);
  assert.deepEqual(rest, { refusals: Array(3).fill("StorageUnavailable"), intact: true });
  execFileSync("prlimit", ["--fsize=unlimited", "--pid", String(child.pid)]);
  child.stdin.write("go\n");
  assert.deepEqual(await told(), { count: acknowledged + 1 });
  await once(child, "exit");
});

test("a sync that fails fails its commits, and no others", (context) => {
  if (isMissing(context, "strace", "-qq", "-o", join(base, "probe"), "true")) return;
  for (const nth of [8, 11]) {
    const trace = ["-f", "-qq", "-e", `inject=fdatasync:error=EIO:when=${nth}..${nth + 2}`, "-e", "trace=fdatasync", "-o", join(base, "probe")];
    // One thread, since strace counts the calls of each for itself; the filler stops after three refusals.
    const { stdout } = spawnSync("strace", [...trace, process.execPath, program("storage-filler.ts"), join(base, `sync-${nth}`)], {
      input: "go\n",
      env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
    });
    const [first, second] = stdout
      .toString()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual([first.refusals, first.intact], [Array(3).fill("StorageUnavailable"), true]);
    assert.equal(second.count, first.acknowledged + 1);
  }
});
