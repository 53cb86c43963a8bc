/**
 * Durability and disk errors, tested with strace, mount and prlimit. Needs Linux; prints
 * `NOT TESTED` elsewhere.
 */
import assert from "node:assert/strict";
import { type ChildProcessByStdio, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { after, type TestContext, test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { StorageUnavailable } from "../contract.ts";
import { valueBytesMaxDefault } from "../options.ts";
import { hasOverrunMemory } from "./file-guard.ts";
import { openLmdbStorage } from "./lmdb.ts";

const base = mkdtempSync(join(tmpdir(), "coxswain-disk-"));
after(() => rmSync(base, { recursive: true, force: true }));
const embedded = {
  clock: manualClock(),
  historyMs: 300_000,
  historyBytesMax: 1 << 30,
  valueBytesMax: valueBytesMaxDefault,
};
const program = (name: string): string => join(import.meta.dirname, "../../../test/support", name);

function isMissing(context: TestContext, command: string, ...args: string[]): boolean {
  const { error, status } = spawnSync(command, args, { stdio: "ignore" });
  if (error === undefined && status === 0) return false;
  console.error(`NOT TESTED: ${context.name}: ${command} is missing or not permitted here`);
  context.skip(`${command} is missing or not permitted here`);
  return true;
}

/** @returns the system calls of a writer, in the order in which they ended */
function traceWriter(durability: string): string[] {
  const trace = join(base, `trace-${durability}`);
  const calls = "trace=openat,fdatasync,fsync,msync,pwrite64,pwritev,write";
  const writer = [process.execPath, program("storage-writer.ts"), join(base, durability), "1", "20", durability];
  execFileSync("strace", ["-f", "-qq", "-s", "40", "-e", calls, "-o", trace, ...writer], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return readFileSync(trace, "utf8").split("\n");
}

/**
 * For each acknowledgment, whether the data was synced, and then the root written with O_DSYNC,
 * since the previous acknowledgment.
 */
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

test("syncs a commit before acknowledging it", (context) => {
  if (isMissing(context, "strace", "-qq", "-o", join(base, "probe"), "true")) return;
  assert.deepEqual(syncedAcknowledgments(traceWriter("full")), Array(20).fill(true));
});

test("relaxed durability does not sync, which the check above detects", (context) => {
  if (isMissing(context, "strace", "-qq", "-o", join(base, "probe"), "true")) return;
  assert.deepEqual(syncedAcknowledgments(traceWriter("relaxed")), Array(20).fill(false));
});

/** Waits until writes of the filler fail, removes the fault, and waits until it writes again. */
async function fillUntilFull(
  child: ChildProcessByStdio<Writable, Readable, null>,
  makeRoom: () => void,
): Promise<void> {
  const report = async (): Promise<unknown> => JSON.parse(String((await once(child.stdout, "data"))[0]));
  const { acknowledged, ...rest } = (await report()) as { acknowledged: number };
  assert.ok(acknowledged > 10);
  assert.deepEqual(rest, { errors: Array(3).fill("StorageUnavailable"), intact: true });
  makeRoom();
  child.stdin.write("go\n");
  assert.deepEqual(await report(), { count: acknowledged + 1 });
  await once(child, "exit");
}

test("at a file size limit writes fail and reads work, and writes work again when it is raised", async (context) => {
  if (isMissing(context, "prlimit", "--version")) return;
  const limited = `ulimit -Sf 4096; exec "${process.execPath}" "${program("storage-filler.ts")}" "${join(base, "limited")}"`;
  const child = spawn("bash", ["-c", limited], { stdio: ["pipe", "pipe", "inherit"] });
  await fillUntilFull(child, () => execFileSync("prlimit", ["--fsize=unlimited", "--pid", String(child.pid)]));
});

test("on a full disk writes fail and reads work, and writes work again when there is space", async (context) => {
  const disk = join(base, "full-disk");
  mkdirSync(disk);
  if (isMissing(context, "mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk)) return;
  try {
    const child = spawn(process.execPath, [program("storage-filler.ts"), join(disk, "storage")], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    await fillUntilFull(child, () => execFileSync("mount", ["-o", "remount,size=16m", disk]));
  } finally {
    execFileSync("umount", ["-l", disk]);
  }
});

test("on a full disk, small writes work after objects were deleted, and the check of writes fails meanwhile", async (context) => {
  const disk = join(base, "freed");
  mkdirSync(disk);
  if (isMissing(context, "mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk)) return;
  const dir = join(disk, "storage");
  const storage = await openLmdbStorage({ ...embedded, dir, durability: "full" });
  const large = (key: string) => [{ key, value: Buffer.alloc(100_000, "x") }];
  try {
    let count = 0;
    const fill = async (): Promise<void> => {
      for (; ; count++) await storage.commit([], large(`/k/${count}`));
    };
    await assert.rejects(fill(), StorageUnavailable);
    assert.ok(count > 10);
    await assert.rejects(storage.checkWritable(), StorageUnavailable);
    for (let deleted = 0; deleted < count - 5; deleted++)
      await storage.commit([], [{ key: `/k/${deleted}`, value: null }]);
    await assert.rejects(storage.checkWritable(), StorageUnavailable, "their history is not compacted");
    await storage.compact(await storage.current());
    for (let small = 0; small < 100; small++) await storage.commit([], put(`/small/${small}`));
    await storage.checkWritable();
    assert.equal(await storage.count("/"), 105);
    await assert.rejects(fill(), StorageUnavailable, "the free pages have an end");
    await assert.rejects(storage.checkWritable(), StorageUnavailable);
    await storage.commit([], put("/small/after"));
    await storage.checkWritable();
  } finally {
    await storage.close();
    execFileSync("umount", ["-l", disk]);
  }
});

test("opens and closes a store where no file can be written, with warnings, and locks its directory", async (context) => {
  if (isMissing(context, "bash", "-c", "ulimit -f 0")) return;
  const dir = join(base, "unwritable");
  const storage = await openLmdbStorage({ ...embedded, dir, durability: "full" });
  await storage.commit([], put("/a"));
  await storage.close();
  const opener = [process.execPath, program("storage-opener.ts"), dir];
  const { stdout, stderr } = spawnSync("bash", ["-c", 'ulimit -f 0; exec "$@"', "bash", ...opener]);
  const warnings = [
    "Could not note that the store is in use",
    "Could not note that the store is in use",
    "Could not note that the store was closed",
  ];
  assert.deepEqual([stdout.toString(), stderr.toString()], [`${JSON.stringify({ count: 1, warnings })}\n`, ""]);
  assert.deepEqual(readdirSync(dir).sort(), ["data.mdb", "lock", "lock.mdb"]);
});

const injections: [fault: string, inject: string, failures: number][] = [
  // Three pages at a low position: lmdb-js's error text fits into its buffer.
  ["a write of pages that fails", "writev:error=EIO:when=9", 1],
  ["a sync that fails", "fdatasync:error=EIO:when=8..10", 3],
  ["another sync that fails", "fdatasync:error=EIO:when=11..13", 3],
  ["a file system that has become read-only", "access:error=EROFS:when=8..10", 3],
  ["a failed write of the root", "pwrite64:error=EIO:when=10", 1],
];
for (const [fault, inject, failures] of injections) {
  test(`${fault} fails only the commits that it affects`, (context) => {
    if (isMissing(context, "strace", "-qq", "-o", join(base, "probe"), "true")) return;
    const call = inject.slice(0, inject.indexOf(":"));
    const dir = join(base, inject);
    const trace = [
      "-f",
      "-qq",
      "-e",
      `inject=${inject}`,
      "-e",
      `trace=${call}`,
      "-P",
      join(dir, "data.mdb"),
      "-o",
      `${dir}.trace`,
    ];
    // One thread, because strace counts the calls of each thread separately.
    const { stdout } = spawnSync(
      "strace",
      [...trace, process.execPath, program("storage-filler.ts"), dir, String(failures)],
      {
        input: "go\n",
        env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
      },
    );
    assert.match(readFileSync(`${dir}.trace`, "utf8"), /INJECTED/);
    const [first, second] = stdout
      .toString()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual([first.errors, first.intact], [Array(failures).fill("StorageUnavailable"), true]);
    assert.equal(second.count, first.acknowledged + 1);
  });
}

const page = "Error: Input/output error: Attempting to write page at position";
const descriptions: [text: string, overrun: boolean][] = [
  ["Error: Input/output error", false],
  [`${page} 8192, size 4096, blocks 1, buffer sizes 4096 -83908688 -83909344`, false],
  [`${page} 2424832, size 102400, blocks 1, buffer sizes 102400 4096 738190624`, false],
  [`${page} 12424832, size 102400, blocks 1, buffer sizes 102400 4096 738190624`, true],
  [`${page} 4242483200, size 4096, blocks 1, buffer sizes 4096 -2147483648 -2147483648`, true],
];
test("detects from the error text of a failed write whether it has overrun its buffer", () => {
  for (const [text, overrun] of descriptions) assert.equal(hasOverrunMemory(text), overrun, text);
});

const put = (key: string) => [{ key, value: Buffer.from("x") }];
const removals: [what: string, remove: (dataDir: string) => () => void][] = [
  ["the data directory is renamed", (dataDir) => moved(dataDir, `${dataDir}-moved`)],
  ["the storage directory is renamed", (dataDir) => moved(join(dataDir, "storage"), join(dataDir, "moved"))],
  ["the file is replaced by a copy", (dataDir) => replaced(join(dataDir, "storage", "data.mdb"))],
];

function moved(from: string, to: string): () => void {
  renameSync(from, to);
  return () => renameSync(to, from);
}

function replaced(file: string): () => void {
  renameSync(file, `${file}-moved`);
  copyFileSync(`${file}-moved`, file);
  return () => renameSync(`${file}-moved`, file);
}

for (const [index, [what, remove]] of removals.entries()) {
  test(`when ${what}, writes fail and reads work, and writes work again when it is restored`, async () => {
    const dataDir = join(base, `removed-${index}`);
    const dir = join(dataDir, "storage");
    mkdirSync(dataDir);
    const options = {
      clock: manualClock(),
      historyMs: 300_000,
      historyBytesMax: 1 << 30,
      valueBytesMax: valueBytesMaxDefault,
      dir,
    };
    const storage = await openLmdbStorage({ ...options, durability: "full" });
    await storage.commit([], put("/a"));
    const restore = remove(dataDir);
    for (let attempt = 0; attempt < 2; attempt++) {
      await assert.rejects(storage.commit([], put("/b")), StorageUnavailable);
      await assert.rejects(storage.checkWritable(), StorageUnavailable);
    }
    assert.deepEqual(
      [(await storage.get("/a"))?.value.toString(), await storage.count("/"), existsSync(dir)],
      ["x", 1, index === 2],
    );
    restore();
    await storage.checkWritable();
    await storage.commit([], put("/b"));
    await storage.close();
    const again = await openLmdbStorage({ ...options, durability: "full" });
    assert.equal(await again.count("/"), 2);
    await again.close();
  });
}

test("releases the lock when closing the store fails", async () => {
  const dir = join(base, "end");
  const marker = join(dir, "in-use");
  const options = {
    clock: manualClock(),
    historyMs: 300_000,
    historyBytesMax: 1 << 30,
    valueBytesMax: valueBytesMaxDefault,
    dir,
  };
  const storage = await openLmdbStorage({ ...options, durability: "relaxed" });
  rmSync(marker);
  mkdirSync(marker); // Cannot be removed as a file, as on a read-only file system.
  await assert.rejects(storage.close(), /in-use/);
  rmSync(marker, { recursive: true });
  await (await openLmdbStorage({ ...options, durability: "relaxed" })).close();
});
