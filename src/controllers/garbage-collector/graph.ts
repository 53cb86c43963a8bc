/**
 * Who depends on whom, by uid, as far as the followed kinds have told. Only objects that have owners or wait for dependents are in it: an owner
 * that exists and stays needs no place. Source: the garbage collector's graph builder.
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
  /** In the store. */
  readonly key: string;
  readonly kind: FollowedKind;
  readonly meta: CollectedMeta;
  /** An owner's kind is unknown: looking at it again is no use before a kind has come. */
  parked: boolean;
}

export interface Graph {
  /** The object is so now; undefined when it does not concern the collector any more. What must be looked at again is told. */
  set(key: string, kind: FollowedKind, meta: CollectedMeta | undefined): void;
  /** The object is gone: all who depend on it must be looked at. */
  gone(key: string, kind: FollowedKind, uid: string): void;
  get(key: string): Node | undefined;
  /** All of them; may go on while the graph changes. */
  nodes(): IterableIterator<Node>;
  dependents(ownerUid: string): ReadonlySet<Node>;
  /** Dependents that hold up their owner's deletion, the owner itself not counted. */
  blocking(ownerUid: string): number;
}

interface Dependents {
  readonly nodes: Set<Node>;
  blocking: number;
}

const none: ReadonlySet<Node> = new Set();

/** Whether the dependent holds up the foreground deletion of the owner. What owns itself would wait for ever. */
export function isBlocking({ meta }: Node, ownerUid: string): boolean {
  return (
    meta.uid !== ownerUid &&
    meta.owners.some(({ uid, blockOwnerDeletion }) => uid === ownerUid && blockOwnerDeletion === true)
  );
}

/** @param look is told of every key whose object must be looked at */
export function openGraph(look: (key: string) => void): Graph {
  const nodes = new Map<string, Node>();
  const byOwner = new Map<string, Dependents>();
  /** Uid of what waits for dependents, and its key. */
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
  const lookAtDependents = (uid: string): void => {
    for (const { key } of byOwner.get(uid)?.nodes ?? none) look(key);
  };
  const lookAtFreed = (uid: string): void => {
    const key = waiting.get(uid);
    if (key !== undefined && (byOwner.get(uid)?.blocking ?? 0) === 0) look(key);
  };
  const set: Graph["set"] = (key, kind, meta) => {
    const before = nodes.get(key);
    if (before === undefined && meta === undefined) return;
    const isOther = before === undefined || meta === undefined || differs(before.meta, meta);
    if (before !== undefined) unlink(before);
    if (meta !== undefined) link({ key, kind, meta, parked: !isOther && before.parked });
    const startsToWait =
      meta !== undefined && waitsForDependents(meta) && (before === undefined || !waitsForDependents(before.meta));
    if (startsToWait) lookAtDependents(meta.uid);
    if (meta !== undefined && isOther) look(key);
    if (before !== undefined) for (const uid of ownerUids(before)) lookAtFreed(uid);
  };

  return {
    set,
    gone(key, kind, uid) {
      set(key, kind, undefined);
      lookAtDependents(uid);
    },
    get: (key) => nodes.get(key),
    nodes: () => nodes.values(),
    dependents: (uid) => byOwner.get(uid)?.nodes ?? none,
    blocking: (uid) => byOwner.get(uid)?.blocking ?? 0,
  };
}

const ownerUids = ({ meta }: Node): Set<string> => new Set(meta.owners.map(({ uid }) => uid));

/** Whether anything the collector decides by has changed. */
function differs(a: CollectedMeta, b: CollectedMeta): boolean {
  return (
    a.uid !== b.uid ||
    waitsForDependents(a) !== waitsForDependents(b) ||
    orphansDependents(a) !== orphansDependents(b) ||
    !deepEqual(a.owners, b.owners)
  );
}
