/**
 * Reconciles the bootstrap policy at every start: creates missing objects and adds missing
 * permissions and subjects. It removes nothing.
 * Source: Kubernetes docs, "Using RBAC Authorization", heading "Auto-reconciliation";
 * k8s.io/component-helpers@v0.36.0/auth/rbac/reconciliation/.
 */

import type { KubeObject } from "../../../apimachinery/object.ts";
import type { PolicyRule } from "../../../authorization/contract.ts";
import { findUncovered } from "../../../authorization/rbac/cover.ts";
import { deepEqual } from "../../../lib/json/values.ts";
import type { RegistryContext, WriteRequest } from "../../../registry/contract.ts";
import { serverWrite } from "../../../registry/server-write.ts";
import { deleteOne, update } from "../../audited-writes.ts";
import { type BootObject, ensureObject } from "../ensure-object.ts";
import { seed } from "../seed.ts";
import { aggregatePolicy } from "./aggregate-policy.ts";
import { inheritSplitObjects } from "./inherit-split.ts";
import { autoupdate, bootstrapPolicy } from "./policy.ts";

/**
 * Creates or updates all objects of the bootstrap policy.
 *
 * @param aggregates whether the controller that aggregates ClusterRoles is enabled
 * @throws ApiError if an object cannot be written
 */
export async function ensureRbacPolicy(registry: RegistryContext, { aggregates = false } = {}): Promise<void> {
  const policy = bootstrapPolicy(registry.gates).filter(({ group, version, resource }) =>
    registry.catalog.findServed(group, version, resource),
  );
  const isEmpty = (await registry.storage.count("/registry/clusterroles/")) === 0;
  if (isEmpty && (await seed(registry, aggregates ? aggregatePolicy(policy) : policy))) return;
  await inheritSplitObjects(registry, policy);
  await Promise.all(policy.map((desired) => reconcile(registry, desired)));
}

async function reconcile(registry: RegistryContext, desired: BootObject): Promise<void> {
  const existing = await ensureObject(registry, desired);
  if (existing === undefined || existing.metadata.annotations?.[autoupdate] === "false") return;
  const request = writeRequest(registry, desired);
  if (desired.object.roleRef !== undefined && !deepEqual(existing.roleRef, desired.object.roleRef)) {
    await deleteOne(registry, { ...request, options: { dryRun: false } });
    await ensureObject(registry, desired);
    return;
  }
  if (!addMissing(existing, desired.object)) return;
  await update(registry, {
    ...request,
    next(current) {
      const object: KubeObject = current?.() ?? structuredClone(desired.object as KubeObject);
      addMissing(object, desired.object);
      return object;
    },
  });
}

function writeRequest(
  { catalog }: RegistryContext,
  { group, version, resource, namespace, object }: BootObject,
): WriteRequest {
  const target = catalog.findServed(group, version, resource);
  if (target === undefined) throw new Error(`${resource}.${group} is not served`);
  const name = object.metadata.name as string;
  return serverWrite({ target, namespace, name });
}

/**
 * Adds missing labels, annotations, rules, subjects and selectors. Existing ones are not changed.
 *
 * @returns whether something was missing
 */
function addMissing(object: KubeObject, desired: BootObject["object"]): boolean {
  const { metadata } = object;
  const labels = { ...desired.metadata.labels, ...metadata.labels };
  const annotations = { ...desired.metadata.annotations, ...metadata.annotations };
  const countBefore = Object.keys(metadata.labels ?? {}).length + Object.keys(metadata.annotations ?? {}).length;
  let changed = Object.keys(labels).length + Object.keys(annotations).length > countBefore;
  metadata.labels = labels;
  metadata.annotations = annotations;
  if (desired.roleRef !== undefined)
    return addAll(object, "subjects", missingSubjects(object.subjects, desired.subjects)) || changed;
  if (desired.aggregationRule === undefined || object.aggregationRule === undefined) {
    changed = addAll(object, "rules", findUncovered(rulesOf(object), rulesOf(desired)).pieces) || changed;
  }
  if (desired.aggregationRule === undefined) return changed;
  const rule = object.aggregationRule ?? {};
  const selectors: unknown[] = rule.clusterRoleSelectors ?? [];
  const missing = (desired.aggregationRule.clusterRoleSelectors as unknown[]).filter(
    (selector) => !selectors.some((each) => deepEqual(each, selector)),
  );
  if (missing.length === 0) return changed;
  object.aggregationRule = { ...rule, clusterRoleSelectors: [...selectors, ...missing] };
  return true;
}

function rulesOf(object: BootObject["object"]): PolicyRule[] {
  return (object.rules as PolicyRule[] | null | undefined) ?? [];
}

function addAll(object: KubeObject, field: "rules" | "subjects", missing: readonly unknown[]): boolean {
  if (missing.length === 0) return false;
  object[field] = [...((object[field] as unknown[] | undefined) ?? []), ...missing];
  return true;
}

function missingSubjects(existing: unknown, desired: unknown): unknown[] {
  const present = (existing as unknown[] | undefined) ?? [];
  return ((desired as unknown[] | undefined) ?? []).filter(
    (subject) => !present.some((each) => deepEqual(each, subject)),
  );
}
