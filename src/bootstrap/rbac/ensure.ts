/**
 * Brings the bootstrap policy up to date at a start: creates what is missing, adds permissions and subjects that are missing, and takes none away.
 * Source: access-control §5.3.8; upstream's reconciliation of roles and bindings.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { loopbackUser } from "../../apimachinery/system-user.ts";
import { uncovered } from "../../authorization/rbac/cover.ts";
import type { PolicyRule } from "../../authorization/rbac/rule.ts";
import { deepEqual } from "../../lib/json/values.ts";
import type { RegistryContext, WriteRequest } from "../../registry/contract.ts";
import { deleteOne } from "../../registry/delete.ts";
import { update } from "../../registry/update.ts";
import { type BootObject, ensure, serverName } from "../boot-state.ts";
import { seed } from "../seed.ts";
import { autoupdate, bootstrapPolicy } from "./policy.ts";

/** @throws ApiError when something cannot be written */
export async function ensureRbacPolicy(registry: RegistryContext): Promise<void> {
  const policy = bootstrapPolicy(registry.gates).filter(({ group, version, resource }) =>
    registry.catalog.findServed(group, version, resource),
  );
  const isFresh = (await registry.storage.count("/registry/clusterroles/")) === 0;
  if (!isFresh || !(await seed(registry, policy))) await Promise.all(policy.map((wanted) => bringUp(registry, wanted)));
}

async function bringUp(registry: RegistryContext, wanted: BootObject): Promise<void> {
  const existing = await ensure(registry, wanted);
  if (existing === undefined || existing.metadata.annotations?.[autoupdate] === "false") return;
  const request = writeOf(registry, wanted);
  if (wanted.object.roleRef !== undefined && !deepEqual(existing.roleRef, wanted.object.roleRef)) {
    await deleteOne(registry, { ...request, options: { dryRun: false } });
    await ensure(registry, wanted);
    return;
  }
  if (!repair(existing, wanted.object)) return;
  await update(registry, {
    ...request,
    next(current) {
      const object: KubeObject = current?.() ?? structuredClone(wanted.object as KubeObject);
      repair(object, wanted.object);
      return object;
    },
  });
}

function writeOf(
  { catalog }: RegistryContext,
  { group, version, resource, namespace, object }: BootObject,
): WriteRequest {
  const target = catalog.findServed(group, version, resource);
  if (target === undefined) throw new Error(`${resource}.${group} is not served`);
  const name = object.metadata.name as string;
  const writer = { user: loopbackUser, fieldManager: serverName, userAgent: serverName };
  return { target, namespace, name, subresource: "", dryRun: false, warnings: [], ...writer };
}

/** Adds what is missing. What is there already stands, labels and annotations too. @returns whether anything was */
export function repair(object: KubeObject, wanted: BootObject["object"]): boolean {
  const { metadata } = object;
  const labels = { ...wanted.metadata.labels, ...metadata.labels };
  const annotations = { ...wanted.metadata.annotations, ...metadata.annotations };
  const known = Object.keys(metadata.labels ?? {}).length + Object.keys(metadata.annotations ?? {}).length;
  let changed = Object.keys(labels).length + Object.keys(annotations).length > known;
  metadata.labels = labels;
  metadata.annotations = annotations;
  if (wanted.roleRef !== undefined)
    return addAll(object, "subjects", missingSubjects(object.subjects, wanted.subjects)) || changed;
  if (wanted.aggregationRule === undefined || object.aggregationRule === undefined) {
    changed = addAll(object, "rules", uncovered(rulesOf(object), rulesOf(wanted))) || changed;
  }
  if (wanted.aggregationRule === undefined) return changed;
  const rule = object.aggregationRule ?? {};
  const selectors: unknown[] = rule.clusterRoleSelectors ?? [];
  const missing = (wanted.aggregationRule.clusterRoleSelectors as unknown[]).filter(
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

function missingSubjects(existing: unknown, wanted: unknown): unknown[] {
  const there = (existing as unknown[] | undefined) ?? [];
  return ((wanted as unknown[] | undefined) ?? []).filter((subject) => !there.some((each) => deepEqual(each, subject)));
}
