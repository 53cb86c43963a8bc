/** Where services are reached that are webhooks, by what is stored of them. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { noLoopback } from "../../test/support/loopback-credentials.ts";
import { openMemoryRegistry } from "../../test/support/memory-registry.ts";
import { callMetrics } from "../metrics/call-metrics.ts";
import { openWebhooks } from "./webhooks.ts";

const { registry, create, close } = await openMemoryRegistry();
after(close);

await create(["/namespaces", ""], { apiVersion: "v1", kind: "Namespace", metadata: { name: "hooks" } });
await create(["/services", "hooks"], {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "conv" },
  spec: { type: "ClusterIP", clusterIP: "10.0.0.9", ports: [{ name: "https", port: 443, protocol: "TCP" }] },
});
await create(["/services", "hooks"], {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "away" },
  spec: { type: "ExternalName", externalName: "conv.example.com" },
});
const slice = (name: string, service: string, address: string) => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name, labels: { "kubernetes.io/service-name": service } },
  addressType: "IPv4",
  ports: [{ name: "https", port: 8443, protocol: "TCP" }],
  endpoints: [{ addresses: [address], conditions: { ready: true } }],
});
await create(["discovery.k8s.io/endpointslices", "hooks"], slice("conv-1", "conv", "10.1.1.1"));
await create(["discovery.k8s.io/endpointslices", "hooks"], slice("other-1", "other", "10.1.1.2"));

const rows: [what: string, service: string, port: number, byAddress: string, byEndpoint: string][] = [
  ["a service", "conv", 443, "10.0.0.9:443", "10.1.1.1:8443"],
  [
    "another port",
    "conv",
    80,
    'no service port 80 found for service "conv"',
    'no service port 80 found for service "conv"',
  ],
  ["a name elsewhere", "away", 443, "conv.example.com:443", 'unsupported service type "ExternalName"'],
  ["nothing", "none", 443, 'service "none" not found', 'service "none" not found'],
];

for (const [what, service, port, byAddress, byEndpoint] of rows) {
  for (const [enableAggregatorRouting, expected] of [
    [false, byAddress],
    [true, byEndpoint],
  ] as const) {
    test(`${what} is reached${enableAggregatorRouting ? " by its endpoints" : ""}`, async () => {
      const self = () => ({ host: "127.0.0.1", port: 6443 });
      const webhooks = openWebhooks(
        { enableAggregatorRouting },
        { catalog: registry.catalog, metrics: { add() {}, calls: callMetrics().observer }, self, loopback: noLoopback },
      );
      let answer: string;
      try {
        const { host, port: at } = await webhooks.resolve("hooks", service, port);
        answer = `${host}:${at}`;
      } catch (error) {
        answer = (error as Error).message;
      }
      webhooks.close();
      assert.equal(answer, expected);
    });
  }
}

test("resolves the Service kubernetes to this server, unless an option replaces the resolver", async () => {
  const needs = {
    catalog: registry.catalog,
    metrics: { add() {}, calls: callMetrics().observer },
    self: () => ({ host: "127.0.0.1", port: 6443 }),
    loopback: noLoopback,
  };
  const own = openWebhooks({ enableAggregatorRouting: false }, needs);
  assert.deepEqual(await own.resolve("default", "kubernetes", 443), { host: "127.0.0.1", port: 6443 });
  const given = openWebhooks(
    { enableAggregatorRouting: false, serviceResolver: () => ({ host: "a", port: 1 }) },
    needs,
  );
  assert.deepEqual(await given.resolve("default", "kubernetes", 443), { host: "a", port: 1 });
});
