/**
 * A server over a member of etcd that answers at random. Each request ends, and when the member has started again and behaves, the
 * server recovers by itself: it is ready, lists, writes, and its watches deliver. What a member has concealed stays unknown. The time is virtual.
 */
import assert from "node:assert/strict";
import { after, before, mock, test } from "node:test";
import { etcdDefaults } from "../src/storage/etcd/options.ts";
import { passTime } from "./support/pass-time.ts";
import { type RandomEtcd, startRandomEtcd } from "./support/random-etcd.ts";
import { type Answer, type RawClient, type RawRequest, rawClient } from "./support/raw-client.ts";
import { seed } from "./support/seed.ts";
import { seededRandom } from "./support/seeded-random.ts";
import { startTestServer, type TestServer } from "./support/start-test-server.ts";

const random = seededRandom(seed);
const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;
const rounds = process.env.COXSWAIN_TEST_FULL === "1" ? 40 : 2;
/** Requests at the same time. */
const atOnce = 20;
/** The limit of requests, and some time for those that wait for their turn. */
const requestMsMax = 300_000;
/** Attempts to read the store and to open watches are seconds apart. */
const recoveryMsMax = 60_000;
const configMaps = "/api/v1/namespaces/default/configmaps";

let etcd: RandomEtcd;
let server: TestServer;
let client: RawClient;

before(async () => {
  etcd = await startRandomEtcd(random);
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: Date.now() });
  const starting = startTestServer({ storage: "etcd", etcd: { ...etcdDefaults, servers: [etcd.url] } });
  await passTime([starting], { msMax: requestMsMax });
  server = await starting;
  client = rawClient(server.kubeconfig);
});
after(async () => {
  client.close();
  const closed = server.close();
  await passTime([closed], { msMax: requestMsMax });
  mock.timers.reset();
  await etcd.close();
});

const body = (name: string): object => ({ metadata: { name }, data: { n: String(random(1000)) } });
const name = (): string => `c${random(8)}`;
const requests: readonly (() => RawRequest)[] = [
  () => ({ method: "POST", path: configMaps, body: body(name()) }),
  () => {
    const changed = name();
    return { method: "PUT", path: `${configMaps}/${changed}`, body: body(changed) };
  },
  () => ({ method: "DELETE", path: `${configMaps}/${name()}` }),
  () => ({ path: `${configMaps}/${name()}` }),
  () => ({ path: configMaps }),
  () => ({ path: `${configMaps}?resourceVersion=0` }),
  () => ({ path: `${configMaps}?limit=2` }),
  () => ({ path: `${configMaps}?watch=1&timeoutSeconds=20` }),
  () => ({ path: "/readyz" }),
];

async function send(request: RawRequest): Promise<Answer> {
  const sent = client.send(request);
  await passTime([sent], { msMax: requestMsMax });
  return sent;
}

test(`a server recovers from a member that answers at random, SEED=${seed}`, { timeout: 1_200_000 }, async () => {
  for (let round = 0; round < rounds; round++) {
    etcd.disturb(pick([20, 40, 70]));
    await passTime(
      Array.from({ length: atOnce * 2 }, () => client.send(pick(requests)())),
      { msMax: requestMsMax },
    );
    etcd.restart();
    await recovers(`r${round}`);
  }
});

/** Waits until the server is ready and lists; then a write works, and a watch sees it. */
async function recovers(created: string): Promise<void> {
  let last = "";
  // own wait: the time is virtual
  for (const end = Date.now() + recoveryMsMax; ; ) {
    const ready = await send({ path: "/readyz" });
    const list = await send({ path: configMaps });
    last = `${ready.status} ${ready.text.slice(0, 200)}; ${list.status} ${list.text.slice(0, 200)}`;
    if (ready.status === 200 && list.status === 200) break;
    assert.ok(Date.now() < end, `the server does not recover: ${last}`);
    mock.timers.tick(1000);
  }
  const watch = client.send({ path: `${configMaps}?watch=1&timeoutSeconds=30&resourceVersion=0` });
  const { status, text } = await send({ method: "POST", path: configMaps, body: body(created) });
  assert.equal(status, 201, text);
  await passTime([watch], { msMax: requestMsMax });
  assert.match((await watch).text, new RegExp(`"name":"${created}"`), "the watch delivers what was created");
}
