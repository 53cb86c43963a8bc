/** The pods and device classes of claims, read from a registry. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type MemoryRegistry, openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import { type CachedClaimRelations, claimRelations } from "./claim-relations.ts";

const claims = ["resource.k8s.io/resourceclaims", "n"] as const;
let cluster: MemoryRegistry;
let relations: CachedClaimRelations;
let uid: string;

before(async () => {
  cluster = await openMemoryRegistry();
  relations = claimRelations(cluster.registry.catalog);
  await cluster.create(["/namespaces", ""], { metadata: { name: "n" } });
  const resources = { requests: { "example.com/gpu": "1" }, limits: { "example.com/gpu": "1" } };
  const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "a", image: "i", resources }] } };
  uid = (await cluster.create(["/pods", "n"], pod)).metadata.uid as string;
  for (const [name, spec] of [
    ["plain", {}],
    ["gpu", { extendedResourceName: "example.com/gpu" }],
  ] as const)
    await cluster.create(["resource.k8s.io/deviceclasses", ""], { metadata: { name }, spec });
  await relations.ready();
});
after(() => cluster.close());

test("device classes have extended resources, and all have an implicit one", () => {
  assert.deepEqual(
    [relations.extendedResourceOf("gpu"), relations.extendedResourceOf("plain")],
    ["example.com/gpu", undefined],
  );
  const names = ["example.com/gpu", "deviceclass.resource.kubernetes.io/plain", "example.com/other"];
  assert.deepEqual(names.map(relations.hasClassFor), [true, true, false]);
});

const owned = (name: string, { annotated = true, ownerUid = uid, kind = "Pod" } = {}) => ({
  metadata: {
    name,
    annotations: { "resource.kubernetes.io/extended-resource-claim": String(annotated) },
    ownerReferences: [{ apiVersion: "v1", kind, name: "p", uid: ownerUid, controller: true }],
  },
  spec: { devices: { requests: [{ name: "r", exactly: { deviceClassName: "gpu" } }] } },
});

test("only the first claim that was created for a pod has the pod", async () => {
  const podOf = async (claim: ReturnType<typeof owned>): Promise<string | undefined> =>
    relations.podOf(await cluster.create(claims, claim))?.metadata.name;
  assert.equal(await podOf(owned("b")), "p");
  assert.equal(await podOf(owned("c")), undefined);
  assert.equal(await podOf(owned("a", { annotated: false })), undefined);
  assert.equal(await podOf(owned("d", { ownerUid: "other" })), undefined);
  assert.equal(await podOf(owned("e", { kind: "Job" })), undefined);
});

test("a pod that names its claim has that one", async () => {
  await cluster.change(
    ["/pods", "n"],
    "p",
    (pod) => {
      pod.status = {
        ...pod.status,
        extendedResourceClaimStatus: {
          resourceClaimName: "c",
          requestMappings: [{ containerName: "a", resourceName: "example.com/gpu", requestName: "r" }],
        },
      };
    },
    "status",
  );
  const found = await Promise.all(["b", "c"].map((name) => cluster.find(claims, name)));
  assert.deepEqual(
    found.map((claim) => claim && relations.podOf(claim)?.metadata.name),
    [undefined, "p"],
  );
});
