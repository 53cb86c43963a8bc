/** Fills a fresh store in a few commits: what the server itself brings along needs neither admission nor validation, and every first start waits for it. */
import { formatGroupVersion, type KubeObject, type ManagedFieldsEntry } from "../apimachinery/object.ts";
import { loopbackUser } from "../apimachinery/system-user.ts";
import type { Resolved } from "../catalog/contract.ts";
import { insertAll, type NewObject } from "../registry/commit.ts";
import type { RegistryContext, WriteRequest } from "../registry/contract.ts";
import { trackManagedFields } from "../registry/managed-fields/track.ts";
import { fillSystemFields } from "../registry/prepare.ts";
import { type BootObject, serverName } from "./boot-state.ts";

/**
 * @param objects whole as they are: their kinds add no defaults
 * @returns false when one of them is there already, or its kind is switched off; some may have been written then
 */
export async function seed(registry: RegistryContext, objects: readonly BootObject[]): Promise<boolean> {
  const managers = new Map<string, ManagedFieldsEntry[] | undefined>();
  const fresh: NewObject[] = [];
  for (const wanted of objects) {
    const target = registry.catalog.findServed(wanted.group, wanted.version, wanted.resource);
    if (target?.resource.store === undefined) return false;
    const object = freshObject(registry, target, wanted, managers);
    const key = target.resource.store.keyOf(wanted.namespace, object.metadata.name as string);
    fresh.push({ resource: target.resource, key, object });
  }
  return insertAll(registry, fresh);
}

/** @param managers of objects that have the same fields, made once */
function freshObject(
  registry: RegistryContext,
  target: Resolved,
  { group, version, namespace, object: wanted }: BootObject,
  managers: Map<string, ManagedFieldsEntry[] | undefined>,
): KubeObject {
  const object: KubeObject = {
    ...wanted,
    apiVersion: formatGroupVersion(group, version),
    metadata: { ...wanted.metadata, ...(namespace !== "" && { namespace }) },
  };
  const { labels = {}, annotations = {} } = object.metadata;
  const fields = JSON.stringify([wanted.kind, Object.keys(object), Object.keys(labels), Object.keys(annotations)]);
  if (!managers.has(fields)) {
    trackManagedFields(registry, requestOf(target, namespace), object, undefined);
    managers.set(fields, object.metadata.managedFields);
  }
  const managedFields = managers.get(fields);
  if (managedFields !== undefined) object.metadata.managedFields = managedFields;
  fillSystemFields(object.metadata, registry, registry.clock.now());
  return object;
}

function requestOf(target: Resolved, namespace: string): WriteRequest {
  const writer = { user: loopbackUser, fieldManager: serverName, userAgent: serverName };
  return { target, namespace, name: "", subresource: "", dryRun: false, warnings: [], ...writer };
}
