/** Two servers and a kube-apiserver compact one cluster. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type EtcdCluster, etcdOptions, skipWithoutEtcd, startEtcd } from "../../../test/support/etcd.ts";
import { type ManualClock, manualClock } from "../../../test/support/manual-clock.ts";
import { eventually } from "../../../test/support/until.ts";
import { systemClock } from "../../apimachinery/clock.ts";
import { RevisionCompacted, type Storage } from "../contract.ts";
import { EtcdClient } from "./api/client.ts";
import { revisionIn } from "./compaction-watch.ts";
import { openEtcdStorage } from "./etcd-storage.ts";

const intervalMs = 300_000;
const key = "/registry/configmaps/default/a";

const texts: [text: string, want: number | undefined][] = [
  ["7", 7],
  ["9007199254740991", 9007199254740991],
  ["0", undefined],
  ["-7", undefined],
  ["7e3", undefined],
  ["", undefined],
  ["99999999999999999999", undefined],
];
for (const [text, want] of texts)
  test(`reads the revision in ${JSON.stringify(text)}`, () => assert.equal(revisionIn(Buffer.from(text)), want));

interface Server {
  readonly storage: Storage;
  readonly clock: ManualClock;
  /** How many intervals have begun: the last one has ended with the work of the server. */
  intervals(): number;
}

/** Timers of the interval are manual, so that the test decides which server compacts. */
async function openServer({ urls }: EtcdCluster): Promise<Server> {
  const clock = manualClock(Date.now());
  let intervals = 0;
  const passing = {
    ...systemClock,
    after(ms: number, run: () => void) {
      if (ms !== intervalMs) return systemClock.after(ms, run);
      intervals++;
      return clock.after(ms, run);
    },
  };
  const options = { ...etcdOptions, servers: urls, clock: passing, compactionIntervalMs: intervalMs };
  return { storage: await openEtcdStorage(options), clock, intervals: () => intervals };
}

test("one server compacts in each interval, and all know the revision", { skip: skipWithoutEtcd }, async () => {
  const cluster = await startEtcd();
  const servers = [await openServer(cluster), await openServer(cluster)] as const;
  const client = new EtcdClient({ servers: cluster.urls, clock: systemClock });
  after(async () => {
    client.close();
    await Promise.all(servers.map(({ storage }) => storage.close()));
    await cluster.close();
  });
  const write = async (): Promise<number> => {
    const done = await servers[0].storage.commit([], [{ key, value: Buffer.from("x") }]);
    return done.ok ? done.revision : assert.fail();
  };
  const version = async (): Promise<number> =>
    (await client.range({ key: Buffer.from("compact_rev_key") })).kvs?.[0]?.version ?? 0;
  /** One interval of one server. */
  const pass = async (server: Server, changed: boolean): Promise<void> => {
    const [before, begun] = [await version(), server.intervals()];
    server.clock.advance(intervalMs);
    if (changed) await eventually("the key is written", async () => (await version()) === before + 1);
    await eventually("the next interval begins", () => server.intervals() > begun);
    assert.equal(await version(), changed ? before + 1 : before);
  };
  const compacted = (): number[] => servers.map(({ storage }) => storage.compacted());

  const first = await write();
  await pass(servers[0], true); // The first interval only remembers the revision.
  await pass(servers[1], false); // The other has compacted.
  assert.deepEqual(compacted(), [0, 0]);
  const second = await write();
  await pass(servers[0], true);
  await eventually("both know the revision", async () => compacted().every((revision) => revision > first));
  assert.ok(compacted().every((revision) => revision <= second));
  await assert.rejects(servers[1].storage.get(key, first), RevisionCompacted);
  assert.throws(() => servers[1].storage.log("/registry/", first - 1, {} as never), RevisionCompacted);
  await pass(servers[1], false);
  // The first server is gone.
  const third = await write();
  await pass(servers[1], true);
  await eventually("both know the revision", async () => compacted().every((revision) => revision >= second));
  assert.ok(compacted().every((revision) => revision < third));

  // A kube-apiserver: it compacts, and writes the key.
  await client.txn({
    compare: [],
    success: [{ request_put: { key: Buffer.from("compact_rev_key"), value: Buffer.from(String(third)) } }],
    failure: [],
  });
  await client.compact(third);
  await eventually("both know its revision", async () => compacted().every((revision) => revision === third));
  await pass(servers[0], false);
});
