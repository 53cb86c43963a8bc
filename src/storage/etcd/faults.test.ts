/** The engine while connections to members fail, and after an older state of etcd was restored. */
import assert from "node:assert/strict";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import {
  copyMemberData,
  type EtcdCluster,
  etcdOptions,
  skipWithoutEtcd,
  startEtcd,
} from "../../../test/support/etcd.ts";
import { type Link, openLink } from "../../../test/support/faulty-network.ts";
import { peerLatency } from "../../../test/support/peer-latency.ts";
import { until } from "../../../test/support/until.ts";
import { type Clock, systemClock } from "../../apimachinery/clock.ts";
import { RevisionsWentBack, type Storage } from "../contract.ts";
import { type EtcdOptions, openEtcdStorage } from "./etcd-storage.ts";

const prefix = "/registry/things/";

/** Pings find a broken connection after this time. */
const pingsMs = 14_000;

interface Fixture {
  readonly etcd: EtcdCluster;
  /** To the same member. */
  readonly links: readonly Link[];
  /** Opens a store at the links. */
  open(options?: Partial<EtcdOptions>): Promise<Storage>;
  /** A store without faults in between. */
  readonly direct: Storage;
}

async function fixture(t: TestContext): Promise<Fixture> {
  const etcd = await startEtcd();
  const [url] = etcd.urls as [string];
  const links = await Promise.all([0, 1].map(() => openLink(Number(new URL(url).port))));
  const open = async (options: Partial<EtcdOptions>): Promise<Storage> => {
    const storage = await openEtcdStorage({ ...etcdOptions, servers: etcd.urls, ...options });
    opened.push(storage);
    return storage;
  };
  const opened: Storage[] = [];
  t.after(async () => {
    for (const link of links) link.close();
    await etcd.close();
    await Promise.all(opened.map((storage) => storage.close()));
  });
  const servers = links.map(({ port }) => `http://127.0.0.1:${port}`);
  return { etcd, links, open: (options) => open({ servers, ...options }), direct: await open({}) };
}

async function put(storage: Storage, name: string, value = "{}"): Promise<number> {
  const done = await storage.commit([], [{ key: prefix + name, value: Buffer.from(value) }]);
  assert.ok(done.ok);
  return done.revision;
}

interface Received {
  readonly events: string[];
  readonly ended: Promise<Error | undefined>;
  until(event: string): Promise<void>;
}

function follow(storage: Storage, from: number): Received {
  const events: string[] = [];
  let changed = (): void => {};
  const ended = new Promise<Error | undefined>((resolve) => {
    storage.log(prefix, from, {
      events: (batch) => {
        for (const { key, revision } of batch) events.push(`${key.slice(prefix.length)}@${revision}`);
        changed();
      },
      progress() {},
      end: resolve,
    });
  });
  const until = async (event: string): Promise<void> => {
    while (!events.includes(event)) await new Promise<void>((resolve) => (changed = resolve));
  };
  return { events, ended, until };
}

/** Makes the copy the data of the member, while the links are cut. */
async function restore({ etcd, links }: Fixture, copy: string): Promise<void> {
  for (const link of links) link.set("cut");
  await etcd.members[0]?.kill();
  const data = join(etcd.directory, "m0");
  rmSync(data, { recursive: true });
  renameSync(copy, data);
  await etcd.members[0]?.start();
}

async function copyData({ etcd }: Fixture): Promise<string> {
  const copy = join(etcd.directory, "copy");
  await etcd.members[0]?.kill();
  copyMemberData(join(etcd.directory, "m0"), copy);
  await etcd.members[0]?.start();
  return copy;
}

describe("the engine etcd", { skip: skipWithoutEtcd }, () => {
  test("ends logs when an older state was restored", async (t) => {
    const cluster = await fixture(t);
    await put(cluster.direct, "a");
    const copy = await copyData(cluster);
    const storage = await cluster.open();
    const log = follow(storage, await storage.current());
    const written = await put(storage, "b");
    await log.until(`b@${written}`);
    await restore(cluster, copy);
    for (const link of cluster.links) link.set("open");
    assert.ok((await log.ended) instanceof RevisionsWentBack);
    assert.equal(await storage.current(), written - 1);
    assert.equal(await storage.get(`${prefix}b`), undefined);
  });

  for (const [what, name, value] of [
    ["of other objects", "c", "{}"],
    ["of the same object", "b", '{"other":1}'],
  ] as const)
    test(`ends logs when others have made as many changes ${what} since an older state was restored`, async (t) => {
      const cluster = await fixture(t);
      await put(cluster.direct, "a");
      const copy = await copyData(cluster);
      const storage = await cluster.open();
      const log = follow(storage, await storage.current());
      const written = await put(storage, "b");
      await log.until(`b@${written}`);
      await restore(cluster, copy);
      const other = await openEtcdStorage({ ...etcdOptions, servers: cluster.etcd.urls });
      assert.equal(await put(other, name, value), written);
      await put(other, "d");
      await other.close();
      for (const link of cluster.links) link.set("open");
      assert.ok((await log.ended) instanceof RevisionsWentBack);
      assert.deepEqual(log.events, [`b@${written}`]);
    });

  test("continues logs without gaps after etcd was down", async (t) => {
    const cluster = await fixture(t);
    const storage = await cluster.open();
    const log = follow(storage, await storage.current());
    const first = await put(storage, "a");
    await log.until(`a@${first}`);
    for (const link of cluster.links) link.set("cut");
    const missed = await put(cluster.direct, "b");
    for (const link of cluster.links) link.set("open");
    await log.until(`b@${missed}`);
    assert.deepEqual(log.events, [`a@${first}`, `b@${missed}`]);
  });

  test("moves logs to another connection when one transmits nothing", async (t) => {
    const cluster = await fixture(t);
    const storage = await cluster.open();
    const log = follow(storage, await storage.current());
    await log.until(`a@${await put(storage, "a")}`);
    cluster.links[0]?.set("stalled");
    const written = await put(cluster.direct, "b");
    const since = Date.now();
    await storage.current();
    await log.until(`b@${written}`);
    const tookMs = Date.now() - since;
    assert.ok(tookMs < pingsMs, `it took ${tookMs} ms`);
  });

  test("waits at the start until a member answers", async (t) => {
    const { etcd } = await fixture(t);
    await etcd.members[0]?.kill();
    const opening = openEtcdStorage({ ...etcdOptions, servers: etcd.urls });
    await peerLatency(4_000); // Longer than the attempts of one read.
    await etcd.members[0]?.start();
    await (await opening).close();
  });

  test("names the members that do not answer at the start", async (t) => {
    const { etcd } = await fixture(t);
    await etcd.members[0]?.kill();
    await assert.rejects(
      openEtcdStorage({ ...etcdOptions, servers: etcd.urls, startTimeoutMs: 600 }),
      new RegExp(
        `^StorageUnavailable: etcd at ${etcd.urls[0]} did not answer within 1 s: rpc error: code = Unavailable`,
      ),
    );
  });

  test("relies on progress once all members have answered that they support it", async (t) => {
    const { links, open } = await fixture(t);
    links[1]?.set("cut");
    let learnAgain = (): void => {};
    const clock: Clock = {
      ...systemClock,
      after(delayMs, run) {
        if (delayMs !== 5_000) return systemClock.after(delayMs, run);
        learnAgain = run;
        return () => {};
      },
    };
    const storage = await open({ clock, answersProgress: () => true });
    assert.equal(storage.reportsProgress, false);
    links[1]?.set("open");
    await until(() => {
      learnAgain();
      learnAgain = () => {};
      return storage.reportsProgress;
    });
  });
});
