/**
 * Reconciles one object with the state of its owners and with its own deletion. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/garbagecollector/garbagecollector.go`,
 * attemptToDeleteItem.
 */

import type { RegistryContext } from "../../registry/contract.ts";
import { currentEntry } from "../../registry/current-entry.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { type FollowedKind, type Graph, isBlocking, type Node } from "./graph.ts";
import {
  foregroundFinalizer,
  orphanFinalizer,
  orphansDependents,
  readMetadata,
  waitsForDependents,
} from "./metadata.ts";
import type { MisplacedOwners } from "./misplaced-owners.ts";
import { type Classified, classifyOwners, NamespacedOwner, UnknownOwnerKind } from "./owners.ts";
import { deleteItem, type Item, removeFinalizer, removeOwners, unblockOwners } from "./writes.ts";

interface Collecting {
  readonly registry: RegistryContext;
  readonly misplaced: MisplacedOwners;
  readonly graph: Graph;
  enqueue(key: string): void;
  /**
   * Waits until the graph is as new as the store at the time of the call.
   * @returns false when a kind cannot be read: its objects might be dependents
   */
  catchUp(): Promise<boolean>;
}

/** Dependents that are orphaned concurrently; their writes share commits. */
const orphansAtOnce = 32;
/** Rounds of one reconciliation, because new dependents can be created meanwhile. */
const orphanRoundsMax = 3;

/** @returns whether there is nothing left to do */
export async function collect(collecting: Collecting, key: string): Promise<boolean> {
  const kind = collecting.graph.get(key)?.kind;
  const entry = kind && (await currentEntry(kind.store, key));
  if (kind === undefined || entry === undefined) return true;
  const item = itemOf(kind, entry);
  const { generation } = collecting.registry.catalog;
  if (orphansDependents(item.meta)) return orphan(collecting, item);
  if (waitsForDependents(item.meta)) return deleteForeground(collecting, item);
  if (item.meta.deleting || item.meta.owners.length === 0) return true;
  try {
    return await deleteByOwners(
      collecting,
      item,
      await classifyOwners(collecting.registry, item.namespace, item.meta.owners),
    );
  } catch (error) {
    if (error instanceof UnknownOwnerKind) return park(collecting, key, generation);
    if (!(error instanceof NamespacedOwner)) throw error;
    await collecting.misplaced.report(collecting.registry, item, [error.reference]);
    return true;
  }
}

/**
 * Parks an object with an owner of unknown kind.
 * @param generation of the catalog that lacked the kind
 */
function park({ registry, graph }: Collecting, key: string, generation: number): boolean {
  const node = graph.get(key);
  if (registry.catalog.generation !== generation) return false;
  if (node !== undefined) node.parked = true;
  return true;
}

function itemOf(kind: FollowedKind, entry: Entry): Item {
  return { kind, namespace: entry.index.namespace, name: entry.index.name, meta: readMetadata(entry) };
}

/** Deletes an object, or removes owner references, depending on its owners. */
async function deleteByOwners(
  collecting: Collecting,
  item: Item,
  { solid, dangling, waiting }: Classified,
): Promise<boolean> {
  const { registry, graph } = collecting;
  if (solid.length > 0 && dangling.length === 0 && waiting.length === 0) return true;
  await collecting.misplaced.report(collecting.registry, item, dangling);
  if (solid.length > 0) return removeOwners(registry, item, new Set([...dangling, ...waiting].map(({ uid }) => uid)));
  if (waiting.length === 0) return deleteItem(registry, item, ownPolicy(item));
  if (!(await collecting.catchUp())) return false;
  const dependents = graph.dependents(item.meta.uid);
  if (dependents.size === 0) return deleteItem(registry, item, ownPolicy(item));
  // A dependent that is being deleted in the foreground may indirectly wait for itself.
  const inCircle = [...dependents].some(({ meta }) => waitsForDependents(meta));
  const blocks = item.meta.owners.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true);
  if (inCircle && blocks) {
    await unblockOwners(registry, item);
    return false; // The object has a new resourceVersion.
  }
  return deleteItem(registry, item, "Foreground");
}

/** The propagation policy that the object's finalizers define. */
function ownPolicy({ meta }: Item): string {
  if (meta.finalizers.includes(orphanFinalizer)) return "Orphan";
  return meta.finalizers.includes(foregroundFinalizer) ? "Foreground" : "Background";
}

/** Completes a foreground deletion when no dependent blocks it. */
async function deleteForeground({ registry, graph, enqueue, catchUp }: Collecting, item: Item): Promise<boolean> {
  if (!(await catchUp())) return false;
  const { uid } = item.meta;
  if (graph.blocking(uid) === 0) return removeFinalizer(registry, item, foregroundFinalizer);
  for (const dependent of graph.dependents(uid))
    if (isBlocking(dependent, uid) && !waitsForDependents(dependent.meta)) enqueue(dependent.key);
  return true; // The graph enqueues the owner when the last blocking dependent is deleted.
}

/** Removes the owner from all its dependents, and then its finalizer. */
async function orphan({ registry, graph, catchUp }: Collecting, item: Item): Promise<boolean> {
  const { uid } = item.meta;
  for (let round = 0; round < orphanRoundsMax; round++) {
    if (!(await catchUp())) return false;
    const dependents = [...graph.dependents(uid)];
    if (dependents.length === 0) return removeFinalizer(registry, item, orphanFinalizer);
    for (let at = 0; at < dependents.length; at += orphansAtOnce) {
      const batch = dependents.slice(at, at + orphansAtOnce);
      const freed = await Promise.all(
        batch.map((dependent) => removeOwners(registry, itemOfNode(dependent), new Set([uid]))),
      );
      if (freed.includes(false)) return false;
    }
  }
  return false;
}

/** The object of a node, by its key. */
export function itemOfNode({ kind, key, meta }: Node): Item {
  const [namespace = "", name] = key.slice(kind.store.form.prefix.length).split("/");
  return name === undefined ? { kind, namespace: "", name: namespace, meta } : { kind, namespace, name, meta };
}
