/**
 * Lists, exact states and watches over a small store whose history expires during reads, compared
 * with a log of all commits. The seed decides the order of events: the latency of the disk and of
 * the notification, the order of tasks, compactions, the start of a cache, and the speed of
 * readers. Guarantees of each cache:
 * - a list is the state at its resourceVersion; all its chunks have one version, which is the exact
 *   version requested or at least the latest acknowledged;
 * - a watch that is interrupted and resumed receives every change after its version once and in
 *   order, each with the previous state;
 * - a version answers 410 only after it was compacted.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import { passTurns } from "../../test/support/pass-turns.ts";
import { seed } from "../../test/support/seed.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { ApiError } from "../apimachinery/errors.ts";
import type { Resource } from "../catalog/contract.ts";
import { type ListOptions, parseListOptions } from "../request/list-options.ts";
import type { Storage, Write } from "../storage/contract.ts";
import { openEmbeddedStorage } from "../storage/embedded/embedded-storage.ts";
import type { LedgerGroup } from "../storage/embedded/ledger.ts";
import { MemoryLedger } from "../storage/embedded/memory-ledger.ts";
import type { CacheEvent, CacheSubscription, Entry, WatchCache } from "../watch-cache/contract.ts";
import { type EntrySource, makeEntry } from "../watch-cache/entry.ts";
import { openWatchCache } from "../watch-cache/watch-cache.ts";
import { listEntries } from "./list.ts";

const runs = process.env.COXSWAIN_TEST_FULL === "1" ? 400 : 12;
/** The state of one run. */
const commitsMax = 250;

const prefix = "/registry/things/";
const head = '{"kind":"Thing","apiVersion":"v1",';
const seal = { fingerprint: 1, itemOffset: head.length, versionOffset: head.length + '"metadata":{'.length };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

type Random = (below: number) => number;

async function turns(count: number): Promise<void> {
  await passTurns(count);
}

/**
 * A ledger with delays: before it writes, and before it acknowledges. Dropped history cannot be
 * read.
 */
class SlowLedger extends MemoryLedger {
  readonly #random: Random;

  constructor(random: Random) {
    super();
    this.#random = random;
  }

  override async write(group: LedgerGroup): Promise<void> {
    await turns(this.#random(4));
    if (this.#random(40) === 0) throw new Error("input/output error");
    await super.write(group);
    await turns(this.#random(3));
  }
}

const show = ({ key, revision, index }: Entry): string =>
  `${key.slice(prefix.length)}@${revision}=${index.labels.get("l")}`;

function showEvent({ type, revision, entry, previous }: CacheEvent): string {
  return `${revision} ${type} ${show(entry)}${previous === undefined ? "" : ` was ${show(previous)}`}`;
}

/** The log of commits, and the state after each. */
class Truth {
  readonly events: { readonly revision: number; readonly text: string }[] = [];
  readonly #changes: { readonly revision: number; readonly key: string; readonly text: string | undefined }[] = [];

  constructor(storage: Storage) {
    const state = new Map<string, string>();
    storage.log(prefix, 1, {
      events: (batch) => {
        for (const { type, key, revision, value } of batch) {
          const name = key.slice(prefix.length);
          const was = state.get(name);
          const text = `${name}@${revision}=${/"l":"(\d+)"/.exec(value.toString())?.[1]}`;
          const before = was === undefined ? "" : ` was ${was}`;
          this.events.push({
            revision,
            text: `${revision} ${type === "delete" ? "DELETED" : was === undefined ? "ADDED" : "MODIFIED"} ${text}${before}`,
          });
          this.#changes.push({ revision, key: name, text: type === "delete" ? undefined : text });
          if (type === "delete") state.delete(name);
          else state.set(name, text);
        }
      },
      progress() {},
      end: (error) => assert.equal(error, undefined),
    });
  }

  stateAt(revision: number): string[] {
    const state = new Map<string, string | undefined>();
    for (const change of this.#changes) if (change.revision <= revision) state.set(change.key, change.text);
    const texts = [...state].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
    return texts.filter((text) => text !== undefined);
  }

  after(revision: number): string[] {
    return this.events.filter((event) => event.revision > revision).map(({ text }) => text);
  }
}

interface Run {
  readonly random: Random;
  readonly storage: Storage;
  readonly truth: Truth;
  readonly counts: Record<string, number>;
  /** The number of objects. A commit may change all of them. */
  readonly names: number;
  /** The newest acknowledged revision. */
  answered: number;
  over: boolean;
}

function count({ counts }: Run, what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}

const nameOf = ({ random, names }: Run): string => `${"ab"[random(2)]}/n${random(names / 2)}`;

async function write(run: Run, commits: number): Promise<void> {
  const { random, storage, names: namesMax } = run;
  for (let step = 0; step < commits; step++) {
    const names = new Set(Array.from({ length: random(4) === 0 ? 1 + random(namesMax) : 1 }, () => nameOf(run)));
    const writes = Array.from(names, (name): Write => {
      if (random(4) === 0) return { key: prefix + name, value: null };
      const value = Buffer.from(`${head}"metadata":{"name":"${name.slice(2)}","labels":{"l":"${random(1000)}"}}}`);
      return { key: prefix + name, value, seal, ...(random(10) === 0 && { ttlSeconds: 1 + random(30) }) };
    });
    try {
      const outcome = await storage.commit([], writes);
      // A commit that deletes nothing has no revision of its own, and may be acknowledged with a
      // later one.
      if (outcome.ok && writes.some(({ value }) => value !== null))
        run.answered = Math.max(run.answered, outcome.revision);
    } catch {
      count(run, "writes failed");
    }
    await turns(random(3) === 0 ? random(12) : 0);
    if (random(60) === 0)
      await storage
        .compact(Math.max(1, run.answered - random(run.names * 10)))
        .catch(() => count(run, "compactions failed"));
  }
}

/** @returns undefined when the revision has been compacted, where that is possible */
async function unlessGone<T>(run: Run, revision: number, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status.code !== 410) throw error;
    assert.ok(
      revision < run.storage.compacted(),
      `410 for ${revision}, and only ${run.storage.compacted()} is compacted: ${error.message}`,
    );
    count(run, "410");
    return undefined;
  }
}

const past = ({ random, answered }: Run): number => Math.max(1, answered - random([8, 60, 1000][random(3)] as number));

async function list(run: Run, resource: Resource): Promise<void> {
  const { random, truth } = run;
  const known = run.answered;
  const exact = random(2) === 0 ? past(run) : undefined;
  const limit = random(4) === 0 ? 0 : 1 + random(5);
  const query = exact === undefined ? "" : `resourceVersion=${exact}&resourceVersionMatch=Exact`;
  let options: ListOptions = { ...parseListOptions(new URLSearchParams(query)), limit };
  const seen: string[] = [];
  let revision = exact;
  for (;;) {
    const answer = await unlessGone(run, revision ?? Number.POSITIVE_INFINITY, () =>
      listEntries(resource, "", options),
    );
    if (answer === undefined) return;
    const { meta, entries } = answer;
    if (revision === undefined)
      assert.ok(
        Number(meta.resourceVersion) >= known,
        `a list at ${meta.resourceVersion}, though ${known} was answered`,
      );
    else assert.equal(Number(meta.resourceVersion), revision);
    revision = Number(meta.resourceVersion);
    for (const entry of entries) {
      seen.push(show(entry));
      if (random(20) === 0) await turn();
    }
    if (meta.continue === undefined) break;
    await turns(random(4) === 0 ? random(60) : 0);
    options = { ...parseListOptions(new URLSearchParams({ continue: meta.continue })), limit };
  }
  assert.deepEqual(
    seen,
    truth.stateAt(revision),
    `the list at ${revision}, ${options.continueToken === "" ? "whole" : "in chunks"}`,
  );
  count(run, "lists");
}

/** Watches from one revision until the end of the run, or until the history expires. */
async function watch(run: Run, cache: WatchCache): Promise<void> {
  const { random, truth } = run;
  const from = past(run);
  const seen: string[] = [];
  let last = from;
  let subscription: CacheSubscription | undefined;
  let paused = false;
  const check = (): void => assert.deepEqual(seen, truth.after(from).slice(0, seen.length), `the watch from ${from}`);
  for (let cuts = random(4); ; ) {
    if (subscription === undefined) {
      const again = last;
      const reached = await unlessGone(run, again, async () => {
        await cache.loadEventsAfter(again);
        subscription = cache.subscribe(again, {
          events(batch) {
            seen.push(...batch.map(showEvent));
            last = Math.max(last, batch.at(-1)?.revision ?? 0);
            paused = random(3) === 0;
            return !paused;
          },
          end: () => (subscription = undefined),
        });
        return true;
      });
      if (reached === undefined) return check();
      count(run, "watches");
    }
    await turns(1 + random(10));
    if (paused && random(2) === 0) {
      paused = false;
      subscription?.resume();
    }
    if (run.over && subscription !== undefined && !paused && seen.length >= truth.after(from).length) break;
    if (run.over || cuts === 0 || random(20) > 0) continue;
    cuts -= 1;
    subscription?.close();
    subscription = undefined;
  }
  subscription?.close();
  assert.deepEqual(seen, truth.after(from), `the watch from ${from}`);
}

function openCache(
  { storage, random }: Run,
  clock: ReturnType<typeof manualClock>,
): { cache: WatchCache; resource: Resource } {
  const source = { prefix, fingerprint: 1, selectableFields: {}, indexedFields: [] } as unknown as EntrySource;
  const cache = openWatchCache({
    storage,
    prefix,
    clock,
    entryOf: ({ key, revision, value }) => makeEntry(key, revision, value, seal, source),
    eventsMax: 1 + random(random(2) === 0 ? 30 : 300),
    eventBytesMax: 300_000 + random(300_000), // Four times as many are read back from the store.
    eventAgeMaxMs: 1000 * (1 + random(60)),
    snapshotAgeMaxMs: 1000 * (1 + random(60)),
    keepsSnapshots: random(4) > 0,
  });
  const store = {
    cache,
    form: { prefix },
    source,
    keyOf: (namespace: string, name: string) => `${prefix}${namespace}/${name}`,
  };
  return {
    cache,
    resource: { definition: { namespaced: true, strategy: { selectableFields: {} } }, store } as unknown as Resource,
  };
}

async function runOnce(random: Random): Promise<Record<string, number>> {
  const clock = manualClock();
  const history = {
    historyMs: 1000 * (1 + random(120)),
    historyBytesMax: random(2) === 0 ? 1 << 20 : 3000 + random(100_000),
  };
  const storage = openEmbeddedStorage(new SlowLedger(random), { clock, valueBytesMax: 1 << 20, ...history });
  const run: Run = {
    random,
    storage,
    truth: new Truth(storage),
    counts: {},
    names: random(3) === 0 ? 60 : 12,
    answered: 1,
    over: false,
  };
  const observe = async (): Promise<void> => {
    await turns(random(200));
    const { cache, resource } = openCache(run, clock);
    const reader = async (): Promise<void> => {
      while (!run.over) {
        await list(run, resource);
        await turns(random(6));
      }
    };
    const watcher = async (): Promise<void> => {
      while (!run.over) {
        await watch(run, cache);
        await turn();
      }
    };
    await Promise.all([reader(), reader(), watcher(), watcher(), watcher()]);
  };
  const time = (async (): Promise<void> => {
    while (!run.over) {
      clock.advance(random(4) === 0 ? random(2000) : 20);
      await turn();
    }
  })();
  const observers = Promise.all([observe(), observe(), observe()]);
  const writers = Promise.all(Array.from({ length: 4 }, () => write(run, commitsMax / 4)));
  try {
    await Promise.race([writers, observers]);
  } finally {
    run.over = true;
  }
  await Promise.all([observers, time]);
  await storage.close();
  return run.counts;
}

test(`observers of a store that forgets see the one history (SEED=${seed})`, async (context) => {
  const counts: Record<string, number> = {};
  for (let number = 0; number < runs; number++) {
    const own = await runOnce(seededRandom(seed * 1000 + number)).catch((error: unknown) => {
      throw new Error(`run ${number}`, { cause: error });
    });
    for (const [what, times] of Object.entries(own)) counts[what] = (counts[what] ?? 0) + times;
  }
  context.diagnostic(JSON.stringify(counts));
});
