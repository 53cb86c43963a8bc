/** The part of the storage contract that compares random operations with a model. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { passTurns } from "../../test/support/pass-turns.ts";
import { seed } from "../../test/support/seed.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { ignored, type Open, put, remove, suiteOptions, turn } from "../../test/support/storage-suite.ts";
import {
  type Check,
  type DerivedWrite,
  RevisionCompacted,
  type Storage,
  StorageUnavailable,
  type Subscription,
  type Write,
} from "./contract.ts";
import type { StorageFaults, StorageOptions } from "./options.ts";

const stepsMax = process.env.COXSWAIN_TEST_FULL === "1" ? 5000 : 300;

/** The state at each revision; the last one is current. */
class Model {
  readonly states: ReadonlyMap<string, { value: string; revision: number }>[] = [new Map(), new Map()];

  get revision(): number {
    return this.states.length - 1;
  }

  get latest(): ReadonlyMap<string, { value: string; revision: number }> {
    return this.states[this.revision] as ReadonlyMap<string, { value: string; revision: number }>;
  }

  conflicts(checks: readonly Check[]): boolean {
    return checks.some(({ key, revision }) => (this.latest.get(key)?.revision ?? 0) !== revision);
  }

  /** @returns the revision */
  apply(writes: readonly Write[]): number {
    if (!writes.some(({ key, value }) => value !== null || this.latest.has(key))) return this.revision;
    const next = new Map(this.latest);
    for (const { key, value } of writes) {
      if (value === null) next.delete(key);
      else next.set(key, { value: value.toString(), revision: this.states.length });
    }
    this.states.push(next);
    return this.revision;
  }

  entries(prefix: string, revision: number, after: string | undefined): [string, string, number][] {
    return [...(this.states[revision] as Model["latest"])]
      .filter(([key]) => key.startsWith(prefix) && (after === undefined || key > after))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, state]) => [key, state.value, state.revision]);
  }
}

/**
 * Registers the test of random operations, one after another.
 * @param open opens an empty store
 */
export function randomOperations(open: Open): void {
  test(`random operations agree with a model (SEED=${seed})`, async () => {
    const random = seededRandom(seed);
    const options: StorageOptions = { ...suiteOptions, historyBytesMax: random(2) === 0 ? 1 << 30 : 5000 };
    let { storage, reopen } = await open(options);
    const model = new Model();
    const keyOf = (): string => `/${"pq"[random(2)]}/${random(12)}`;
    const operations: (() => Promise<void>)[] = [
      async function commit() {
        const keys = [...new Set(Array.from({ length: random(4) }, keyOf))];
        const checks = keys
          .filter(() => random(2) === 0)
          .map((key) => ({ key, revision: (model.latest.get(key)?.revision ?? 0) + Number(random(8) === 0) }));
        const writes = keys.map((key) => (random(3) === 0 ? remove(key) : put(key, `v${random(1000)}`)));
        const outcome = await storage.commit(checks, writes);
        if (model.conflicts(checks))
          assert.ok(!outcome.ok && outcome.current?.revision === model.latest.get(outcome.key)?.revision);
        else assert.deepEqual(outcome, { ok: true, revision: model.apply(writes) });
      },
      async function range() {
        const oldest = Math.max(1, storage.compacted());
        const revision = random(3) === 0 ? model.revision : oldest + random(model.revision - oldest + 1);
        const after = random(3) === 0 ? keyOf() : undefined;
        const limit = random(2) === 0 ? 1 + random(10) : undefined;
        const prefix = ["/p/", "/q/", ""][random(3)] as string;
        const found = await storage.range(prefix, { revision, after, limit });
        const want = model.entries(prefix, revision, after);
        assert.deepEqual(
          found.entries.map(({ key, value, revision: at }) => [key, value.toString(), at]),
          want.slice(0, limit),
        );
        assert.deepEqual([found.revision, found.more], [revision, want.length > (limit ?? want.length)]);
        assert.equal(await storage.count(prefix), model.entries(prefix, model.revision, undefined).length);
      },
      async function get() {
        const oldest = Math.max(1, storage.compacted());
        const revision = random(2) === 0 ? undefined : oldest + random(model.revision - oldest + 1);
        const key = keyOf();
        const want = model.states[revision ?? model.revision]?.get(key);
        const found = await storage.get(key, revision);
        assert.deepEqual([found?.value.toString(), found?.revision], [want?.value, want?.revision]);
      },
      async function compact() {
        if (random(4) === 0) await storage.compact(Math.max(1, model.revision - random(20)));
      },
      async function log() {
        const from = Math.max(1, storage.compacted(), model.revision - random(30));
        const state = new Map(model.states[from]);
        const { promise, resolve, reject } = Promise.withResolvers<"compacted" | undefined>();
        const subscription: Subscription = storage.log("", from, {
          events(batch) {
            for (const { type, key, value, revision, previous, previousRevision } of batch) {
              assert.deepEqual(
                [previous?.().value.toString(), previousRevision],
                [state.get(key)?.value, state.get(key)?.revision ?? 0],
              );
              if (type === "delete") state.delete(key);
              else state.set(key, { value: value.toString(), revision });
            }
          },
          progress: (revision) => void (revision === model.revision && resolve(undefined)),
          // The store may compact what is too large between the subscription and its first events.
          end: (error) =>
            error instanceof RevisionCompacted && error.compactedRevision > from
              ? resolve("compacted")
              : reject(error ?? new Error("closed")),
        });
        if ((await promise) === "compacted") return;
        subscription.close();
        assert.deepEqual([...state].sort(), [...model.latest].sort());
      },
      async function reopened() {
        if (random(8) === 0 && reopen !== undefined) storage = await reopen(options);
      },
    ];
    for (let step = 0; step < stepsMax; step++) {
      const operation = operations[Math.max(0, random(9) - 3)] as (typeof operations)[number];
      await operation().catch((error: unknown) => {
        throw new Error(`step ${step}: ${operation.name}`, { cause: error });
      });
    }
    await storage.close();
  });
}

/**
 * Registers the test of concurrent writers and readers. Guarantees: a counter equals the number of
 * acknowledged commits; the log has each of them once, in order; derived counters equal the number of
 * commits that count in them, in every visible state, and the log gives the current state.
 * @param open opens an empty store
 */
export function randomConcurrency(open: Open): void {
  test(`acknowledged commits, and no others, are stored (SEED=${seed})`, async () =>
    writeAndRead((await open(suiteOptions)).storage, seededRandom(seed)));
}

/**
 * Registers the same test while every fifth write fails. A failed commit leaves no trace.
 * @param open opens an empty store of an embedded engine
 */
export function randomFailures(open: Open): void {
  test(`acknowledged commits, and no others, are stored while writes fail at random (SEED=${seed})`, async () => {
    const random = seededRandom(seed);
    const faults: StorageFaults = {
      beforeWrite() {
        if (random(5) === 0) throw new Error("input/output error");
      },
    };
    await writeAndRead((await open({ ...suiteOptions, faults })).storage, random);
  });
}

async function writeAndRead(storage: Storage, random: (below: number) => number): Promise<void> {
  const acknowledged = new Map<string, number>();
  const seen: string[] = [];
  storage.log("/n/", 1, {
    ...ignored,
    events: (batch) => void seen.push(...batch.map(({ key, value, revision }) => `${key}=${value}@${revision}`)),
  });
  const answered: string[] = [];
  const counter = (name: string): DerivedWrite => ({
    key: `/t/${name}`,
    derive: (newest) => ({ value: Buffer.from(String(Number(newest?.value ?? 0) + 1)) }),
  });
  const counters = (next: number): DerivedWrite[] => (next % 3 === 0 ? ["a", "b"] : ["a"]).map(counter);
  const increment = async (key: string): Promise<void> => {
    const current = await storage.get(key);
    const next = Number(current?.value.toString() ?? 0) + 1;
    try {
      const outcome = await storage.commit(
        [{ key, revision: current?.revision ?? 0 }],
        [put(key, String(next)), put(`/log${key}/${next}`, ""), ...counters(next)],
      );
      if (!outcome.ok) return;
      acknowledged.set(key, (acknowledged.get(key) ?? 0) + 1);
      answered.push(`${key}=${next}@${outcome.revision}`);
    } catch (error) {
      assert.ok(error instanceof StorageUnavailable);
    }
  };
  const writer = async (): Promise<void> => {
    for (let step = 0; step < stepsMax / 10; step++) {
      await increment(`/n/${random(3)}`);
      await passTurns(random(3));
    }
  };
  const reader = async (): Promise<void> => {
    for (let step = 0; step < stepsMax / 20; step++) {
      const { entries } = await storage.range("/n/");
      for (const { key, value } of entries)
        assert.equal((await storage.count(`/log${key}/`)) >= Number(value.toString()), true);
      const values = new Map((await storage.range("/")).entries.map(({ key, value }) => [key, Number(value)]));
      const counts = [...values].filter(([key]) => key.startsWith("/n/")).map(([, count]) => count);
      assert.equal(values.get("/t/a") ?? 0, sum(counts));
      assert.equal(values.get("/t/b") ?? 0, sum(counts.map((count) => Math.floor(count / 3))));
      await turn();
    }
  };
  await Promise.all([...Array.from({ length: 8 }, writer), reader()]);
  for (const [key, count] of acknowledged) {
    assert.equal((await storage.get(key))?.value.toString(), String(count));
    assert.equal(await storage.count(`/log${key}/`), count);
  }
  assert.deepEqual(seen, inOrder(answered));
  const current = await storage.current();
  const replayed = new Map<string, string>();
  await new Promise<void>((resolve, reject) =>
    storage.log("", 1, {
      events(batch) {
        for (const { key, value, revision, previousRevision } of batch) {
          assert.equal(String(previousRevision), replayed.get(key)?.split("@")[1] ?? "0");
          replayed.set(key, `${value}@${revision}`);
        }
      },
      progress: (revision) => void (revision === current && resolve()),
      end: reject,
    }),
  );
  const stored = (await storage.range("")).entries.map(({ key, value, revision }) => [key, `${value}@${revision}`]);
  assert.deepEqual([...replayed].sort(), stored.sort());
  await storage.close();
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Sorts `key=value@revision` by revision: the order in which a shared store answers is not that of its log. */
function inOrder(answered: readonly string[]): string[] {
  const revisionOf = (text: string): number => Number(text.split("@")[1]);
  return answered.toSorted((a, b) => revisionOf(a) - revisionOf(b));
}
