import assert from "node:assert/strict";
import { test } from "node:test";
import { openSharedStorage } from "../../test/support/start-test-server.ts";
import { routeStorage } from "./routed-storage.ts";

const lease = "/registry/leases/kube-system/a";
const event = "/registry/events/default/a";
const value = Buffer.from("{}");

test("a commit checks keys of other stores, such as the lease of a leader that writes an Event", async () => {
  const main = await openSharedStorage();
  const events = await openSharedStorage();
  const storage = routeStorage(main, [{ prefix: "/registry/events/", storage: events }]);
  const held = await storage.commit([{ key: lease, revision: 0 }], [{ key: lease, value }]);
  assert.ok(held.ok);
  const write = (revision: number) =>
    storage.commit(
      [
        { key: lease, revision },
        { key: event, revision: 0 },
      ],
      [{ key: event, value }],
    );

  const conflict = await write(held.revision + 1);
  assert.ok(!conflict.ok);
  assert.deepEqual([conflict.key, conflict.current?.revision], [lease, held.revision]);
  assert.equal(await events.get(event), undefined);

  assert.ok((await write(held.revision)).ok);
  assert.ok((await events.get(event)) !== undefined);
  assert.equal(await main.get(event), undefined);

  const taken = await write(held.revision);
  assert.deepEqual([taken.ok, !taken.ok && taken.key], [false, event]);

  await storage.commit([], [{ key: lease, value: null }]);
  const lost = await write(held.revision);
  assert.deepEqual([lost.ok, !lost.ok && lost.key, !lost.ok && lost.current], [false, lease, undefined]);
  await storage.close();
});

test("of two routes of one prefix, the last one is used, as upstream's", async () => {
  const [main, first, last] = await Promise.all([openSharedStorage(), openSharedStorage(), openSharedStorage()]);
  const prefix = "/registry/events/";
  const storage = routeStorage(main, [
    { prefix, storage: first },
    { prefix, storage: last },
  ]);
  await storage.commit([], [{ key: event, value }]);
  assert.equal(await first.get(event), undefined);
  assert.ok((await last.get(event)) !== undefined);
  await storage.close();
});
