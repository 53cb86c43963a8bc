/** Rules of kinds that an earlier release has, by its gates. */
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { type MemoryRegistry, openMemoryRegistry, type Place } from "../../test/support/memory-registry.ts";
import type { KubeObject } from "../apimachinery/object.ts";

let cluster: MemoryRegistry;
afterEach(() => cluster.close());

async function open(emulatedVersion: string): Promise<void> {
  cluster = await openMemoryRegistry({ emulatedVersion });
  await cluster.create(["/namespaces", ""], { metadata: { name: "n" } });
}

async function found(place: Place): Promise<KubeObject> {
  return (await cluster.find(place, "x")) ?? assert.fail("not found");
}

const container = { name: "c", image: "i", terminationMessagePolicy: "File", imagePullPolicy: "Always" };
const statuses: [emulated: string, conditions: string[] | undefined][] = [
  ["1.35", ["Ready"]],
  ["1.36", undefined],
];
for (const [emulated, expected] of statuses) {
  test(`the status of a new ServiceCIDR is ${expected === undefined ? "dropped" : "kept"} at ${emulated}`, async () => {
    await open(emulated);
    const place: Place = ["networking.k8s.io/servicecidrs", ""];
    const conditions = [{ type: "Ready", status: "True" }];
    await cluster.create(place, { metadata: { name: "x" }, spec: { cidrs: ["10.0.0.0/24"] }, status: { conditions } });
    const kept = (await found(place)).status?.conditions?.map(({ type }: { type: string }) => type);
    assert.deepEqual(kept, expected);
  });
}

const generations: [emulated: string, generation: number | undefined][] = [
  ["1.33", undefined],
  ["1.34", 1],
];
for (const [emulated, expected] of generations) {
  test(`observed generations of a pod are ${expected === undefined ? "dropped" : "kept"} at ${emulated}`, async () => {
    await open(emulated);
    await cluster.create(["/pods", "n"], { metadata: { name: "x" }, spec: { containers: [container] } });
    const change = ({ status }: KubeObject): void => {
      status.observedGeneration = 1;
      status.conditions = [{ type: "Ready", status: "True", observedGeneration: 1 }];
    };
    await cluster.change(["/pods", "n"], "x", change, "status");
    const { status } = await found(["/pods", "n"]);
    assert.deepEqual([status.observedGeneration, status.conditions[0].observedGeneration], [expected, expected]);
  });
}

interface JobRow {
  readonly emulated: string;
  /** Of the suspended job. */
  readonly status: object;
  readonly change: "placement" | "resources";
  readonly problem?: RegExp;
}

const stopped = { conditions: [{ type: "Suspended", status: "True" }] };
const immutable = /spec\.template: Invalid value: .*: field is immutable$/;
const jobs: JobRow[] = [
  { emulated: "1.35", status: {}, change: "placement" },
  { emulated: "1.35", status: { startTime: "2026-01-01T00:00:00Z" }, change: "placement", problem: immutable },
  { emulated: "1.35", status: stopped, change: "resources", problem: immutable },
  { emulated: "1.36", status: {}, change: "placement", problem: immutable },
  { emulated: "1.36", status: stopped, change: "placement" },
  { emulated: "1.36", status: stopped, change: "resources" },
];
for (const { emulated, status, change, problem } of jobs) {
  const what = problem === undefined ? "accepts" : "rejects";
  test(`${what} other ${change} of a suspended job with the status ${JSON.stringify(status)} at ${emulated}`, async () => {
    await open(emulated);
    const place: Place = ["batch/jobs", "n"];
    const template = { spec: { containers: [container], restartPolicy: "Never" } };
    await cluster.create(place, { metadata: { name: "x" }, spec: { suspend: true, template } });
    if (Object.keys(status).length > 0)
      await cluster.change(place, "x", (object) => void Object.assign(object, { status }), "status");
    const changing = cluster.change(place, "x", ({ spec }) => {
      if (change === "placement") spec.template.spec.nodeSelector = { a: "b" };
      else spec.template.spec.containers[0].resources = { requests: { cpu: "1" } };
    });
    if (problem === undefined) await changing;
    else await assert.rejects(changing, { message: problem });
  });
}

test("a Service without a relaxed name has one error for its finalizers", async () => {
  await open("1.33");
  const metadata = { name: "x", finalizers: ["orphan", "foregroundDeletion"] };
  const creating = cluster.create(["/services", "n"], { metadata, spec: { clusterIP: "None" } });
  await assert.rejects(creating, {
    message: /^Service "x" is invalid: metadata\.finalizers: [^;]*cannot be both set$/,
  });
});
