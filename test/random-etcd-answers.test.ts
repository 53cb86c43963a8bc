/**
 * Random answers of etcd to the storage engine.
 *
 * - Each call ends: with a result, or with an error of the storage contract. The time is virtual.
 * - The events of a log have ascending revisions, and keys with its prefix; its progress never goes back; nothing follows
 *   its end.
 * - The engine sends a bounded number of requests for one call.
 */
import assert from "node:assert/strict";
import { after, before, mock, test } from "node:test";
import {
  type Check,
  type LogEvent,
  RevisionCompacted,
  RevisionInFuture,
  type Storage,
  StorageUnavailable,
  type Subscription,
  ValueTooLarge,
  type Write,
} from "../src/storage/contract.ts";
import { openEtcdStorage } from "../src/storage/etcd/etcd-storage.ts";
import { etcdOptions } from "./support/etcd.ts";
import { passTime } from "./support/pass-time.ts";
import { type RandomEtcd, startRandomEtcd } from "./support/random-etcd.ts";
import { seed } from "./support/seed.ts";
import { seededRandom } from "./support/seeded-random.ts";

const random = seededRandom(seed);
const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;
const answersMin = process.env.COXSWAIN_TEST_FULL === "1" ? 100_000 : 2000;
/** Calls at the same time. */
const atOnce = 20;
const openLogsMax = 10;
/** How long a call may take: some limits of reads and writes in a row. */
const callMsMax = 50 * 75_000;

let etcd: RandomEtcd;
let storage: Storage;

before(async () => {
  etcd = await startRandomEtcd(random);
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: 1_800_000_000_000 });
  storage = await openEtcdStorage({ ...etcdOptions, servers: [etcd.url, etcd.url], compactionIntervalMs: 300_000 });
});
after(async () => {
  const closed = storage.close();
  await passTime([closed], { msMax: callMsMax });
  mock.timers.reset();
  await etcd.close();
});

const prefixes = ["/registry/things/", "/registry/things/a/", "/registry/", "/registry/none/"];
const keyOf = (): string => `/registry/things/${pick(["a", "b"])}/${random(10)}`;
const revisionOf = async (): Promise<number> => pick([0, 1, 5, 100, 2 ** 40]);

function writeOf(key: string): Write {
  if (random(4) === 0) return { key, value: null };
  return { key, value: Buffer.from(`{"n":${random(1000)}}`), ...(random(3) === 0 && { ttlSeconds: 60 }) };
}

async function commit(): Promise<unknown> {
  const keys = [...new Set(Array.from({ length: 1 + random(3) }, keyOf))];
  const checks: Check[] = keys.flatMap((key) => (random(2) === 0 ? [] : [{ key, revision: pick([0, 5, 100]) }]));
  if (random(4) > 0) return storage.commit(checks, keys.map(writeOf));
  return storage.commit(checks, [
    { key: keys[0] as string, derive: (now) => ({ value: now?.value ?? Buffer.from("1") }) },
  ]);
}

const calls: readonly (() => Promise<unknown>)[] = [
  commit,
  commit,
  commit,
  () => storage.get(keyOf()),
  async () => storage.get(keyOf(), await revisionOf()),
  () => storage.range(pick(prefixes)),
  () => storage.range(pick(prefixes), { limit: 1 + random(5), after: keyOf(), keysOnly: random(2) === 0 }),
  async () => storage.range(pick(prefixes), { revision: await revisionOf() }),
  () => storage.count(pick(prefixes)),
  () => storage.current(),
  () => storage.sizeBytes(),
  () => storage.checkReadable(),
  () => storage.checkWritable(),
  async () => storage.compact(await revisionOf()),
  async () => follow(pick(prefixes), random(2) === 0 ? 0 : await storage.current()),
];

const logs = new Set<Subscription>();

/** Follows a log until another one needs its place. */
function follow(prefix: string, from: number): void {
  let last = 0;
  let lastProgress = 0;
  let isEnded = false;
  const log = storage.log(prefix, from, {
    events(batch: readonly LogEvent[]) {
      assert.ok(!isEnded, "events after the end");
      for (const { key, revision } of batch) {
        assert.ok(revision >= last && revision > lastProgress, `revision ${revision} after ${last}, ${lastProgress}`);
        assert.ok(key.startsWith(prefix), `${key} in ${prefix}`);
        last = revision;
      }
    },
    progress(revision) {
      assert.ok(!isEnded, "progress after the end");
      assert.ok(revision >= lastProgress, `progress ${revision} after ${lastProgress}`);
      lastProgress = revision;
    },
    end(error) {
      isEnded = true;
      logs.delete(log);
      if (error !== undefined && !isExpected(error)) failures.push(error);
    },
  });
  logs.add(log);
  const [oldest] = logs;
  if (logs.size <= openLogsMax || oldest === undefined) return;
  logs.delete(oldest);
  oldest.close();
}

/** Errors that the storage contract does not have. */
const failures: Error[] = [];

function isExpected(error: unknown): boolean {
  return [StorageUnavailable, RevisionCompacted, RevisionInFuture, ValueTooLarge].some((type) => error instanceof type);
}

test(`each call ends with a result or an error of the contract, SEED=${seed}`, { timeout: 1_200_000 }, async () => {
  await storage.commit([], [{ key: keyOf(), value: Buffer.from("{}") }]);
  while (etcd.answers < answersMin) {
    etcd.disturb(pick([0, 20, 20, 60]));
    const before = etcd.answers;
    await passTime(
      Array.from({ length: atOnce }, async () => {
        try {
          await pick(calls)();
        } catch (error) {
          if (!isExpected(error)) failures.push(error as Error);
        }
      }),
      { msMax: callMsMax },
    );
    assert.deepEqual(failures, []);
    assert.ok(etcd.answers - before < 5000, `${etcd.answers - before} answers for ${atOnce} calls`);
  }
  etcd.disturb(0);
  await passTime([storage.current()], { msMax: callMsMax });
});
