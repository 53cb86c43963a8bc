/** Objects that cannot be deleted because finalizers hold them, and their release. */
import { ApiError, notFound } from "../apimachinery/errors.ts";
import type { Catalog, ResourceDefinition } from "../catalog/contract.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { serverWrite } from "../registry/server-write.ts";
import { update } from "../registry/update.ts";

/** An object with finalizers. */
export interface HeldObject {
  readonly group: string;
  readonly resource: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  readonly finalizers: readonly string[];
}

/** Which objects: those in a namespace, those of a resource, or one of these. */
export interface HeldScope {
  readonly namespace?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly name?: string;
}

/** Finds objects that finalizers hold, and removes these. */
export interface Finalizers {
  held(scope: HeldScope): Promise<HeldObject[]>;
  /** Removes all finalizers of an object that may be gone meanwhile. @throws ApiError when admission rejects it */
  release(held: HeldObject): Promise<void>;
}

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

/** A line for a warning, such as `widgets.example.com shop/blue (example.com/cleanup)`. */
export function describeHeld({ group, resource, namespace, name, finalizers }: HeldObject): string {
  const full = group === "" ? resource : `${resource}.${group}`;
  return `${full} ${namespace === "" ? "" : `${namespace}/`}${name} (${finalizers.join(", ")})`;
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
