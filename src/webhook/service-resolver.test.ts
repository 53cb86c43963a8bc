/** The addresses of services. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  clusterIpResolver,
  type EndpointSliceView,
  endpointResolver,
  type ServiceView,
  withLoopback,
} from "./service-resolver.ts";

const ports = [
  { name: "https", port: 443 },
  { name: "other", port: 80 },
];
const service = (spec: ServiceView["spec"] = {}): ServiceView => ({
  spec: { type: "ClusterIP", clusterIP: "10.0.0.1", ports, ...spec },
});
const slice = (addresses: string[], more: Partial<EndpointSliceView> = {}): EndpointSliceView => ({
  addressType: "IPv4",
  ports: [{ name: "https", port: 8443 }],
  endpoints: addresses.map((address) => ({ addresses: [address] })),
  ...more,
});

interface Row {
  readonly service?: ServiceView;
  readonly slices?: readonly EndpointSliceView[];
  readonly port?: number;
}

/**
 * The results of the ClusterIP resolver and of the endpoint resolver: `host:port` or an error
 * message.
 */
const rows: [what: string, row: Row, cluster: string, endpoint: string][] = [
  ["no service", {}, 'service "web" not found', 'service "web" not found'],
  ["a service", { service: service(), slices: [slice(["1.1.1.1", "1.1.1.2"])] }, "10.0.0.1:443", "1.1.1.2:8443"],
  ["no endpoints", { service: service() }, "10.0.0.1:443", 'no endpoints available for service "web"'],
  [
    "an unknown port",
    { service: service(), port: 1 },
    'no service port 1 found for service "web"',
    'no service port 1 found for service "web"',
  ],
  [
    "headless",
    { service: service({ clusterIP: "None" }), slices: [slice(["1.1.1.1"])] },
    'cannot route to service with ClusterIP "None"',
    "1.1.1.1:8443",
  ],
  [
    "an external name",
    { service: { spec: { type: "ExternalName", externalName: "a.b" } } },
    "a.b:443",
    'unsupported service type "ExternalName"',
  ],
  ["no type", { service: { spec: {} } }, 'unsupported service type ""', 'unsupported service type ""'],
  [
    "an endpoint that is not ready",
    {
      service: service(),
      slices: [
        slice([], {
          endpoints: [
            { addresses: ["1.1.1.1"], conditions: {} },
            { addresses: ["1.1.1.2"], conditions: { ready: false } },
          ],
        }),
      ],
    },
    "10.0.0.1:443",
    "1.1.1.1:8443",
  ],
  [
    "the first IP family",
    {
      service: service({ ipFamilies: ["IPv6"] }),
      slices: [slice(["1.1.1.1"]), slice(["::1"], { addressType: "IPv6" })],
    },
    "10.0.0.1:443",
    "::1:8443",
  ],
  [
    "slices of other ports",
    { service: service(), slices: [slice(["1.1.1.1"], { ports: [{ name: "other", port: 1 }] }), slice(["1.1.1.2"])] },
    "10.0.0.1:443",
    "1.1.1.2:8443",
  ],
];

for (const [what, { service: found, slices = [], port = 443 }, cluster, endpoint] of rows) {
  test(`service address: ${what}`, async () => {
    const source = { service: async () => found, endpointSlices: async () => slices };
    const resolve = async (resolver: ReturnType<typeof clusterIpResolver>): Promise<string> => {
      try {
        const address = await resolver("ns", "web", port);
        return `${address.host}:${address.port}`;
      } catch (error) {
        return (error as Error).message;
      }
    };
    assert.equal(await resolve(clusterIpResolver(source)), cluster);
    assert.equal(await resolve(endpointResolver(source, () => 0.5)), endpoint);
  });
}

test("resolves default/kubernetes to the server itself", async () => {
  const resolver = withLoopback(
    () => ({ host: "elsewhere", port: 1 }),
    () => ({ host: "127.0.0.1", port: 6443 }),
  );
  assert.deepEqual(await resolver("default", "kubernetes", 443), { host: "127.0.0.1", port: 6443 });
  assert.deepEqual(await resolver("default", "kubernetes", 80), { host: "elsewhere", port: 1 });
});
