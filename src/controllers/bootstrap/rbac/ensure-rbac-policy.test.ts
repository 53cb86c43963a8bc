import assert from "node:assert/strict";
import { test } from "node:test";
import { type MemoryRegistry, openMemoryRegistry, type Place } from "../../../../test/support/memory-registry.ts";
import { parseFeatureGates } from "../../../apimachinery/feature-gates.ts";
import { ensureBootState } from "../boot-state.ts";
import { ensureRbacPolicy } from "./ensure-rbac-policy.ts";
import { bootstrapPolicy } from "./policy.ts";

const options = { port: 6443, serviceClusterIpRange: "10.0.0.0/24" };
const group = "rbac.authorization.k8s.io";
const clusterRoles: Place = [`${group}/clusterroles`, ""];
const clusterBindings: Place = [`${group}/clusterrolebindings`, ""];

async function booted(featureGates = ""): Promise<MemoryRegistry> {
  const cluster = await openMemoryRegistry({ featureGates });
  await ensureBootState(cluster.registry, options);
  await ensureRbacPolicy(cluster.registry);
  return cluster;
}

test("writes the whole policy into an empty storage, and nothing at the next start", async () => {
  const cluster = await booted();
  for (const { resource, namespace, object: desired } of bootstrapPolicy(cluster.registry.gates)) {
    const isEmpty = (value: unknown): boolean => value === null || (Array.isArray(value) && value.length === 0);
    const object = Object.fromEntries(Object.entries(desired).filter(([, value]) => !isEmpty(value))) as typeof desired;
    const stored = await cluster.find([`${group}/${resource}`, namespace], object.metadata.name as string);
    assert.partialDeepStrictEqual(stored, {
      ...object,
      metadata: { ...object.metadata, ...(namespace !== "" && { namespace }) },
    });
    assert.match(stored?.metadata.uid ?? "", /^[0-9a-f-]{36}$/);
  }
  const revision = await cluster.registry.storage.current();
  await ensureRbacPolicy(cluster.registry);
  assert.equal(await cluster.registry.storage.current(), revision);
  await cluster.close();
});

test("a binding without subjects has no managed field for them", async () => {
  const cluster = await booted();
  const { subjects, metadata } = (await cluster.find(clusterBindings, "system:node")) ?? { metadata: {} };
  assert.equal(subjects, undefined);
  assert.deepEqual(Object.keys(metadata.managedFields?.[0]?.fieldsV1 ?? {}), ["f:metadata", "f:roleRef"]);
  await cluster.close();
});

const extra = { verbs: ["sing"], apiGroups: [""], resources: ["songs"] };

test("a start adds missing rules, subjects and labels, removes none, and skips objects with autoupdate=false", async () => {
  const cluster = await booted();
  const defaultRules = (await cluster.find(clusterRoles, "system:discovery"))?.rules;
  await cluster.change(clusterRoles, "system:discovery", (role) => {
    role.rules = [extra];
    role.metadata.labels = { mine: "yes" };
  });
  await cluster.change(clusterRoles, "system:node", (role) => {
    role.rules = [];
    role.metadata.annotations = { "rbac.authorization.kubernetes.io/autoupdate": "false" };
  });
  await cluster.change(clusterRoles, "edit", (role) => {
    role.aggregationRule = { clusterRoleSelectors: [{ matchLabels: { mine: "yes" } }] };
  });
  await cluster.change(clusterBindings, "system:discovery", (binding) => {
    binding.subjects = [{ kind: "User", name: "ann", apiGroup: group }];
  });
  await cluster.delete(clusterBindings, "cluster-admin");
  await cluster.create(clusterBindings, {
    kind: "ClusterRoleBinding",
    metadata: { name: "cluster-admin" },
    roleRef: { apiGroup: group, kind: "ClusterRole", name: "view" },
    subjects: [],
  });
  await ensureRbacPolicy(cluster.registry);

  const discovery = await cluster.find(clusterRoles, "system:discovery");
  assert.deepEqual(discovery?.rules[0], extra);
  assert.deepEqual(
    discovery?.rules.slice(1).map((rule: { nonResourceURLs: string[] }) => rule.nonResourceURLs[0]),
    defaultRules?.[0].nonResourceURLs,
  );
  assert.deepEqual(discovery?.metadata.labels, { mine: "yes", "kubernetes.io/bootstrapping": "rbac-defaults" });
  assert.deepEqual((await cluster.find(clusterRoles, "system:node"))?.rules, undefined);
  assert.equal((await cluster.find(clusterRoles, "edit"))?.aggregationRule.clusterRoleSelectors.length, 2);
  const names = (await cluster.find(clusterBindings, "system:discovery"))?.subjects.map(
    ({ name }: { name: string }) => name,
  );
  assert.deepEqual(names, ["ann", "system:authenticated"]);
  assert.equal((await cluster.find(clusterBindings, "cluster-admin"))?.roleRef.name, "cluster-admin");
  await cluster.close();
});

test("a missing object inherits what was changed in the object of which it was a part", async () => {
  const cluster = await booted();
  const mine = { "rbac.authorization.kubernetes.io/autoupdate": "false", mine: "yes" };
  const authenticated = [{ kind: "Group", apiGroup: group, name: "system:authenticated" }];
  await cluster.change(clusterBindings, "system:discovery", (binding) => {
    binding.metadata.annotations = mine;
    binding.subjects = authenticated;
  });
  await cluster.change(clusterRoles, "view", (role) => {
    role.aggregationRule = undefined;
    role.rules = [extra];
  });
  await cluster.delete(clusterBindings, "system:public-info-viewer");
  for (const name of ["view", "edit"]) await cluster.delete(clusterRoles, `system:aggregate-to-${name}`);
  await ensureRbacPolicy(cluster.registry);
  const viewer = await cluster.find(clusterBindings, "system:public-info-viewer");
  assert.deepEqual([viewer?.metadata.annotations, viewer?.subjects], [mine, authenticated]);
  assert.equal(viewer?.roleRef.name, "system:public-info-viewer");
  const rulesOf = async (name: string) => (await cluster.find(clusterRoles, `system:aggregate-to-${name}`))?.rules;
  assert.deepEqual((await rulesOf("view"))?.[0], extra);
  assert.ok((await rulesOf("view"))?.length > 1, "the rules of the policy are added");
  assert.notDeepEqual((await rulesOf("edit"))?.[0], extra);
  await cluster.close();
});

test("creates the objects of a feature gate when it is on, and keeps them when it is turned off", async () => {
  const role = "system:cluster-trust-bundle-discovery";
  const off = await booted();
  assert.equal(await off.find(clusterRoles, role), undefined);
  await off.close();
  const on = await booted("ClusterTrustBundle=true");
  assert.deepEqual((await on.find(clusterBindings, role))?.subjects, [
    { kind: "Group", apiGroup: group, name: "system:serviceaccounts" },
  ]);
  await ensureRbacPolicy({ ...on.registry, gates: parseFeatureGates("").gates });
  assert.notEqual(await on.find(clusterRoles, role), undefined);
  await on.close();
});
