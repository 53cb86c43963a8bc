/**
 * Creates and corrects the flow schemas and priority levels that every server maintains, and
 * deletes those of earlier releases.
 * Sources: k8s.io/kubernetes@v1.36.0/pkg/registry/flowcontrol/ensurer/strategy.go,
 * k8s.io/kubernetes@v1.36.0/pkg/registry/flowcontrol/rest/storage_flowcontrol.go.
 */

import type { KubeObject } from "../../../apimachinery/object.ts";
import { parseBool } from "../../../apimachinery/parse-bool.ts";
import type { Part } from "../../../apis/fields.ts";
import type { Resolved } from "../../../catalog/contract.ts";
import { conditionEntry, danglingCondition } from "../../../flow-control/dangling-condition.ts";
import { cloneJson, deepEqual } from "../../../lib/json/values.ts";
import type { RegistryContext } from "../../../registry/contract.ts";
import { serverWrite } from "../../../registry/server-write.ts";
import { unlessConflict } from "../../../registry/unless-conflict.ts";
import { deleteOne, update } from "../../audited-writes.ts";
import { type BootObject, ensureObject } from "../../bootstrap/ensure-object.ts";
import { seed } from "../../bootstrap/seed.ts";
import type { Controller, ControllerOptions } from "../../contract.ts";
import { repeatedController } from "../../repeated.ts";
import { autoUpdate, type BootstrapObject, bootstrapObjects } from "./bootstrap-objects.ts";

const manager = "api-priority-and-fairness-config-producer-v1";
/** Flow schemas before the levels to which they refer. */
const kinds = ["flowschemas", "prioritylevelconfigurations"] as const;

/**
 * Writes all objects to a store that has none, with the conditions that flow control would set, and
 * otherwise does what {@link maintainFlowControlObjects} does. Nothing is written for kinds that are
 * not served.
 * @throws ApiError if a write fails
 */
export async function ensureFlowControlObjects(registry: RegistryContext): Promise<void> {
  const targets = kinds.map((resource) => findTarget(registry, resource));
  const counts = targets.map((target) => target && registry.storage.count(target.resource.store?.form.prefix ?? ""));
  const isEmpty = (await Promise.all(counts)).every((count) => count === 0);
  const now = registry.clock.now();
  if (
    isEmpty &&
    (await seed(
      registry,
      bootstrapObjects.map((one) => stored(one, now)),
      manager,
    ))
  )
    return;
  await maintainFlowControlObjects(registry);
}

/**
 * Creates missing objects, corrects changed ones as their annotation allows, and deletes obsolete
 * ones.
 * @throws ApiError if a write fails
 */
export async function maintainFlowControlObjects(registry: RegistryContext): Promise<void> {
  for (const desired of bootstrapObjects) await ensureOne(registry, desired);
  for (const resource of kinds) await deleteObsolete(registry, resource);
}

const findTarget = ({ catalog }: RegistryContext, resource: string): Resolved | undefined =>
  catalog.findServed("flowcontrol.apiserver.k8s.io", "v1", resource);

/** The object as it is after its creation, with the status that flow control sets. */
function stored({ object, ...place }: BootstrapObject, nowMs: number): BootObject {
  if (object.kind !== "FlowSchema") return { ...place, object: { ...object, status: {} } };
  const condition = danglingCondition(object.spec.priorityLevelConfiguration.name, true, nowMs);
  const managedFields = [conditionEntry(`${place.group}/${place.version}`, condition)];
  const status = { conditions: [condition] };
  return { ...place, object: { ...object, metadata: { ...object.metadata, managedFields }, status } };
}

async function ensureOne(registry: RegistryContext, desired: BootstrapObject): Promise<void> {
  const target = findTarget(registry, desired.resource);
  const existing = target && (await ensureObject(registry, desired, manager));
  if (target === undefined || existing === undefined || !revise(cloneJson(existing), desired, target)) return;
  // After a conflict, the next pass checks the object again.
  await unlessConflict(() =>
    update(registry, {
      ...serverWrite({ target, name: existing.metadata.name as string, fieldManager: manager }),
      next(current) {
        const object = current?.() ?? cloneJson(existing);
        revise(object, desired, target);
        return object;
      },
    }),
  );
}

/**
 * Corrects the spec, if it may be corrected, and the annotation.
 * @returns whether something was changed
 */
function revise(object: KubeObject, desired: BootstrapObject, target: Resolved): boolean {
  const { annotations, generation } = object.metadata;
  const allowed = parseBool(annotations?.[autoUpdate] ?? "");
  const correctsSpec = desired.mandatory || (allowed ?? BigInt(generation ?? 0) === 1n);
  const changesSpec = correctsSpec && !hasSpec(object, desired, target);
  if (changesSpec) object.spec = cloneJson(desired.object.spec);
  if (allowed === correctsSpec) return changesSpec;
  object.metadata.annotations = { ...annotations, [autoUpdate]: String(correctsSpec) };
  return true;
}

/** Users choose the shares of the exempt level. */
function hasSpec({ spec }: KubeObject, { object }: BootstrapObject, { resource }: Resolved): boolean {
  const expected = cloneJson(object) as KubeObject;
  resource.definition.strategy.setDefaults(expected);
  const { exempt }: Part = expected.spec;
  if (exempt !== undefined && spec?.exempt !== undefined) expected.spec.exempt = { ...spec.exempt };
  return deepEqual(expected.spec, spec);
}

async function deleteObsolete(registry: RegistryContext, resource: string): Promise<void> {
  const target = findTarget(registry, resource);
  const store = target?.resource.store;
  if (target === undefined || store === undefined) return;
  const desired = new Set(bootstrapObjects.map(({ object }) => object.metadata.name));
  await store.cache.ready();
  for (const entry of store.cache.latest().range(store.form.prefix)) {
    const { name } = entry.index;
    if (desired.has(name) || !entry.json.includes(autoUpdate)) continue;
    if (!parseBool(store.decode(entry).metadata.annotations?.[autoUpdate] ?? "")) continue;
    await unlessConflict(() =>
      deleteOne(registry, { ...serverWrite({ target, name, fieldManager: manager }), options: { dryRun: false } }),
    );
  }
}

/** Source: k8s.io/kubernetes@v1.36.0/pkg/registry/flowcontrol/rest/storage_flowcontrol.go. */
const intervalMs = 60_000;

/** Creates the controller that maintains the objects every minute. */
export function flowControlMaintenance(options: ControllerOptions): Controller {
  return repeatedController(options, {
    task: "maintain flow control objects",
    intervalMs,
    retryMs: 1_000,
    dependsOnStoreOnly: true,
    run: maintainFlowControlObjects,
  });
}
