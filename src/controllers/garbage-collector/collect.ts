/** Looks at one object, as it is now, and does what its owners' and its own deletion ask for. Source: the garbage collector's attemptToDelete. */

import type { RegistryContext } from "../../registry/contract.ts";
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

export interface Collecting {
  readonly registry: RegistryContext;
  readonly misplaced: MisplacedOwners;
  readonly graph: Graph;
  look(key: string): void;
  /** Makes the graph as new as the store is now. @returns false when a kind cannot be read at the moment: others might depend */
  caughtUp(): Promise<boolean>;
}

/** Dependents that are let go at once; their writes share commits. */
const orphansAtOnce = 32;
/** New dependents may come while the others are let go; so often in one look. */
const orphanRoundsMax = 3;

/** @returns whether there is nothing left to do */
export async function collect(collecting: Collecting, key: string): Promise<boolean> {
  const kind = collecting.graph.get(key)?.kind;
  const entry = (await kind?.store.cache.current())?.get(key);
  if (kind === undefined || entry === undefined) return true;
  const item = itemOf(kind, entry);
  const { generation } = collecting.registry.catalog;
  if (orphansDependents(item.meta)) return orphan(collecting, item);
  if (waitsForDependents(item.meta)) return release(collecting, item);
  if (item.meta.deleting || item.meta.owners.length === 0) return true;
  try {
    return await judge(collecting, item, await classifyOwners(collecting.registry, item.namespace, item.meta.owners));
  } catch (error) {
    if (error instanceof UnknownOwnerKind) return park(collecting, key, generation);
    if (!(error instanceof NamespacedOwner)) throw error;
    await collecting.misplaced.tell(item, [error.reference]);
    return true;
  }
}

/** @param generation of the catalogue in which the kind was looked for */
function park({ registry, graph }: Collecting, key: string, generation: number): boolean {
  const node = graph.get(key);
  if (registry.catalog.generation !== generation) return false;
  if (node !== undefined) node.parked = true;
  return true;
}

function itemOf(kind: FollowedKind, entry: Entry): Item {
  return { kind, namespace: entry.index.namespace, name: entry.index.name, meta: readMetadata(entry) };
}

async function judge(collecting: Collecting, item: Item, { solid, dangling, waiting }: Classified): Promise<boolean> {
  const { registry, graph } = collecting;
  if (solid.length > 0 && dangling.length === 0 && waiting.length === 0) return true;
  await collecting.misplaced.tell(item, dangling);
  if (solid.length > 0) return removeOwners(registry, item, new Set([...dangling, ...waiting].map(({ uid }) => uid)));
  if (waiting.length === 0) return deleteItem(registry, item, ownPolicy(item));
  if (!(await collecting.caughtUp())) return false;
  const dependents = graph.dependents(item.meta.uid);
  if (dependents.size === 0) return deleteItem(registry, item, ownPolicy(item));
  // A dependent that waits already may wait for this object's owner, and so for itself.
  const inCircle = [...dependents].some(({ meta }) => waitsForDependents(meta));
  const blocks = item.meta.owners.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true);
  if (inCircle && blocks) {
    await unblockOwners(registry, item);
    return false; // It is another version now.
  }
  return deleteItem(registry, item, "Foreground");
}

/** What the object's finalizers say already. */
function ownPolicy({ meta }: Item): string {
  if (meta.finalizers.includes(orphanFinalizer)) return "Orphan";
  return meta.finalizers.includes(foregroundFinalizer) ? "Foreground" : "Background";
}

/** The deletion in the foreground goes on when no dependent holds it up. */
async function release({ registry, graph, look, caughtUp }: Collecting, item: Item): Promise<boolean> {
  if (!(await caughtUp())) return false;
  const { uid } = item.meta;
  if (graph.blocking(uid) === 0) return removeFinalizer(registry, item, foregroundFinalizer);
  for (const dependent of graph.dependents(uid))
    if (isBlocking(dependent, uid) && !waitsForDependents(dependent.meta)) look(dependent.key);
  return true; // The last one to go wakes it.
}

/** Takes the owner out of all its dependents, and then lets it go. */
async function orphan({ registry, graph, caughtUp }: Collecting, item: Item): Promise<boolean> {
  const { uid } = item.meta;
  for (let round = 0; round < orphanRoundsMax; round++) {
    if (!(await caughtUp())) return false;
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

function itemOfNode({ kind, key, meta }: Node): Item {
  const [namespace = "", name] = key.slice(kind.store.form.prefix.length).split("/");
  return name === undefined ? { kind, namespace: "", name: namespace, meta } : { kind, namespace, name, meta };
}
