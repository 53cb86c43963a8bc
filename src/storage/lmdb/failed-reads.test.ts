/**
 * Guarantees when LMDB cannot read a page of an open store: only reads that need the page fail, the
 * health check fails until the same read works, and a watch that needs the page ends.
 */
import assert from "node:assert/strict";
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { suiteOptions } from "../../../test/support/storage-suite.ts";
import { type Storage, StorageUnavailable } from "../contract.ts";
import { dataFile } from "./check-file.ts";
import { openLmdbStorage } from "./lmdb.ts";
import { isLeaf, nodeCount, nodeKeyStart, nodeStart, PageFile, readMeta, readTree, storedValue } from "./page-file.ts";

const base = mkdtempSync(join(tmpdir(), "coxswain-failed-reads-"));
after(() => rmSync(base, { recursive: true, force: true }));
const keys = Array.from({ length: 300 }, (_, number) => `/a/${String(number).padStart(1000, "0")}`);

/** A store whose trees `log` and `current` have branch pages. */
async function newStore(): Promise<{ storage: Storage; path: string }> {
  const dir = mkdtempSync(join(base, "store-"));
  const storage = await openLmdbStorage({ ...suiteOptions, valueBytesMax: 1 << 20, dir, durability: "relaxed" });
  for (const key of keys) await storage.commit([], [{ key, value: Buffer.alloc(10) }]);
  return { storage, path: dataFile(dir) };
}

/**
 * Makes the last entry of a tree's root refer to a page that does not exist.
 * @returns a function that repairs it
 */
function damageRoot(path: string, tree: "log" | "current"): () => void {
  const file = new PageFile(path);
  const metas = [readMeta(file, 0), readMeta(file, 4096)].map((meta) => {
    assert.ok(typeof meta !== "string");
    return meta;
  });
  const { main, pageSize } = metas.reduce((one, other) => (one.transaction > other.transaction ? one : other));
  const trees = file.read((main.root ?? 0) * pageSize, pageSize);
  const index = ["current", "expiry", "log", "meta"].indexOf(tree);
  const node = nodeStart(trees, index) as number;
  assert.equal(trees.toString("latin1", nodeKeyStart(node), nodeKeyStart(node) + tree.length), tree);
  const start = (readTree(storedValue(trees, node)).root ?? 0) * pageSize;
  const root = file.read(start, pageSize);
  file.close();
  assert.ok(!isLeaf(root));
  const at = start + (nodeStart(root, nodeCount(root) - 1) as number);
  const edit = openSync(path, "r+");
  const whole = Buffer.alloc(4);
  readSync(edit, whole, 0, 4, at);
  writeSync(edit, Buffer.from([0xff, 0xff, 0xff, 0]), 0, 4, at);
  return () => {
    writeSync(edit, whole, 0, 4, at);
    closeSync(edit);
  };
}

const reads: [what: string, tree: "log" | "current", read: (storage: Storage) => Promise<unknown>][] = [
  ["a list", "current", (storage) => storage.range("/a/")],
  ["a list", "log", (storage) => storage.range("/a/")],
  ["a list at an older revision", "log", (storage) => storage.range("/a/", { revision: 2 })],
  ["a count that would be zero", "current", (storage) => storage.count(keys.at(-1) as string)],
  ["an exact read", "current", (storage) => getAll(storage)],
  ["an exact read", "log", (storage) => getAll(storage)],
  ["a watch that catches up", "log", (storage) => endOfWatch(storage)],
];

async function getAll(storage: Storage): Promise<void> {
  for (const key of keys) await storage.get(key);
}

/** Rejects when the watch ends with an error. */
function endOfWatch(storage: Storage): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const { close } = storage.log("", storage.compacted(), {
      events() {},
      progress(revision) {
        if (revision <= keys.length) return;
        close();
        resolve(undefined);
      },
      end: reject,
    });
  });
}

for (const [what, tree, read] of reads) {
  test(`${what} that fails in a page of ${tree} fails the health check until it works, and no other read`, async () => {
    const { storage, path } = await newStore();
    const repair = damageRoot(path, tree);
    const first = keys[0] as string;
    try {
      await assert.rejects(read(storage), /MDB_/);
      assert.equal((await storage.get(first))?.key, first, "in the same turn");
      await new Promise(setImmediate);
      assert.equal((await storage.get(first))?.key, first, "in another turn");
      assert.equal((await storage.range("/a/", { limit: 1 })).entries.length, 1);
      await assert.rejects(storage.checkWritable(), StorageUnavailable);
      await assert.rejects(storage.checkWritable(), /the store cannot be read: .*MDB_/);
    } finally {
      repair();
    }
    await storage.checkWritable();
    await read(storage);
    await storage.commit([{ key: "/b", revision: 0 }], [{ key: "/b", value: Buffer.alloc(1) }]);
    await storage.close();
  });
}
