/** The groups that a Job controls. The fixture `pod-groups` in testdata has those that its template names. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openMemoryRegistry, type Place } from "../../../test/support/memory-registry.ts";
import { jobValidation } from "./job-validation.ts";

const cluster = await openMemoryRegistry({
  featureGates: "GenericWorkload=true",
  allVersionsOf: ["scheduling.k8s.io"],
  plugins: (catalog) => [jobValidation(catalog, true)],
});
after(() => cluster.close());
await cluster.create(["/namespaces", ""], { metadata: { name: "ns" } });

const jobs: Place = ["batch/jobs", "ns"];
const groups: Place = ["scheduling.k8s.io/podgroups", "ns"];
const [gang, basic] = [{ gang: { minCount: 1 } }, { basic: {} }];

/** Of the owner reference of the group. */
const rows: [what: string, policy: object, controller: boolean, isRejected: boolean][] = [
  ["that controls a gang", gang, true, true],
  ["that controls another group", basic, true, false],
  ["that owns a gang, which another object controls", gang, false, false],
];
for (const [index, [what, schedulingPolicy, controller, isRejected]] of rows.entries()) {
  test(`${isRejected ? "rejects" : "accepts"} another parallelism of a Job ${what}`, async () => {
    const name = `job-${index}`;
    const containers = [{ name: "c", image: "i" }];
    const spec = { parallelism: 2, template: { spec: { containers, restartPolicy: "Never" } } };
    const { metadata } = await cluster.create(jobs, { metadata: { name }, spec });
    const owner = { apiVersion: "batch/v1", kind: "Job", name, uid: metadata.uid as string, controller };
    await cluster.create(groups, {
      metadata: { name: `group-${index}`, ownerReferences: [owner] },
      spec: { schedulingPolicy },
    });
    const changing = cluster.change(jobs, name, (job) => {
      job.spec.parallelism = 3;
    });
    if (!isRejected) return changing;
    const message = `jobs.batch "${name}" is forbidden: cannot change parallelism for a Job referencing gang-scheduled PodGroup "group-${index}"`;
    await assert.rejects(changing, { message });
  });
}
