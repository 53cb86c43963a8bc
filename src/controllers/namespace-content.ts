/** Deletes the objects in a namespace, and reports what remains. */
import { ApiError } from "../apimachinery/errors.ts";
import type { Catalog, Resolved, ResourceStore } from "../catalog/contract.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { Storage } from "../storage/contract.ts";
import { clustersOf, isRouted } from "../storage/routed-storage.ts";
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

/** What namespaces can contain. */
interface Contents {
  readonly pods: readonly Content[];
  readonly others: readonly Content[];
}

/** The result of deleting the content of a namespace. */
interface Emptied {
  /** Whether nothing remains, and no deletion failed. */
  readonly empty: boolean;
  /** Remaining content and failures, for the conditions. */
  readonly remaining: Remaining;
}

/** @returns a function that deletes the content of a namespace */
export function contentDeleter(catalog: Catalog): (registry: RegistryContext, namespace: string) => Promise<Emptied> {
  let known: { readonly generation: number; readonly contents: Contents } | undefined;
  return (registry, namespace) => {
    const { generation } = catalog;
    if (known?.generation !== generation) known = { generation, contents: namespacedContents(catalog) };
    return deleteContents(registry, known.contents, namespace);
  };
}

/**
 * Deletes Pods first, and other objects when no Pod remains, so that objects that protect Pods
 * exist as long as they do (KEP-5080). As upstream, remaining Pods are not reported.
 */
async function deleteContents(
  registry: RegistryContext,
  { pods, others }: Contents,
  namespace: string,
): Promise<Emptied> {
  const first = await deleteKinds(registry, pods, namespace);
  if (first.resources.size > 0)
    return { empty: false, remaining: { resources: new Map(), finalizers: new Map(), failures: first.failures } };
  const rest = await deleteKinds(registry, others, namespace);
  const remaining = { ...rest, failures: [...first.failures, ...rest.failures] };
  return { empty: remaining.resources.size === 0 && remaining.failures.length === 0, remaining };
}

function isPods({ target }: Content): boolean {
  const { group, resource } = target.resource.definition;
  return group === "" && resource === "pods";
}

async function deleteKinds(registry: RegistryContext, contents: readonly Content[], namespace: string): Promise<Found> {
  const found: Found = { resources: new Map(), finalizers: new Map(), failures: [] };
  const newestOf = await newestRevisions(registry.storage);
  for (const content of contents) {
    try {
      if (!isShownEmpty(content.store, namespace, newestOf(content.store.form.prefix)))
        await deleteKind(registry, content, namespace, found);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // As upstream, remaining objects of the kind are not counted then.
      found.failures.push(...content.names.map(() => error.message));
    }
  }
  return found;
}

/** @returns a function that returns the newest revision of the store that has the keys with a prefix */
async function newestRevisions(storage: Storage): Promise<(prefix: string) => number> {
  const revisions = new Map<Storage, number>();
  for (const cluster of clustersOf(storage)) revisions.set(cluster, await cluster.current());
  return (prefix) => revisions.get(isRouted(storage) ? storage.forPrefix(prefix) : storage) as number;
}

/**
 * Whether the cache of a resource shows, without waiting, that the namespace had none of its objects at the revision:
 * most namespaces have objects of few resources.
 */
function isShownEmpty({ cache, keyOf }: ResourceStore, namespace: string, revision: number): boolean {
  if (!cache.isLoaded) return false;
  const latest = cache.latest();
  return latest.revision >= revision && latest.count(keyOf(namespace, "")) === 0;
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

/** Every stored and served namespaced resource; resources with the same storage are merged. */
function namespacedContents(catalog: Catalog): Contents {
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
  const contents = [...byPrefix.values()];
  return { pods: contents.filter(isPods), others: contents.filter((content) => !isPods(content)) };
}
