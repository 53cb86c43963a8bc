/** Fields that an update drops: whether they count as a change. */
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { type MemoryRegistry, openMemoryRegistry, type Place } from "../../test/support/memory-registry.ts";
import type { KubeObject } from "../apimachinery/object.ts";

let cluster: MemoryRegistry;
afterEach(() => cluster.close());

interface Row {
  readonly place: Place;
  readonly object: object;
  /** Sets a field that is dropped. */
  change(object: KubeObject): void;
  readonly generation: number;
}

const devices = [{ name: "d" }];
const pool = { name: "p", generation: 1, resourceSliceCount: 1 };
const container = { name: "c", image: "i", terminationMessagePolicy: "File", imagePullPolicy: "Always" };
const rows: { readonly [what: string]: Row } = {
  "a taint of a ResourceSlice counts": {
    place: ["resource.k8s.io/resourceslices", ""],
    object: { spec: { driver: "d.example.com", pool, allNodes: true, devices } },
    change: ({ spec }) => {
      spec.devices[0].taints = [{ key: "a", effect: "NoSchedule" }];
    },
    generation: 2,
  },
  "the topology of an EndpointSlice counts": {
    place: ["discovery.k8s.io/endpointslices", "n"],
    object: { addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.1"] }], ports: [] },
    change: (object) => {
      object.endpoints[0].deprecatedTopology = { "kubernetes.io/hostname": "n" };
    },
    generation: 2,
  },
  "a selector of a DeviceClass does not count": {
    place: ["resource.k8s.io/deviceclasses", ""],
    object: { spec: {} },
    change: ({ spec }) => {
      spec.extendedResourceName = "example.com/a";
    },
    generation: 1,
  },
  "a restart policy of a Deployment's container does not count": {
    place: ["apps/deployments", "n"],
    object: {
      spec: {
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [container] } },
      },
    },
    change: ({ spec }) => {
      spec.template.spec.containers[0].restartPolicyRules = [{ action: "Restart" }];
    },
    generation: 1,
  },
};

const featureGates =
  "DRADeviceTaints=false,DRADeviceTaintRules=false,DRAExtendedResource=false,ContainerRestartRules=false,RestartAllContainersOnContainerExits=false";

for (const [what, { place, object, change, generation }] of Object.entries(rows))
  test(`${what} as a change of the generation when it is dropped`, async () => {
    cluster = await openMemoryRegistry({ featureGates });
    if (place[1] !== "") await cluster.create(["/namespaces", ""], { metadata: { name: place[1] } });
    await cluster.create(place, { metadata: { name: "x" }, ...object });
    const { metadata: _before, ...content } = (await cluster.find(place, "x")) as KubeObject;
    await cluster.change(place, "x", change);
    const { metadata, ...after } = (await cluster.find(place, "x")) as KubeObject;
    assert.deepEqual(after, content);
    assert.equal(metadata.generation, generation);
  });
