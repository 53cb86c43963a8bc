/**
 * Guarantees: a damaged record is reported and never returned as a value; other keys are read and
 * written as before.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { crc32 } from "node:zlib";
import { suiteOptions } from "../../../test/support/storage-suite.ts";
import { DamagedStore, HistoryDamaged, type LogEvent, type Storage } from "../contract.ts";
import { positionOf } from "../embedded/ledger.ts";
import type { StorageDamage } from "../options.ts";
import { closingChecksum } from "./check-file.ts";
import { readInUse } from "./in-use.ts";
import { openLmdbStorage } from "./lmdb.ts";
import { type Maps, openMaps } from "./maps.ts";

const base = mkdtempSync(join(tmpdir(), "coxswain-damage-"));
const opened: Storage[] = [];
after(async () => {
  for (const storage of opened) await storage.close();
});
after(() => rmSync(base, { recursive: true, force: true }));
let count = 0;

/**
 * Creates a store with /p/a, /p/b and /p/c at revision 2, /p/b again at 3, /q/d with a time to live
 * at 4, and damages it.
 */
async function damagedStore(damage: (maps: Maps) => unknown): Promise<string> {
  const dir = join(base, String(count++));
  const storage = await openLmdbStorage({ ...suiteOptions, dir, durability: "relaxed" });
  const put = (key: string, text: string, ttlSeconds?: number) => ({
    key,
    value: Buffer.from(text),
    ...(ttlSeconds && { ttlSeconds }),
  });
  await storage.commit([], [put("/p/a", "a2"), put("/p/b", "b2"), put("/p/c", "c2")]);
  await storage.commit([], [put("/p/b", "b3")]);
  await storage.commit([], [put("/q/d", "d4", 1000)]);
  await storage.close();
  const maps = await openMaps({ dir, durability: "relaxed" });
  await damage(maps);
  await maps.root.close();
  return dir;
}

/** Damages a store that is open, so that the check before opening does not find it. */
async function damageOpened(dir: string, damage: (maps: Maps) => unknown): Promise<void> {
  const maps = await openMaps({ dir, durability: "relaxed" });
  await damage(maps);
  maps.root.resetReadTxn();
}

async function open(dir: string): Promise<{ storage: Storage; found: StorageDamage[] }> {
  const found: StorageDamage[] = [];
  const storage = await openLmdbStorage({
    ...suiteOptions,
    dir,
    durability: "relaxed",
    onDamage: (damage) => found.push(damage),
  });
  opened.push(storage);
  return { storage, found };
}

/** Edits the bytes of the value at the key. */
const change =
  <Key extends string | number | [number, number]>(
    map: (maps: Maps) => Maps["current"] | Maps["log"] | Maps["expiry"],
    key: Key,
    edit: (bytes: Buffer) => void,
  ) =>
  (maps: Maps): Promise<unknown> => {
    const values = map(maps) as unknown as {
      getBinary(key: Key): Buffer;
      put(key: Key, value: Buffer): Promise<unknown>;
    };
    const bytes = Buffer.from(values.getBinary(key));
    edit(bytes);
    return values.put(key, bytes);
  };
const log = (maps: Maps) => maps.log;
const current = (maps: Maps) => maps.current;
const flipLast = (bytes: Buffer): void =>
  void bytes.writeUInt8(bytes.readUInt8(bytes.length - 6) ^ 1, bytes.length - 6);

interface Row {
  readonly what: string;
  readonly damage: (maps: Maps) => Promise<unknown>;
  readonly key: string;
  readonly problem: string;
  readonly revision: number;
}

const rows: Row[] = [
  {
    what: "a value",
    damage: change(log, positionOf(2, 0), flipLast),
    key: "/p/a",
    problem: "the checksum does not match",
    revision: 2,
  },
  {
    what: "a header",
    damage: change(log, positionOf(2, 2), (bytes) => void bytes.fill(0, 0, 40)),
    key: "/p/c",
    problem: "the bytes are not those of a record",
    revision: 2,
  },
  {
    what: "a missing record",
    damage: (maps) => maps.log.remove(positionOf(3, 0)),
    key: "/p/b",
    problem: "its record is missing",
    revision: 3,
  },
  {
    what: "swapped records",
    damage: async (maps) => maps.log.put(positionOf(2, 0), Buffer.from(maps.log.getBinary(positionOf(2, 2)) as Buffer)),
    key: "/p/a",
    problem: "the checksum does not match",
    revision: 2,
  },
  {
    what: "a position of an older value",
    damage: change(current, "/p/b", (bytes) => void bytes.writeUInt32BE(positionOf(2, 1), 4)),
    key: "/p/b",
    problem: "the position of its record is damaged",
    revision: -1,
  },
  {
    what: "the position of another key",
    damage: async (maps) => maps.current.put("/p/b", Buffer.from(maps.current.getBinary("/p/a") as Buffer)),
    key: "/p/b",
    problem: "the position of its record is damaged",
    revision: -1,
  },
  {
    what: "a position cut off",
    damage: (maps) => maps.current.put("/p/c", Buffer.alloc(5)),
    key: "/p/c",
    problem: "the position of its record is damaged",
    revision: -1,
  },
];

for (const { what, damage, key, problem, revision } of rows) {
  test(`${what}: reports the key, reads the others, and allows to delete and write it again`, async () => {
    const dir = await damagedStore(() => {});
    const { storage, found } = await open(dir);
    await damageOpened(dir, damage);
    const { entries } = await storage.range("/p/");
    assert.deepEqual(
      entries.map((entry) =>
        entry.damage === undefined
          ? `${entry.key} ${entry.value}@${entry.revision}`
          : `${entry.key} ${entry.damage} ${entry.value}`,
      ),
      ["/p/a a2@2", "/p/b b3@3", "/p/c c2@2"].map((line) => (line.startsWith(key) ? `${key} ${problem} ` : line)),
    );
    assert.deepEqual(found, [{ key, revision, problem }]);
    const damaged = await storage.get(key);
    assert.deepEqual([damaged?.damage, damaged?.revision, damaged?.value.length], [problem, revision, 0]);

    const seen: LogEvent[] = [];
    const live = storage.log("/", 4, { events: (batch) => void seen.push(...batch), progress() {}, end() {} });
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(await storage.commit([{ key, revision: 0 }], [{ key, value: null }]), {
      ok: false,
      key,
      current: damaged,
    });
    assert.ok((await storage.commit([{ key, revision }], [{ key, value: null }])).ok);
    assert.ok((await storage.commit([{ key, revision: 0 }], [{ key, value: Buffer.from("new") }])).ok);
    assert.equal((await storage.get(key))?.value.toString(), "new");
    assert.deepEqual(
      seen.map(({ type, value, damage: why }) => `${type} ${value} ${why}`),
      [`delete  ${problem}`, "put new undefined"],
    );
    live.close();
    await storage.compact(await storage.current());
    const others = (await storage.range("/p/")).entries.map((entry) => String(entry.value));
    assert.deepEqual(
      others,
      ["a2", "b3", "c2"].map((text) => (key.endsWith(text.charAt(0)) ? "new" : text)),
    );
  });
}

test("a start finds a position that was damaged before the store was closed", async () => {
  const dir = await damagedStore(() => {});
  const { storage } = await open(dir);
  const ofOlderValue = (bytes: Buffer): void => void bytes.writeUInt32BE(positionOf(2, 1), 4);
  await damageOpened(dir, change(current, "/p/b", ofOlderValue));
  await storage.close();
  // The closing checksum includes the damage, so it is no proof of the position.
  assert.deepEqual(readInUse(dir), { closedAs: closingChecksum(dir) });
  const reopened = await open(dir);
  assert.equal((await reopened.storage.get("/p/b"))?.damage, "the position of its record is damaged");
});

const historyRows: [what: string, damage: (maps: Maps) => Promise<unknown>, revision: number][] = [
  ["a damaged change", change(log, positionOf(2, 1), flipLast), 2],
  ["a missing change within a commit", (maps) => maps.log.remove(positionOf(2, 1)), 2],
  ["a missing last change of a commit", (maps) => maps.log.remove(positionOf(2, 2)), 2],
  ["a missing commit", (maps) => maps.log.remove(positionOf(3, 0)), 3],
  ["a missing newest commit", (maps) => maps.log.remove(positionOf(4, 0)), 4],
];

for (const [what, damage, revision] of historyRows) {
  test(`reads of history with ${what} fail with HistoryDamaged, and it can be compacted`, async () => {
    const { storage, found } = await open(await damagedStore(damage));
    const seen: string[] = [];
    const ended = new Promise<unknown>((resolve) =>
      storage.log("/p/", 1, {
        events: (batch) => void seen.push(...batch.map(({ key }) => key)),
        progress() {},
        end: resolve,
      }),
    );
    assert.ok((await ended) instanceof HistoryDamaged);
    assert.deepEqual(seen, []);
    await assert.rejects(storage.get("/p/a", 1), HistoryDamaged);
    assert.equal(found[0]?.revision, revision);
    await storage.compact(4);
    assert.equal(storage.compacted(), 4);
  });
}

test("reports a damaged expiry", async () => {
  const { storage, found } = await open(
    await damagedStore(async (maps) => {
      const [{ key, value }] = [...maps.expiry.getRange({ limit: 1 })] as [{ key: [number, number]; value: Buffer }];
      await maps.expiry.remove(key);
      await maps.expiry.put([1, key[1]], Buffer.from(value));
    }),
  );
  assert.deepEqual(found, [
    { key: undefined, revision: 4, problem: "a time at which a key expires is damaged: the key does not expire" },
  ]);
  assert.equal((await storage.get("/q/d"))?.value.toString(), "d4");
});

test("does not open a store with damaged marks", async () => {
  for (const [edit, expected] of [
    [(bytes: Buffer) => void bytes.writeUInt8(7, 9), /damaged: the checksum of the marks does not match/],
    [(bytes: Buffer) => void bytes.fill(0), /damaged: the checksum of the marks does not match/],
  ] as const) {
    const dir = await damagedStore(change((maps) => maps.meta as unknown as Maps["current"], "marks", edit));
    await assert.rejects(open(dir), (error) => error instanceof DamagedStore && expected.test(error.message));
  }
});

/** A record of format 1. */
function uncheckedRecord(key: string, text: string): Buffer {
  const header = Buffer.alloc(40);
  header[0] = 1;
  header.writeUInt16LE(key.length, 2);
  return Buffer.concat([header, Buffer.from(key + text)]);
}

test("reads a store of format 1, and writes new entries with checks", async () => {
  const dir = join(base, String(count++));
  await (await openLmdbStorage({ ...suiteOptions, dir, durability: "relaxed" })).close();
  const old = await openMaps({ dir, durability: "relaxed" });
  const position = Buffer.alloc(8);
  position.writeUInt32BE(positionOf(2, 0), 4);
  const marks = Buffer.alloc(32);
  for (const [index, number] of [1, 2, 0, 0].entries()) marks.writeDoubleLE(number, index * 8);
  await old.root.transaction(() => {
    old.log.put(positionOf(2, 0), uncheckedRecord("/a", "old"));
    old.current.put("/a", position);
    old.expiry.put([suiteOptions.clock.now() + 1e9, positionOf(2, 0)], Buffer.from("/a"));
    old.meta.put("marks", marks);
  });
  await old.root.close();

  const { storage, found } = await open(dir);
  assert.equal((await storage.get("/a"))?.value.toString(), "old");
  await storage.commit([], [{ key: "/b", value: Buffer.from("new") }]);
  await storage.close();
  const maps = await openMaps({ dir, durability: "relaxed" });
  assert.deepEqual([maps.marks.revision, maps.marks.uncheckedUntil], [3, 2]);
  const moved = Buffer.from(position);
  moved.writeUInt32BE(positionOf(3, 0), 4);
  await maps.current.put("/b", moved);
  await maps.root.close();

  const second = await open(dir);
  const { entries } = await second.storage.range("/");
  assert.deepEqual(
    entries.map(({ key, value, damage }) => [key, String(value), damage]),
    [
      ["/a", "old", undefined],
      ["/b", "", "the position of its record is damaged"],
    ],
  );
  assert.deepEqual(found, []);
});

test("does not open the store of a newer server", async () => {
  const newer = Buffer.alloc(20);
  newer.writeDoubleLE(3, 0);
  newer.writeUInt32LE(crc32(newer.subarray(0, 16)), 16);
  const dir = await damagedStore((maps) => maps.meta.put("marks", newer));
  await assert.rejects(
    open(dir),
    new Error(`the store in ${dir} has format 3, that of a newer server; this one reads formats up to 2`),
  );
});
