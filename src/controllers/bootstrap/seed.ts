/**
 * Writes the initial objects of an empty storage in a few commits. They skip admission and
 * validation, because the first start waits for them.
 */
import { formatGroupVersion, type KubeObject, type ManagedFieldsEntry } from "../../apimachinery/object.ts";
import { isObject } from "../../lib/json/values.ts";
import { typeBelow } from "../../lib/structured-merge/reconcile.ts";
import type { Struct, Type } from "../../lib/structured-merge/schema.ts";
import { isWhole } from "../../lib/structured-merge/typed.ts";
import { insertAll, type NewObject } from "../../registry/commit.ts";
import type { RegistryContext, WriteRequest } from "../../registry/contract.ts";
import { trackManagedFields } from "../../registry/managed-fields/track.ts";
import { fillSystemFields, strategyContext } from "../../registry/prepare.ts";
import { serverName, serverWrite } from "../../registry/server-write.ts";
import type { BootObject } from "./ensure-object.ts";

/**
 * Writes the objects without reading them first. They become what `create` would make of them, except that a status is kept.
 *
 * @param objects defaults are set in them; existing managed fields are kept
 * @param fieldManager owns the objects
 * @returns false if an object exists already or its kind is disabled; some objects can have been
 *   written then
 */
export async function seed(
  registry: RegistryContext,
  objects: readonly BootObject[],
  fieldManager = serverName,
): Promise<boolean> {
  const managers = new Map<string, ManagedFieldsEntry[] | undefined>();
  const newObjects: NewObject[] = [];
  for (const desired of objects) {
    const target = registry.catalog.findServed(desired.group, desired.version, desired.resource);
    if (target?.resource.store === undefined) return false;
    const object = newObject(
      registry,
      serverWrite({ target, namespace: desired.namespace, name: "", fieldManager }),
      desired,
      managers,
    );
    const key = target.resource.store.keyOf(desired.namespace, object.metadata.name as string);
    newObjects.push({ resource: target.resource, key, object });
  }
  return insertAll(registry, newObjects);
}

/** @param managers caches managedFields by the fields of the object */
function newObject(
  registry: RegistryContext,
  request: WriteRequest,
  { group, version, namespace, object: desired, applied }: BootObject,
  managers: Map<string, ManagedFieldsEntry[] | undefined>,
): KubeObject {
  const object: KubeObject = {
    ...desired,
    apiVersion: formatGroupVersion(group, version),
    metadata: { ...desired.metadata, ...(namespace !== "" && { namespace }) },
  };
  const { strategy } = request.target.resource.definition;
  strategy.setDefaults(object);
  const fields = fieldsOf(object, request.target.version.schema);
  if (!managers.has(fields)) {
    trackManagedFields(registry, request, object, undefined);
    managers.set(fields, object.metadata.managedFields);
  }
  const managedFields = managers.get(fields);
  if (managedFields !== undefined) object.metadata.managedFields = managedFields;
  fillSystemFields(object.metadata, registry, registry.clock.now());
  if (strategy.hasGeneration) object.metadata.generation = 1;
  strategy.prepareForCreate(object, strategyContext(registry, request));
  if (applied !== undefined) apply(object, applied);
  return object;
}

function apply(object: KubeObject, { manager, fields }: NonNullable<BootObject["applied"]>): void {
  const own = object.metadata.managedFields ?? [];
  const fieldsV1 = Object.fromEntries(Object.keys(fields).map((field) => [`f:${field}`, {}]));
  object.metadata.managedFields = [
    { ...(own[0] as ManagedFieldsEntry), manager, operation: "Apply", fieldsV1 },
    ...own,
  ];
  Object.assign(object, fields);
}

/** A text that is equal for objects with equal managed fields. */
function fieldsOf(object: KubeObject, schema: Struct): string {
  const { labels = {}, annotations = {} } = object.metadata;
  const spec = shapeOf(object.spec, typeBelow(schema, "f:spec"));
  return JSON.stringify([object.kind, Object.keys(object), Object.keys(labels), Object.keys(annotations), spec]);
}

/** The fields of a value, without those values that do not matter for their owners. */
function shapeOf(value: unknown, type: Type | undefined): unknown {
  if (Array.isArray(value)) return type !== undefined && isWhole(type) ? value.length > 0 : value;
  if (!isObject(value)) return Boolean(value);
  return Object.entries(value).map(([field, member]) => [
    field,
    shapeOf(member, type && typeBelow(type, `f:${field}`)),
  ]);
}
