/** Deletes the objects in a namespace, and reports what remains. */
import { ApiError } from "../apimachinery/errors.ts";
import type { Resolved, ResourceStore } from "../catalog/contract.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { Remaining } from "./namespace-conditions.ts";
import { deleteObjects } from "./namespace-writes.ts";
import { servedTarget } from "./served-target.ts";

interface Content {
  readonly target: Resolved;
  readonly store: ResourceStore;
  /**
   * The resources that serve these objects, such as `events.` and `events.events.k8s.io`;
   * conditions list each.
   */
  readonly names: string[];
}

/** The result of deleting the content of a namespace. */
interface Emptied {
  /** Whether nothing remains, and no deletion failed. */
  readonly empty: boolean;
  /** Remaining content and failures, for the conditions. */
  readonly remaining: Remaining;
}

/**
 * Deletes Pods first, and other objects when no Pod remains, so that objects that protect Pods
 * exist as long as they do (KEP-5080). As upstream, remaining Pods are not reported.
 */
export async function deleteContent(registry: RegistryContext, namespace: string): Promise<Emptied> {
  const contents = namespacedContent(registry);
  const pods = contents.filter(isPods);
  const first = await deleteKinds(registry, pods, namespace);
  if (first.resources.size > 0)
    return { empty: false, remaining: { resources: new Map(), finalizers: new Map(), failures: first.failures } };
  const rest = await deleteKinds(
    registry,
    contents.filter((content) => !isPods(content)),
    namespace,
  );
  const remaining = { ...rest, failures: [...first.failures, ...rest.failures] };
  return { empty: remaining.resources.size === 0 && remaining.failures.length === 0, remaining };
}

function isPods({ target }: Content): boolean {
  const { group, resource } = target.resource.definition;
  return group === "" && resource === "pods";
}

async function deleteKinds(registry: RegistryContext, contents: readonly Content[], namespace: string): Promise<Found> {
  const found: Found = { resources: new Map(), finalizers: new Map(), failures: [] };
  for (const content of contents) {
    try {
      await deleteKind(registry, content, namespace, found);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // As upstream, remaining objects of the kind are not counted then.
      found.failures.push(...content.names.map(() => error.message));
    }
  }
  return found;
}

interface Found {
  readonly resources: Map<string, number>;
  readonly finalizers: Map<string, number>;
  readonly failures: string[];
}

/** @throws ApiError of the first object that could not be deleted */
async function deleteKind(
  registry: RegistryContext,
  content: Content,
  namespace: string,
  { resources, finalizers }: Found,
): Promise<void> {
  const { target, store, names } = content;
  const prefix = store.keyOf(namespace, "");
  if ((await registry.storage.count(prefix)) === 0) return; // Does not load the watch cache.
  await deleteObjects(registry, target, namespace);
  const left = [...(await store.cache.current()).range(prefix)];
  if (left.length > 0) for (const name of names) resources.set(name, left.length);
  for (const entry of left) {
    for (const finalizer of store.decode(entry).metadata.finalizers ?? [])
      finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + names.length);
  }
}

/**
 * Returns every stored and served namespaced resource; resources with the same storage are merged.
 */
function namespacedContent({ catalog }: RegistryContext): Content[] {
  const byPrefix = new Map<string, Content>();
  for (const definition of catalog.definitions()) {
    const prefix = definition.storage?.prefix;
    if (!definition.namespaced || prefix === undefined) continue;
    const target = servedTarget(catalog, definition, ["delete"]);
    const store = target?.resource.store;
    if (target === undefined || store === undefined) continue;
    const content = byPrefix.get(prefix) ?? { target, store, names: [] };
    content.names.push(`${definition.resource}.${definition.group}`);
    byPrefix.set(prefix, content);
  }
  return [...byPrefix.values()];
}
