/** Finds objects with finalizers in the watch caches, and releases them. */
import { ApiError, notFound } from "../apimachinery/errors.ts";
import type { Catalog, ResourceDefinition } from "../catalog/contract.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { serverWrite } from "../registry/server-write.ts";
import { update } from "../registry/update.ts";
import type { Finalizers, HeldObject, HeldScope } from "./held-objects.ts";

/** Creates the finder of a server. It reads and writes without requests. */
export function finalizersOf(registry: RegistryContext): Finalizers {
  return {
    async held(scope) {
      const found = await Promise.all(
        definitionsIn(registry.catalog, scope).map((one) => heldOf(registry, one, scope)),
      );
      return found.flat();
    },
    release: (held) => release(registry, held),
  };
}

function definitionsIn({ definitions }: Catalog, scope: HeldScope): ResourceDefinition[] {
  return definitions().filter(
    ({ group, resource, namespaced }) =>
      (scope.resource === undefined || (resource === scope.resource && group === (scope.group ?? ""))) &&
      (scope.namespace === undefined || namespaced),
  );
}

async function heldOf(
  { catalog, storage }: RegistryContext,
  { group, resource }: ResourceDefinition,
  scope: HeldScope,
): Promise<HeldObject[]> {
  const store = catalog.findResource(group, resource)?.store;
  if (store === undefined) return [];
  const prefix = scope.namespace === undefined ? store.form.prefix : store.keyOf(scope.namespace, "");
  if ((await storage.count(prefix)) === 0) return []; // The cache of a resource without objects need not be loaded.
  return [...(await store.cache.current()).range(prefix)].flatMap((entry) => {
    const { name = "", namespace = "", finalizers = [] } = store.decode(entry).metadata;
    const isMeant = scope.name === undefined || scope.name === name;
    return isMeant && finalizers.length > 0 ? [{ group, resource, namespace, name, finalizers }] : [];
  });
}

async function release(registry: RegistryContext, { group, resource, namespace, name }: HeldObject): Promise<void> {
  const found = registry.catalog.findResource(group, resource);
  const version = found?.definition.storage?.version ?? "";
  const target = registry.catalog.find(group, version, resource);
  if (found === undefined || target === undefined) return;
  try {
    await update(registry, {
      ...serverWrite({ target, namespace, name }),
      next(current) {
        const object = current?.();
        if (object === undefined) throw notFound(found.definition, name);
        delete object.metadata.finalizers;
        return object;
      },
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status.code === 404;
}
