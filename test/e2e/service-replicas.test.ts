/** Two servers over one store: addresses of Services, with clients of both, and a store of an older version. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Storage } from "../../src/storage/contract.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { openSharedStorage, startTestServer, type TestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";

interface Replica {
  readonly server: TestServer;
  readonly client: RawClient;
}

async function start(shared: Storage): Promise<Replica> {
  const server = await startTestServer(
    { serviceClusterIpRange: "10.0.0.0/26", serviceNodePortRange: "30000-30063" },
    shared,
  );
  return { server, client: rawClient(server.kubeconfig) };
}

async function stop({ server, client }: Replica): Promise<void> {
  client.close();
  await server.close();
}

const services = "/api/v1/namespaces/default/services";
const addresses = "/apis/networking.k8s.io/v1/ipaddresses";

interface Service {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly clusterIP: string; readonly ports: readonly { readonly nodePort?: number }[] };
}

describe("services of two servers", () => {
  let shared: Storage;
  let replicas: Replica[];
  before(async () => {
    shared = await openSharedStorage();
    replicas = [await start(shared), await start(shared)];
  });
  after(async () => {
    await Promise.all(replicas.map(stop));
    await shared.close();
  });
  const list = async (path: string): Promise<Service[]> => {
    const answers = await Promise.all(replicas.map(({ client }) => client.send({ path })));
    const [first, second] = answers.map(({ body }) => body.items);
    assert.deepEqual(first, second);
    return first;
  };

  test("concurrent creations get distinct addresses and ports, each with its IPAddress", async () => {
    const create = (at: number) => {
      const { client } = replicas[at % 2] as Replica;
      const body = { metadata: { name: `s${at}` }, spec: { type: "NodePort", ports: [{ port: 80 }] } };
      return client.send({ method: "POST", path: services, body });
    };
    const created = await Promise.all(Array.from({ length: 40 }, (_none, at) => create(at)));
    assert.deepEqual([...new Set(created.map(({ status }) => status))], [201]);
    const found = await list(services);
    assert.equal(new Set(found.map(({ spec }) => spec.clusterIP)).size, 41);
    assert.equal(new Set(found.map(({ spec }) => spec.ports[0]?.nodePort)).size, 41);
    const owned = (await list(addresses)).map(({ metadata }) => metadata.name);
    assert.deepEqual(owned.sort(), found.map(({ spec }) => spec.clusterIP).sort());
  });

  test("a PUT that creates a service allocates, too, and a change of the type releases", async () => {
    const [one, other] = replicas as [Replica, Replica];
    const path = `${services}/put`;
    const metadata = { name: "put" };
    const created = await one.client.send({ method: "PUT", path, body: { metadata, spec: { ports: [{ port: 80 }] } } });
    assert.equal(created.status, 201, created.text);
    const address = `${addresses}/${created.body.spec.clusterIP}`;
    const parent = (await other.client.send({ path: address })).body.spec.parentRef;
    assert.deepEqual(parent, { resource: "services", namespace: "default", name: "put" });
    const spec = { type: "ExternalName", externalName: "example.com" };
    const changed = await other.client.send({ method: "PUT", path, body: { metadata, spec } });
    assert.equal(changed.status, 200, changed.text);
    assert.equal((await one.client.send({ path: address })).status, 404);
  });

  test("what one server releases, the other allocates", async () => {
    const [one, other] = replicas as [Replica, Replica];
    const { body } = await one.client.send({ path: `${services}/s1` });
    await one.client.send({ method: "DELETE", path: `${services}/s1` });
    const spec = {
      type: "NodePort",
      clusterIP: body.spec.clusterIP,
      ports: [{ port: 1, nodePort: body.spec.ports[0].nodePort }],
    };
    const again = { metadata: { name: "again" }, spec };
    const answer = await other.client.send({ method: "POST", path: services, body: again });
    assert.equal(answer.status, 201, answer.text);
    const taken = await one.client.send({
      method: "POST",
      path: services,
      body: { ...again, metadata: { name: "third" } },
    });
    assert.equal(taken.status, 422);
    assert.match(taken.body.message, /failed to allocate IP .*: provided IP is already allocated$/);
  });
});

test("a start creates the IPAddresses and ports of a store without them, with Events", async () => {
  const shared = await openSharedStorage();
  const first = await start(shared);
  const body = { metadata: { name: "old" }, spec: { type: "NodePort", ports: [{ port: 80 }] } };
  const { spec } = (await first.client.send({ method: "POST", path: services, body })).body;
  await stop(first);
  const { entries } = await shared.range("/registry/ipaddresses/");
  const deleted = [...entries.map(({ key }) => key), "/registry/ranges/servicenodeports"];
  await shared.commit(
    [],
    deleted.map((key) => ({ key, value: null })),
  );

  const second = await start(shared);
  const found = (await second.client.send({ path: addresses })).body.items;
  assert.deepEqual(
    found.map(
      ({ metadata, spec: { parentRef } }: { metadata: { name: string }; spec: { parentRef: { name: string } } }) => [
        metadata.name,
        parentRef.name,
      ],
    ),
    [
      ["10.0.0.1", "kubernetes"],
      [spec.clusterIP, "old"],
    ],
  );
  const taken = {
    ...body,
    metadata: { name: "new" },
    spec: { ...body.spec, ports: [{ port: 80, nodePort: spec.ports[0].nodePort }] },
  };
  assert.equal((await second.client.send({ method: "POST", path: services, body: taken })).status, 422);
  await eventually("the Events exist", async () => {
    const { items } = (await second.client.send({ path: "/apis/events.k8s.io/v1/namespaces/default/events" })).body;
    const reasons = items.map(
      ({ reason, regarding }: { reason: string; regarding: { name: string } }) => `${regarding.name} ${reason}`,
    );
    return ["kubernetes ClusterIPNotAllocated", "old ClusterIPNotAllocated", "old PortNotAllocated"].every((one) =>
      reasons.includes(one),
    );
  });
  await stop(second);
  await shared.close();
});
