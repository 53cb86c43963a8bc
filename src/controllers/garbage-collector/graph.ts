/**
 * The graph of owner references, by uid. It only contains objects that have owners or wait for
 * dependents; other owners need no node. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/garbagecollector/graph_builder.go`.
 */

import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { type CollectedMeta, orphansDependents, waitsForDependents } from "./metadata.ts";

/** A kind whose objects are followed. */
export interface FollowedKind {
  readonly target: Resolved;
  readonly store: ResourceStore;
}

export interface Node {
  /** Key in the store. */
  readonly key: string;
  readonly kind: FollowedKind;
  readonly meta: CollectedMeta;
  /** An owner's kind is unknown: the object is enqueued again when kinds are added. */
  parked: boolean;
}

export interface Graph {
  /**
   * Sets the current state of an object, and enqueues affected objects.
   * @param meta undefined when the collector does not need the object
   */
  set(key: string, kind: FollowedKind, meta: CollectedMeta | undefined): void;
  /** Removes a deleted object, and enqueues its dependents. */
  deleted(key: string, kind: FollowedKind, uid: string): void;
  get(key: string): Node | undefined;
  /** Iterates over all nodes; the graph may change during the iteration. */
  nodes(): IterableIterator<Node>;
  dependents(ownerUid: string): ReadonlySet<Node>;
  /** Counts the dependents that block the foreground deletion of their owner. */
  blocking(ownerUid: string): number;
}

interface Dependents {
  readonly nodes: Set<Node>;
  blocking: number;
}

const none: ReadonlySet<Node> = new Set();

/**
 * Returns whether the dependent blocks the foreground deletion of the owner. An object never blocks
 * itself.
 */
export function isBlocking({ meta }: Node, ownerUid: string): boolean {
  return (
    meta.uid !== ownerUid &&
    meta.owners.some(({ uid, blockOwnerDeletion }) => uid === ownerUid && blockOwnerDeletion === true)
  );
}

/** @param enqueue receives the keys of objects to reconcile */
export function openGraph(enqueue: (key: string) => void): Graph {
  const nodes = new Map<string, Node>();
  const byOwner = new Map<string, Dependents>();
  /** Keys of objects that wait for dependents, by uid. */
  const waiting = new Map<string, string>();

  const link = (node: Node): void => {
    nodes.set(node.key, node);
    if (waitsForDependents(node.meta)) waiting.set(node.meta.uid, node.key);
    for (const uid of ownerUids(node)) {
      const dependents = byOwner.get(uid) ?? { nodes: new Set(), blocking: 0 };
      byOwner.set(uid, dependents);
      dependents.nodes.add(node);
      if (isBlocking(node, uid)) dependents.blocking += 1;
    }
  };
  const unlink = (node: Node): void => {
    nodes.delete(node.key);
    if (waiting.get(node.meta.uid) === node.key) waiting.delete(node.meta.uid);
    for (const uid of ownerUids(node)) {
      const dependents = byOwner.get(uid) as Dependents;
      dependents.nodes.delete(node);
      if (isBlocking(node, uid)) dependents.blocking -= 1;
      if (dependents.nodes.size === 0) byOwner.delete(uid);
    }
  };
  const enqueueDependents = (uid: string): void => {
    for (const { key } of byOwner.get(uid)?.nodes ?? none) enqueue(key);
  };
  const enqueueIfUnblocked = (uid: string): void => {
    const key = waiting.get(uid);
    if (key !== undefined && (byOwner.get(uid)?.blocking ?? 0) === 0) enqueue(key);
  };
  const set: Graph["set"] = (key, kind, meta) => {
    const before = nodes.get(key);
    if (before === undefined && meta === undefined) return;
    const isOther = before === undefined || meta === undefined || differs(before.meta, meta);
    if (before !== undefined) unlink(before);
    if (meta !== undefined) link({ key, kind, meta, parked: !isOther && before.parked });
    const startsToWait =
      meta !== undefined && waitsForDependents(meta) && (before === undefined || !waitsForDependents(before.meta));
    if (startsToWait) enqueueDependents(meta.uid);
    if (meta !== undefined && isOther) enqueue(key);
    if (before !== undefined) for (const uid of ownerUids(before)) enqueueIfUnblocked(uid);
  };

  return {
    set,
    deleted(key, kind, uid) {
      set(key, kind, undefined);
      enqueueDependents(uid);
    },
    get: (key) => nodes.get(key),
    nodes: () => nodes.values(),
    dependents: (uid) => byOwner.get(uid)?.nodes ?? none,
    blocking: (uid) => byOwner.get(uid)?.blocking ?? 0,
  };
}

const ownerUids = ({ meta }: Node): Set<string> => new Set(meta.owners.map(({ uid }) => uid));

/** Returns whether the fields that the collector uses have changed. */
function differs(a: CollectedMeta, b: CollectedMeta): boolean {
  return (
    a.uid !== b.uid ||
    waitsForDependents(a) !== waitsForDependents(b) ||
    orphansDependents(a) !== orphansDependents(b) ||
    !deepEqual(a.owners, b.owners)
  );
}
