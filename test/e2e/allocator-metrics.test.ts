/** The metrics of cluster IPs and node ports: what is in use, allocations, failures and repairs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServerWithClient } from "../support/server-with-client.ts";

const { client } = await startServerWithClient({
  serviceClusterIpRange: "10.0.0.0/28",
  serviceNodePortRange: "30000-30003",
});
const services = "/api/v1/namespaces/default/services";
const range = 'cidr="10.0.0.0/28"';
const [addresses, ports] = ["kube_apiserver_clusterip_allocator", "kube_apiserver_nodeport_allocator"];
const series = [
  `${addresses}_allocated_ips{${range}}`,
  `${addresses}_available_ips{${range}}`,
  `${addresses}_allocation_total{${range},scope="dynamic"}`,
  `${addresses}_allocation_total{${range},scope="static"}`,
  `${addresses}_allocation_errors_total{${range},scope="dynamic"}`,
  `${addresses}_allocation_errors_total{${range},scope="static"}`,
  `${addresses}_allocation_duration_seconds_count{${range}}`,
  `${ports}_allocated_ports`,
  `${ports}_available_ports`,
  `${ports}_allocation_total{scope="dynamic"}`,
  `${ports}_allocation_total{scope="static"}`,
  `${ports}_allocation_errors_total{scope="dynamic"}`,
  `${ports}_allocation_errors_total{scope="static"}`,
];

async function values(): Promise<Map<string, number>> {
  const lines = (await client.send({ path: "/metrics" })).text.split("\n");
  const found = lines.flatMap((line) => series.filter((one) => line.startsWith(`${one} `)).map((one) => [one, line]));
  return new Map(found.map(([one = "", line = ""]) => [one, Number(line.slice(one.length + 1))]));
}

/** Creates a service. @returns the differences of the series that change, by their position */
async function create(spec: object, query = ""): Promise<[status: number, changes: Record<number, number>]> {
  const before = await values();
  const body = { metadata: { generateName: "s-" }, spec: { ports: [{ port: 80 }], ...spec } };
  const { status } = await client.send({ method: "POST", path: `${services}${query}`, body });
  const now = await values();
  const changes = series.map((one) => (now.get(one) ?? 0) - (before.get(one) ?? 0));
  return [status, Object.fromEntries([...changes.entries()].filter(([, change]) => change !== 0))];
}

const rows: [what: string, spec: object, status: number, changes: Record<number, number>][] = [
  // First, because the server may choose each of the 14 addresses.
  ["a requested address", { clusterIP: "10.0.0.9" }, 201, { 0: 1, 1: -1, 3: 1, 6: 1 }],
  ["an address that the server chooses", {}, 201, { 0: 1, 1: -1, 2: 1, 6: 1 }],
  ["an address that is in use", { clusterIP: "10.0.0.9" }, 422, { 5: 1 }],
  ["an address that is in no range", { clusterIP: "10.1.0.9" }, 422, {}],
  ["no address", { clusterIP: "None" }, 201, {}],
  ["a node port", { type: "NodePort" }, 201, { 0: 1, 1: -1, 2: 1, 6: 1, 7: 1, 8: -1, 9: 1 }],
  ["a node port outside of the range", { type: "NodePort", ports: [{ port: 80, nodePort: 40000 }] }, 422, { 12: 1 }],
];
for (const [what, spec, status, changes] of rows) {
  test(`a service with ${what}`, async () => assert.deepEqual(await create(spec), [status, changes]));
}

test("a dry run changes nothing", async () =>
  assert.deepEqual(await create({ type: "NodePort" }, "?dryRun=All"), [201, {}]));

test("requested node ports, until the range is full", async () => {
  const taken = (await client.send({ path: services })).body.items
    .flatMap(({ spec }: { spec: { ports: { nodePort?: number }[] } }) => spec.ports)
    .find(({ nodePort }: { nodePort?: number }) => nodePort !== undefined).nodePort;
  for (const nodePort of [30000, 30001, 30002, 30003]) {
    const [status, changes] = await create({ type: "NodePort", ports: [{ port: 80, nodePort }] });
    if (nodePort === taken) assert.deepEqual([status, changes], [422, { 12: 1 }]);
    else assert.deepEqual([status, changes[7], changes[8], changes[10]], [201, 1, -1, 1]);
  }
  assert.deepEqual(await create({ type: "NodePort" }), [500, { 11: 1 }]);
});

test("addresses, until the range is full", async () => {
  let answer = await create({});
  while (answer[0] === 201) {
    assert.deepEqual(answer[1], { 0: 1, 1: -1, 2: 1, 6: 1 });
    answer = await create({});
  }
  assert.deepEqual(answer, [500, { 4: 1 }]);
  const now = await values();
  assert.deepEqual([now.get(series[0] as string), now.get(series[1] as string)], [14, 0]);
});

test("repairs of node ports are shown", async () => {
  const { text } = await client.send({ path: "/metrics" });
  assert.match(text, /^apiserver_nodeport_repair_reconcile_errors_total 0$/m);
  assert.doesNotMatch(text, /^apiserver_clusterip_repair_/m);
});
