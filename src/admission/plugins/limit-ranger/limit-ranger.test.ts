import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type MemoryRegistry, openMemoryRegistry, type Place } from "../../../../test/support/memory-registry.ts";
import { parseFeatureGates } from "../../../apimachinery/feature-gates.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { TraceStep } from "../../../request/admission-trace.ts";
import { limitRanger } from "./limit-ranger.ts";

const { gates } = parseFeatureGates("");
let cluster: MemoryRegistry;
let namespaces = 0;

before(async () => {
  cluster = await openMemoryRegistry({ plugins: (catalog) => [limitRanger(catalog, gates)] });
});
after(() => cluster.close());

type Limits = Readonly<Record<string, unknown>>;

/** Creates a namespace with LimitRanges. @returns its name */
async function namespaceWith(ranges: Readonly<Record<string, readonly Limits[]>>): Promise<string> {
  const namespace = `ns-${namespaces++}`;
  await cluster.create(["/namespaces", ""], { metadata: { name: namespace } });
  for (const [name, limits] of Object.entries(ranges))
    await cluster.create(["/limitranges", namespace], { metadata: { name }, spec: { limits } });
  return namespace;
}

const podOf = (...resources: readonly object[]): KubeObject => ({
  metadata: { name: "pod" },
  spec: { containers: resources.map((each, index) => ({ name: `c${index}`, image: "image", resources: each })) },
});

const pods = (namespace: string): Place => ["/pods", namespace];

test("lists violated bounds in the order of limits, containers, kinds of bound and resources, each text once", async () => {
  const namespace = await namespaceWith({
    limits: [
      {
        type: "Container",
        max: { memory: "1Gi", cpu: "1" },
        min: { memory: "64Mi", cpu: "100m" },
        maxLimitRequestRatio: { cpu: "2" },
      },
      { type: "Pod", max: { cpu: "1" } },
    ],
  });
  const small = { requests: { cpu: "10m", memory: "1Mi" }, limits: { cpu: "20m", memory: "2Gi" } };
  const large = { requests: { cpu: "1" }, limits: { cpu: "3" } };
  await assert.rejects(cluster.create(pods(namespace), podOf(small, small, large)), {
    message: `pods "pod" is forbidden: [${[
      "minimum cpu usage per Container is 100m, but request is 10m",
      "minimum memory usage per Container is 64Mi, but request is 1Mi",
      "maximum memory usage per Container is 1Gi, but limit is 2Gi",
      "maximum cpu usage per Container is 1, but limit is 3",
      "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
      "maximum cpu usage per Pod is 1, but limit is 3040m",
    ].join(", ")}]`,
  });
});

const ratios: [limit: string, request: string, text: string][] = [
  ["129", "128", "1.007812"], // 1.0078125: the last digit is even.
  ["131", "128", "1.023438"], // 1.0234375
  ["4", "3", "1.333333"],
  ["5", "3", "1.666667"],
];
for (const [limit, request, text] of ratios) {
  test(`shows the ratio ${limit}/${request} as Go does`, async () => {
    const namespace = await namespaceWith({ limits: [{ type: "Container", maxLimitRequestRatio: { cpu: "1" } }] });
    await assert.rejects(
      cluster.create(pods(namespace), podOf({ requests: { cpu: request }, limits: { cpu: limit } })),
      ({ message }: Error) => message.endsWith(`but provided ratio is ${text}`),
    );
  });
}

test("the first of several LimitRanges by name sets a default, and each of them limits", async () => {
  const namespace = await namespaceWith({
    b: [{ type: "Container", default: { cpu: "2", memory: "1Gi" }, max: { cpu: "2" } }],
    a: [{ type: "Container", default: { cpu: "1" } }],
  });
  const { spec, metadata } = await cluster.create(pods(namespace), podOf({}));
  assert.deepEqual(spec.containers[0].resources.limits, { cpu: "1", memory: "1Gi" });
  // As upstream, the annotation has what the last LimitRange set.
  assert.equal(
    metadata.annotations?.["kubernetes.io/limit-ranger"],
    "LimitRanger plugin set: memory request for container c0; memory limit for container c0",
  );
  await assert.rejects(
    cluster.create(pods(namespace), { ...podOf({ limits: { cpu: "3" } }), metadata: { name: "large" } }),
    /maximum cpu usage per Container is 2, but limit is 3$/,
  );
});

test("a changed LimitRange applies to the next request", async () => {
  const namespace = await namespaceWith({ limits: [{ type: "Container", max: { cpu: "1" } }] });
  const pod = podOf({ limits: { cpu: "2" } });
  await assert.rejects(cluster.create(pods(namespace), pod), /maximum cpu usage per Container is 1/);
  await cluster.change(["/limitranges", namespace], "limits", ({ spec }) => {
    spec.limits = [{ type: "Container", max: { cpu: "2" } }];
  });
  await cluster.create(pods(namespace), pod, true);
  await cluster.delete(["/limitranges", namespace], "limits");
  await cluster.create(pods(namespace), podOf({ limits: { cpu: "3" } }));
});

test("an explanation names the LimitRange and what it allows", async () => {
  const namespace = await namespaceWith({
    small: [
      { type: "Container", min: { cpu: "100m" }, max: { cpu: "2", memory: "1Gi" }, maxLimitRequestRatio: { cpu: "4" } },
      { type: "Pod", maxLimitRequestRatio: { memory: "2" } },
    ],
  });
  const steps: TraceStep[] = [];
  const plugin = limitRanger(cluster.registry.catalog, gates);
  const attributes = {
    ...attributesOf("pods", podOf({ limits: { cpu: "3" } })),
    namespace,
    trace: { add: (step: TraceStep) => void steps.push(step) },
  };
  await assert.rejects(async () => plugin.validate?.(attributes), /^ApiError: pods "pod" is forbidden/);
  assert.deepEqual(steps, [
    {
      plugin: "LimitRanger",
      phase: "validating",
      part: "small",
      objects: [{ group: "", version: "v1", resource: "limitranges", namespace, name: "small" }],
      outcome: "rejected",
      message:
        "allowed per Container: cpu from 100m to 2, limit at most 4 times the request; memory to 1Gi; allowed per Pod: memory limit at most 2 times the request",
      seconds: 0,
    },
  ]);
});

const ignored: [what: string, change: Partial<AdmissionAttributes>][] = [
  ["an update of a pod", { operation: "UPDATE" }],
  ["the creation of a subresource", { subresource: "binding" }],
  ["a status", { operation: "UPDATE", subresource: "status" }],
  ["a deletion", { operation: "DELETE" }],
];
for (const [what, change] of ignored) {
  test(`ignores ${what} at once`, () => {
    const plugin = limitRanger({ findResource: () => assert.fail("reads LimitRanges") }, gates);
    const attributes = { ...attributesOf("pods", podOf({})), ...change };
    assert.equal(plugin.mutate?.(attributes), undefined);
    assert.equal(plugin.validate?.(attributes), undefined);
  });
}

function attributesOf(resource: string, object: KubeObject): AdmissionAttributes {
  return {
    operation: "CREATE",
    target: { resource: { definition: { group: "", resource } } },
    subresource: "",
    name: "pod",
    object,
  } as unknown as AdmissionAttributes;
}
