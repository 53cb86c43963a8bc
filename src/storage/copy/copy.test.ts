/**
 * Guarantees: a copy has the keys and bytes of its source, also while the source is written to, its
 * history is compacted, or the copy is repeated; its revisions are above those of the source; times
 * to live are kept; unreadable objects are named.
 */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Server, ServerCredentials, type ServiceDefinition } from "@grpc/grpc-js";
import { damageStore } from "../../../test/support/damage-store.ts";
import { type EtcdCluster, etcdOptions, skipWithoutEtcd, startEtcd } from "../../../test/support/etcd.ts";
import { peerLatency } from "../../../test/support/peer-latency.ts";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { put, suiteOptions } from "../../../test/support/storage-suite.ts";
import { until, untilSteady } from "../../../test/support/until.ts";
import { systemClock } from "../../apimachinery/clock.ts";
import { encodeMessage } from "../../lib/grpc/codec.ts";
import { RevisionCompacted, type Storage, StorageUnavailable } from "../contract.ts";
import { EtcdClient } from "../etcd/api/client.ts";
import { rangeResponse } from "../etcd/api/messages.ts";
import { openEtcdStorage } from "../etcd/etcd-storage.ts";
import { answersProgress } from "../etcd/server-version.ts";
import { Watches } from "../etcd/watches.ts";
import { dataFile } from "../lmdb/check-file.ts";
import { openLmdbStorage } from "../lmdb/lmdb.ts";
import type { CopySource, CopyTarget } from "./contract.ts";
import { CopyFailed, type CopyReport, type CopyResult, type CutOver, copyStore } from "./copy.ts";
import { EtcdFeed } from "./etcd-feed.ts";
import { type EtcdPlace, openEtcdSource } from "./etcd-source.ts";
import { openEtcdTarget } from "./etcd-target.ts";
import { openLmdbSource } from "./lmdb-source.ts";
import { openLmdbTarget } from "./lmdb-target.ts";

const base = mkdtempSync(join(tmpdir(), "coxswain-copy-"));
after(() => rmSync(base, { recursive: true, force: true }));
/**
 * More writes than those by which a directory raises its revision; the pauses of random writers, and
 * of how many of their writes one compacts.
 */
const { writes, pauseMsMax, compactedOf } =
  process.env.COXSWAIN_TEST_FULL === "1"
    ? { writes: 1500, pauseMsMax: 0, compactedOf: 200 }
    : { writes: 1100, pauseMsMax: 10, compactedOf: 50 };
let count = 0;
const place = (): string => join(base, String(count++), "storage");

const silent: CopyReport = {
  raising() {},
  passed() {},
  restarted() {},
  following() {},
  verifying() {},
  stillWritten() {},
};

interface Options {
  readonly skipDamaged?: boolean;
  readonly report?: Partial<CopyReport>;
  readonly cutOver?: CutOver;
}

async function run(
  source: CopySource,
  openTarget: (id: string) => Promise<CopyTarget>,
  { skipDamaged = false, report = {}, cutOver }: Options = {},
): Promise<CopyResult> {
  try {
    const target = await openTarget(source.id);
    try {
      return await copyStore({
        source,
        target,
        clock: systemClock,
        skipDamaged,
        follow: cutOver !== undefined,
        ...(cutOver && { cutOver }),
        report: { ...silent, ...report },
      });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** A cut-over that a test requests. */
function manualCutOver(): CutOver & { request(): void } {
  const requested = Promise.withResolvers<void>();
  let isRequested = false;
  return {
    get isRequested() {
      return isRequested;
    },
    request() {
      isRequested = true;
      requested.resolve();
    },
    wait: () => requested.promise,
    reset: () => assert.fail("written to after the cut-over"),
  };
}

const openLmdb = (dir: string): Promise<Storage> => openLmdbStorage({ ...suiteOptions, dir, durability: "relaxed" });

async function contents(storage: Storage, prefix = "/registry/"): Promise<string[]> {
  return (await storage.range(prefix)).entries.map(({ key, value }) => `${key}=${value.toString("base64")}`);
}

describe("copies with etcd", { skip: skipWithoutEtcd }, () => {
  let clusters: EtcdCluster[];
  const client: EtcdClient[] = [];
  const storages: Storage[] = [];
  const placeAt = (at: number, prefix = "/registry"): EtcdPlace => ({
    servers: (clusters[at] as EtcdCluster).urls,
    prefix,
    clock: systemClock,
  });
  const targetAt = (at: number, prefix?: string) => (id: string) =>
    openEtcdTarget({ ...placeAt(at, prefix), raiseMax: 100_000 }, id);
  before(async () => {
    clusters = await Promise.all([startEtcd(), startEtcd()]);
    for (const { urls } of clusters) {
      client.push(new EtcdClient({ servers: urls, clock: systemClock }));
      storages.push(await openEtcdStorage({ ...etcdOptions, servers: urls }));
    }
  });
  after(async () => {
    for (const storage of storages) await storage.close();
    for (const one of client) one.close();
    await Promise.all(clusters.map((cluster) => cluster.close()));
  });

  /** A store of the cluster with its own prefix. */
  async function etcdStore(at: number, prefix: string): Promise<Storage> {
    const storage = await openEtcdStorage({ ...etcdOptions, prefix, servers: (clusters[at] as EtcdCluster).urls });
    storages.push(storage);
    return storage;
  }

  const putRaw = (at: number, key: string, value: Buffer) =>
    (client[at] as EtcdClient).txn({
      compare: [],
      success: [{ request_put: { key: Buffer.from(key), value } }],
      failure: [],
    });

  test("keeps bytes and times to live from etcd to a directory and back", async () => {
    const [source, prefix] = [await etcdStore(0, "/round"), "/round"];
    const binary = Buffer.from("6b387300ff00c328", "hex");
    for (let at = 0; at < writes; at++)
      await source.commit(
        [],
        [{ key: `/registry/configmaps/a/${at}`, value: Buffer.concat([binary, Buffer.alloc(at)]) }],
      );
    await source.commit([], [{ ...put("/registry/events/a/lives", "x"), ttlSeconds: 1000 }]);
    await source.commit([], [{ ...put("/registry/events/a/ends", "x"), ttlSeconds: 1 }]);
    await source.commit([], [put("/registry/masterleases/10.0.0.1", "x"), put("/registry/ranges/serviceips", "r")]);
    await putRaw(0, "/roundabout/x", binary);
    const expected = (await contents(source)).filter((line) => !/masterleases|events\/a\/ends/.test(line));
    const dir = place();
    const there = await run(await openEtcdSource(placeAt(0, prefix)), (id) => openLmdbTarget(dir, id));
    const sourceRevision = await source.current();
    assert.ok(there.targetRevision > sourceRevision);
    assert.deepEqual([statSync(dir).mode & 0o777, statSync(dataFile(dir)).mode & 0o777], [0o700, 0o600]);
    assert.ok(!existsSync(`${dir}.copying`));
    const copied = await openLmdb(dir);
    await until(async () => assert.deepEqual(await contents(copied), expected)); // A time to live ends.
    assert.deepEqual(await contents(copied, "cox"), []);
    const subscriber = { events() {}, progress() {}, end() {} };
    assert.throws(() => copied.log("", sourceRevision, subscriber), RevisionCompacted);
    for (const { revision } of (await copied.range("/registry/")).entries) assert.ok(revision > writes);
    await copied.close();

    const back = await run(await openLmdbSource(dir), targetAt(1, "/back"));
    assert.ok(back.targetRevision > there.targetRevision);
    const second = await etcdStore(1, "/back");
    assert.deepEqual(await contents(second), expected);
    await assert.rejects(second.get("/registry/x", there.targetRevision), RevisionCompacted);
    const { kvs } = await (client[1] as EtcdClient).range({ key: Buffer.from("/back/events/a/lives") });
    const { TTL } = await (client[1] as EtcdClient).leaseTimeToLive(kvs?.[0]?.lease ?? 0);
    assert.ok(TTL > 800 && TTL <= 1000 + 50 + 10, `${TTL} of 1000 s`);
    for (const { mod_revision: revision } of kvs ?? []) assert.ok(revision > sourceRevision);
    const own = { key: Buffer.from("coxswain"), range_end: Buffer.from("coxswaio") };
    const left = await (client[1] as EtcdClient).range(own);
    assert.deepEqual(left.kvs, undefined);
  });

  test(`a copy of a source with random writers is equal at the cut-over (SEED=${seed})`, async () => {
    const random = seededRandom(seed);
    const source = await etcdStore(0, "/live");
    const key = (): string => `/registry/pods/${random(4)}/${random(300)}`;
    const value = (): Buffer => Buffer.alloc(random(500), String(random(1e9)));
    for (let first = 0; first < 2000; first += 100) {
      const keys = Array.from({ length: 100 }, (_, at) => `/registry/pods/9/${first + at}`);
      await source.commit(
        [],
        keys.map((one) => ({ key: one, value: value() })),
      );
    }
    let stopped = false;
    const write = async (): Promise<void> => {
      while (!stopped) {
        const keys = [...new Set([key(), key(), `/registry/pods/9/${random(2000)}`])];
        await source.commit(
          [],
          keys.map((one) => ({
            key: one,
            value: random(3) === 0 ? null : value(),
            ...(random(9) === 0 && { ttlSeconds: 1 + random(2) }),
          })),
        );
        if (random(compactedOf) === 0) await source.compact(await source.current());
        if (pauseMsMax > 0) await peerLatency(random(pauseMsMax));
      }
    };
    const writing = Promise.all([write(), write(), write()]);
    const dir = place();
    const cutOver = manualCutOver();
    let seen = 0;
    const result = await run(await openEtcdSource(placeAt(0, "/live")), (id) => openLmdbTarget(dir, id), {
      cutOver,
      report: {
        following() {
          if (++seen === 2) {
            stopped = true;
            void writing.then(() => peerLatency(5000)).then(() => cutOver.request());
          }
        },
      },
    });
    const copied = await openLmdb(dir);
    assert.deepEqual(await contents(copied), await contents(source));
    assert.ok(result.objects > 1000 && result.targetRevision > (await source.current()));
    await copied.close();
  });

  test("compares all objects again when changes were compacted before they were read", async () => {
    const source = await etcdStore(0, "/old");
    for (const name of ["a", "b", "c"]) await source.commit([], [put(`/registry/x/${name}`, name)]);
    const dir = place();
    const stop = new Error("interrupted");
    const interrupted = run(await openEtcdSource(placeAt(0, "/old")), (id) => openLmdbTarget(dir, id), {
      report: {
        verifying() {
          throw stop;
        },
      },
    });
    await assert.rejects(interrupted, stop);
    await source.commit(
      [],
      [{ key: "/registry/x/a", value: null }, put("/registry/x/c", "new"), put("/registry/x/d", "d")],
    );
    await source.commit([], [put("/registry/x/e", "e")]);
    await source.compact(await source.current());
    let restarts = 0;
    await run(await openEtcdSource(placeAt(0, "/old")), (id) => openLmdbTarget(dir, id), {
      report: { restarted: () => restarts++ },
    });
    const copied = await openLmdb(dir);
    assert.deepEqual([await contents(copied), restarts], [await contents(source), 1]);
    await copied.close();
  });

  test("a feed ends its watch while too many bytes wait, and misses no change", async () => {
    const source = await etcdStore(0, "/fed");
    const hasProgress = answersProgress(await (client[0] as EtcdClient).statuses(2_000));
    const range = { key: Buffer.from("/fed/"), rangeEnd: Buffer.from("/fed0") };
    const watches = new Watches({
      client: client[0] as EtcdClient,
      clock: systemClock,
      logger: undefined,
      checkCluster: async () => {},
      answersProgress: () => hasProgress,
      allowed: range,
    });
    const from = await source.current();
    const feed = new EtcdFeed({
      watches,
      ...range,
      from,
      keyOf: (key) => key.toString(),
      expiryOf: async () => undefined,
      waitingBytesMax: 5000,
    });
    const expected: string[] = [];
    for (let at = 0; at < 300; at++) {
      expected.push(String(at));
      await source.commit([], [put(`/registry/x/${at % 7}`, String(at))]);
    }
    await feed.reach(from + 1);
    await untilSteady(() => feed.received);
    assert.ok(feed.received < from + 300, "the watch has ended");
    const taken: string[] = [];
    while (taken.length < 300) {
      await feed.reach(from + 300);
      for (const { value } of await feed.take(Number.POSITIVE_INFINITY)) taken.push(String(value));
    }
    assert.deepEqual([taken, feed.hasChanges], [expected, false]);
    feed.close();
    watches.close();
  });

  test("rejects a target with objects, and one with the unfinished copy of another source", async () => {
    const source = await etcdStore(0, "/first");
    await source.commit([], [put("/registry/x/a", "a")]);
    await (await etcdStore(1, "/full")).commit([], [put("/registry/x/a", "other")]);
    const open = (): Promise<CopySource> => openEtcdSource(placeAt(0, "/first"));
    await assert.rejects(run(await open(), targetAt(1, "/full")), /has 1 keys with the prefix \/full/);
    await assert.rejects(run(await open(), targetAt(0, "/first")), /are the same/);
    const stop = new Error("interrupted");
    const report = {
      verifying() {
        throw stop;
      },
    };
    await assert.rejects(run(await open(), targetAt(1, "/half"), { report }), stop);
    await assert.rejects(run(await openEtcdSource(placeAt(0, "/live")), targetAt(1, "/half")), /of another source/);
    await run(await open(), targetAt(1, "/half"));
    assert.equal((await contents(await etcdStore(1, "/half"))).length, 1);
  });

  test("rejects a second copy to the same target", async () => {
    const source = await etcdStore(0, "/two");
    await source.commit([], [put("/registry/x/a", "a")]);
    const both = await Promise.allSettled(
      [1, 2].map(async () => run(await openEtcdSource(placeAt(0, "/two")), targetAt(1, "/two"))),
    );
    const messages = both.flatMap((one) => (one.status === "rejected" ? [(one.reason as Error).message] : []));
    assert.ok(messages.length <= 1, messages.join());
    for (const message of messages) assert.match(message, /another copy writes|nothing is overwritten/);
    assert.equal((await contents(await etcdStore(1, "/two"))).length, 1);
  });

  test("does not raise the revision of etcd by more writes than allowed", async () => {
    const dir = place();
    const source = await openLmdb(dir);
    await Promise.all(Array.from({ length: 3000 }, (_, at) => source.commit([], [put("/registry/x/a", String(at))])));
    await source.close();
    const cluster = await startEtcd();
    try {
      const target = { servers: cluster.urls, prefix: "/registry", clock: systemClock, raiseMax: 100 };
      await assert.rejects(
        run(await openLmdbSource(dir), (id) => openEtcdTarget(target, id)),
        /must be raised by \d+.*--bump-revision/,
      );
    } finally {
      await cluster.close();
    }
  });
});

/** A member whose answers to reads are made by the test. */
async function hostileEtcd(answer: (request: number) => Buffer): Promise<{ url: string; close(): void }> {
  const server = new Server();
  const plain = { requestSerialize: Buffer.from, requestDeserialize: (bytes: Buffer) => bytes };
  const method = { path: "/etcdserverpb.KV/Range", requestStream: false, responseStream: false, ...plain };
  const service = {
    range: { ...method, responseSerialize: (bytes: Buffer) => bytes, responseDeserialize: Buffer.from },
  };
  let requests = 0;
  server.addService(service as unknown as ServiceDefinition, {
    range: (_: unknown, done: (error: null, bytes: Buffer) => void) => done(null, answer(requests++)),
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { url: `http://127.0.0.1:${port}`, close: () => server.forceShutdown() };
}

const header = { cluster_id: 1, member_id: 1, revision: 10, raft_term: 1 };
const kv = (key: string, revision = 5) => ({
  key: Buffer.from(key),
  create_revision: 1,
  mod_revision: revision,
  version: 1,
  value: Buffer.from("v"),
  lease: 0,
});
const pageOf = (page: object): Buffer => encodeMessage(rangeResponse, { header, more: false, count: 1, ...page });
const latin = Buffer.from("/registry/x", "latin1");

for (const [name, answer] of [
  ["no message", Buffer.from("ff", "hex")],
  ["nothing", Buffer.alloc(0)],
  ["no header", encodeMessage(rangeResponse, { kvs: [kv("/registry/a")], more: false, count: 1 })],
  ["revision 0", pageOf({ header: { ...header, revision: 0 } })],
  ["a page without keys that has more", pageOf({ more: true })],
  ["the same page again and again", pageOf({ kvs: [kv("/registry/a")], more: true })],
  ["keys in another order", pageOf({ kvs: [kv("/registry/b"), kv("/registry/a")] })],
  ["a key twice", pageOf({ kvs: [kv("/registry/b"), kv("/registry/b")] })],
  ["keys outside of the range", pageOf({ kvs: [kv("/registry0")] })],
  ["a future revision", pageOf({ kvs: [kv("/registry/a", 11)] })],
  ["a key that is not UTF-8", pageOf({ kvs: [{ ...kv("x"), key: Buffer.concat([latin, Buffer.from([0xff])]) }] })],
] as const) {
  test(`ends with an error when etcd answers ${name}`, async () => {
    const etcd = await hostileEtcd(() => answer);
    try {
      const place = { servers: [etcd.url], prefix: "/registry", clock: systemClock };
      await assert.rejects(async () => {
        const source = await openEtcdSource(place);
        try {
          for (let after: string | undefined, pages = 0; pages < 3; pages++) after = (await source.page(after)).until;
        } finally {
          await source.close();
        }
      }, StorageUnavailable);
    } finally {
      etcd.close();
    }
  });
}

test("names objects that cannot be read, and leaves them out only when requested", async () => {
  const dir = place();
  const storage = await openLmdb(dir);
  for (const name of ["a", "b", "c"]) await storage.commit([], [put(`/registry/x/${name}`, `the value of ${name}`)]);
  await storage.close();
  await damageStore(dirname(dir), (key) => key === "/registry/x/b");
  const to = place();
  const open = (): Promise<CopySource> => openLmdbSource(dir);
  await assert.rejects(
    run(await open(), (id) => openLmdbTarget(to, id)),
    (error) =>
      error instanceof CopyFailed &&
      /^1 objects cannot be read:\n {2}\/registry\/x\/b: the checksum/.test(error.message),
  );
  assert.ok(!existsSync(to));
  const result = await run(await open(), (id) => openLmdbTarget(to, id), { skipDamaged: true });
  assert.deepEqual([result.objects, result.damaged.map(({ key }) => key)], [2, ["/registry/x/b"]]);
  const copied = await openLmdb(to);
  assert.deepEqual(
    (await copied.range("/registry/")).entries.map(({ key }) => key),
    ["/registry/x/a", "/registry/x/c"],
  );
  await copied.close();
});

test("rejects directories that a server uses", async () => {
  const dir = place();
  const storage = await openLmdb(dir);
  await assert.rejects(openLmdbSource(dir), /in use by another server/);
  await assert.rejects(openLmdbTarget(dir, "x"), /exists already/);
  await storage.close();
});
