/**
 * Guarantees: a backup taken during writes is one complete revision; any changed byte in it is
 * detected; a restored store continues at higher revisions.
 */
import assert from "node:assert/strict";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { peerLatency } from "../../../../test/support/peer-latency.ts";
import { seed } from "../../../../test/support/seed.ts";
import { seededRandom } from "../../../../test/support/seeded-random.ts";
import { suiteOptions } from "../../../../test/support/storage-suite.ts";
import { until } from "../../../../test/support/until.ts";
import { RevisionCompacted, type StatePin, type Storage, type Write } from "../../contract.ts";
import { openLmdbStorage } from "../lmdb.ts";
import { type NewEntry, writeStore } from "../write-store.ts";
import { startBackup } from "./backup-process.ts";
import { DamagedBackup, readBackup } from "./read-backup.ts";

const base = mkdtempSync(join(tmpdir(), "coxswain-backup-"));
after(() => rmSync(base, { recursive: true, force: true }));
/** Pauses of writers, which write as long as backups take. */
const pauseMsMax = process.env.COXSWAIN_TEST_FULL === "1" ? 0 : 4;
let count = 0;
const place = (): string => join(base, String(count++));
const open = (dir: string): Promise<Storage> => openLmdbStorage({ ...suiteOptions, dir, durability: "relaxed" });

/** No server has the store. */
const unused: StatePin = { isHeld: true, release() {} };

type State = ReadonlyMap<string, string>;

/** Writers that put and delete several keys per commit, and the state at each revision. */
class Writers {
  readonly states = new Map<number, State>();
  readonly #storage: Storage;
  readonly #random: (below: number) => number;
  readonly #newest = new Map<string, string>();
  #stopped = false;

  constructor(storage: Storage, random: (below: number) => number) {
    this.#storage = storage;
    this.#random = random;
    storage.log("", 1, {
      events: (batch) => {
        for (const { type, key, value, revision } of batch) {
          if (type === "put") this.#newest.set(key, `${value}@${revision}`);
          else this.#newest.delete(key);
          this.states.set(revision, new Map(this.#newest));
        }
      },
      progress() {},
      end() {},
    });
  }

  async run(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, (_, writer) => this.#write(writer)));
  }

  stop(): void {
    this.#stopped = true;
  }

  async #write(writer: number): Promise<void> {
    for (let number = 0; !this.#stopped; number++) {
      const keys = new Set(Array.from({ length: 3 }, () => `/k/${writer}/${this.#random(60)}`));
      const value = (): Buffer => Buffer.alloc(10 + this.#random(4) ** 6, String(number));
      const writes = [...keys].map(
        (key): Write => ({
          key,
          value: this.#random(4) === 0 ? null : value(),
          ...(this.#random(9) === 0 && { ttlSeconds: 9999 }),
        }),
      );
      await this.#storage.commit([], writes);
      if (pauseMsMax > 0) await peerLatency(this.#random(pauseMsMax));
    }
  }
}

async function backUp(dir: string, pin: StatePin): Promise<{ file: string; revision: number }> {
  const file = place();
  const descriptor = openSync(file, "wx", 0o600);
  try {
    return { file, revision: (await startBackup(dir, pin, descriptor).finished).revision };
  } finally {
    closeSync(descriptor);
  }
}

function stateIn(file: string): State {
  const state = new Map<string, string>();
  for (const entry of readBackup(file)) {
    if (entry.kind !== "record") continue;
    const { key, value, position } = entry.change;
    assert.ok(!state.has(key));
    state.set(key, `${value}@${Math.floor(position / 128)}`);
  }
  return state;
}

const byKey = (state: State): [string, string][] => [...state].sort(([a], [b]) => (a < b ? -1 : 1));

test(`a backup during writes, and the store restored from it, have the state at its revision (SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  const dir = place();
  const storage = await open(dir);
  const writers = new Writers(storage, random);
  const writing = writers.run(8);
  for (let round = 0; round < 3; round++) {
    const before = await storage.current();
    const { file, revision } = await backUp(dir, storage.pin());
    assert.ok(revision >= before && (await storage.current()) > revision, "others wrote meanwhile");
    const expected = byKey(writers.states.get(revision) as State);
    assert.ok(expected.length > 100);
    assert.deepEqual(byKey(stateIn(file)), expected);
    const restored = place();
    await writeStore({ dir: restored, revision: revision + 1000, entries: entriesOf(file) });
    const second = await open(restored);
    const { entries } = await second.range("");
    assert.deepEqual(
      entries.map((entry) => [entry.key, `${entry.value}@${entry.revision}`]),
      expected,
    );
    await second.close();
  }
  writers.stop();
  await writing;
  const { entries } = await storage.range("");
  assert.deepEqual(
    entries.map((entry): [string, string] => [entry.key, `${entry.value}@${entry.revision}`]),
    byKey(writers.states.get(await storage.current()) as State),
    "writes beside a backup are kept",
  );
  await storage.close();
});

function* entriesOf(file: string): Generator<NewEntry> {
  for (const entry of readBackup(file)) {
    if (entry.kind === "record") yield { put: entry.change };
    else if (entry.kind === "expiry") yield { expiry: entry.expiry };
  }
}

/** A store with a few objects, one of which expires, and its backup. */
async function smallBackup(): Promise<{ file: string; revision: number }> {
  const dir = place();
  const storage = await open(dir);
  for (const key of ["/a", "/b", "/c"])
    await storage.commit([], [{ key, value: Buffer.from(`value of ${key}`), ...(key === "/b" && { ttlSeconds: 60 }) }]);
  await storage.commit([], [{ key: "/a", value: Buffer.from("newer") }]);
  await storage.close();
  return backUp(dir, unused);
}

test("a restored store rejects revisions before its first, and keeps expiries", async () => {
  const { file, revision } = await smallBackup();
  const dir = place();
  await writeStore({ dir, revision: 5000, entries: entriesOf(file) });
  assert.deepEqual(
    ["", "data.mdb"].map((name) => statSync(join(dir, name)).mode & 0o777),
    [0o700, 0o600],
  );
  const storage = await open(dir);
  const subscriber = { events() {}, progress() {}, end() {} };
  for (const old of [1, revision, 4999]) {
    await assert.rejects(storage.get("/a", old), RevisionCompacted);
    await assert.rejects(storage.range("", { revision: old }), RevisionCompacted);
    assert.throws(() => storage.log("", old, subscriber), RevisionCompacted);
  }
  assert.deepEqual([await storage.current(), storage.compacted()], [5000, 5000]);
  const outcome = await storage.commit([{ key: "/a", revision }], [{ key: "/a", value: Buffer.from("newest") }]);
  assert.deepEqual(outcome, { ok: true, revision: 5001 });
  await storage.close();
  const later = await openLmdbStorage({
    ...suiteOptions,
    clock: { ...suiteOptions.clock, now: () => Date.now() + 3_600_000 },
    dir,
    durability: "relaxed",
  });
  await until(async () => (await later.get("/b")) === undefined);
  assert.equal((await later.get("/c"))?.value.toString(), "value of /c");
  await later.close();
});

test("writeStore rejects a directory that exists", async () => {
  const { file } = await smallBackup();
  const dir = place();
  await writeStore({ dir, revision: 5000, entries: entriesOf(file) });
  await assert.rejects(writeStore({ dir, revision: 6000, entries: entriesOf(file) }), /exists already/);
});

test(`detects every changed byte and every truncation (SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  const { file } = await smallBackup();
  const whole = readFileSync(file);
  const changed = place();
  const check = (): void => assert.throws(() => [...readBackup(changed)], DamagedBackup);
  for (let at = 0; at < whole.length; at++) {
    const bytes = Buffer.from(whole);
    bytes[at] = (bytes[at] as number) ^ (1 << random(8));
    if (bytes.equals(whole)) continue;
    writeFileSync(changed, bytes);
    check();
  }
  writeFileSync(changed, whole);
  for (let length = whole.length - 1; length >= 0; length--) {
    truncateSync(changed, length);
    check();
  }
});
