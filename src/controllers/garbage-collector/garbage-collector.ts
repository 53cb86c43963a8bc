/**
 * The garbage collector deletes objects whose owners are all deleted, completes foreground
 * deletions that no dependent blocks, and orphans dependents. It never deletes based on the graph
 * alone: it reads the current owners, and treats an owner whose kind is not served or cannot be
 * read as existing. Sources: Kubernetes docs, Garbage Collection;
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/garbagecollector`.
 */
import type { Logger } from "../../apimachinery/logger.ts";
import { parseGroupVersion } from "../../apimachinery/object.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import { servedTarget } from "../served-target.ts";
import { openWorkQueue } from "../work-queue.ts";
import { collect } from "./collect.ts";
import { follow, type KindFollower } from "./follow.ts";
import { type FollowedKind, type Node, openGraph } from "./graph.ts";
import { misplacedOwners } from "./misplaced-owners.ts";
import { sharedRun } from "./shared-run.ts";

/** Objects that are reconciled concurrently; their writes share commits. */
const itemsAtOnce = 64;
/** Maximum objects in the queue; further ones wait for a sweep. */
const itemsMax = 100_000;
/** Longest delay of a retry. */
const delayMaxMs = 30_000;
/** Interval of checks for new kinds, and for space in the queue during a sweep. */
const tickMs = 1_000;
/** Objects that a sweep checks before the event loop serves others. */
const pieceMax = 1_000;
/** Event loop turns in which a follower should catch up with the store. */
const turnsMax = 100;

/** Creates the controller that deletes objects whose owners are gone, and dependents in the foreground. */
export function garbageCollector({ registry, logger, queues }: ControllerOptions): Controller {
  const followers = new Map<string, KindFollower>();
  let generation: number | undefined;
  let requestedSweep: Sweep = new Set([everything]);
  let sweeping = false;
  let started = false;
  let stopped = false;
  let cancelTick = (): void => {};

  const enqueue = (key: string): void => {
    if (started && !queue.add(key)) requestedSweep.add(everything);
  };
  const graph = openGraph(enqueue);
  const misplaced = misplacedOwners({ registry, logger });
  const queue = openWorkQueue({
    clock: registry.clock,
    observer: queues?.("garbage_collector_attempt_to_delete"),
    reconcile: (key) => collect({ registry, misplaced, graph, enqueue, catchUp }, key),
    failed: logFailures({ registry, logger }),
    concurrency: itemsAtOnce,
    keysMax: itemsMax,
    delayMaxMs,
  });

  /** Follows new kinds, and stops following removed ones. */
  const followKinds = (): void => {
    if (generation === registry.catalog.generation) return;
    generation = registry.catalog.generation;
    const kinds = followedKinds(registry);
    for (const [prefix, follower] of followers) {
      if (kinds.get(prefix)?.store.cache === follower.kind.store.cache) continue;
      follower.stop();
      followers.delete(prefix);
      for (const { key } of graph.nodes()) if (key.startsWith(prefix)) graph.set(key, follower.kind, undefined);
    }
    for (const [prefix, kind] of kinds) {
      if (followers.has(prefix)) continue;
      const relisted = (): void => {
        requestedSweep.add(everything);
      };
      const follower = follow({ kind, graph, clock: registry.clock, logger, relisted });
      followers.set(prefix, follower);
      // The collector has not seen objects that were created and deleted before, but they may have
      // dependents.
      void follower.firstListDone.then(() => requestedSweep.add(ownedBy(kind.target.resource.definition)));
    }
    requestedSweep.add(parked);
  };

  const catchUp = sharedRun(async (): Promise<boolean> => {
    followKinds();
    const revision = await registry.storage.current();
    for (const follower of followers.values()) {
      if (follower.delivered === undefined) return false;
      await follower.kind.store.cache.notOlderThan(revision);
      for (let turn = 0; (follower.delivered ?? 0) < revision; turn++) {
        if (turn === turnsMax || follower.delivered === undefined) return false;
        await new Promise(setImmediate);
      }
    }
    return true;
  });

  const sweep = async (requested: Sweep): Promise<void> => {
    let checked = 0;
    for (const node of graph.nodes()) {
      const { key } = node;
      if (++checked % pieceMax === 0) await new Promise(setImmediate);
      if (!isIn(requested, node)) continue;
      while (!stopped && !queue.add(key)) await new Promise<void>((resolve) => registry.clock.after(tickMs, resolve));
      if (stopped) return;
    }
  };
  const sweepIfRequested = (): void => {
    const requested = requestedSweep;
    if (requested.size === 0 || sweeping || !started) return;
    requestedSweep = new Set();
    sweeping = true;
    void sweep(requested).finally(() => {
      sweeping = false;
    });
  };
  const tick = (): void => {
    if (stopped) return;
    followKinds();
    sweepIfRequested();
    cancelTick = registry.clock.after(tickMs, tick);
  };

  return {
    start() {
      followKinds();
      // Unreadable kinds do not block the others: objects that may depend on them are not deleted.
      void Promise.all([...followers.values()].map(({ firstListDone: tried }) => tried)).then(() => {
        started = true;
        tick();
      });
    },
    async stop() {
      stopped = true;
      cancelTick();
      for (const follower of followers.values()) follower.stop();
      await queue.stop();
    },
  };
}

/**
 * The objects of the graph to enqueue: {@link everything}, {@link parked}, or {@link ownedBy} a
 * kind.
 */
type Sweep = Set<string>;

/** All objects, because events may have been missed. */
const everything = "everything";
/** Objects with owners of unknown kinds, because the served kinds have changed. */
const parked = "parked";
/** Objects with an owner of the kind. */
const ownedBy = ({ group, kind }: { readonly group: string | undefined; readonly kind: string }): string =>
  `${group}/${kind}`;

function isIn(sweep: Sweep, node: Node): boolean {
  if (sweep.has(everything) || (node.parked && sweep.has(parked))) return true;
  return node.meta.owners.some(({ apiVersion, kind }) =>
    sweep.has(ownedBy({ group: parseGroupVersion(apiVersion)?.group, kind })),
  );
}

/** Logs failures, at most one line per interval, because many objects may fail together. */
function logFailures({
  registry,
  logger,
}: {
  readonly registry: RegistryContext;
  readonly logger: Logger;
}): (key: string, error: unknown) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let suppressed = 0;
  return (key, error) => {
    const now = registry.clock.now();
    if (now - loggedAt < tickMs) {
      suppressed += 1;
      return;
    }
    logger.warn("Garbage collection failed, retrying", { key, error: String(error), others: suppressed });
    loggedAt = now;
    suppressed = 0;
  };
}

/**
 * Returns, by key prefix, every served kind whose objects can be listed, watched and deleted,
 * except events, as upstream.
 */
function followedKinds({ catalog }: RegistryContext): Map<string, FollowedKind> {
  const kinds = new Map<string, FollowedKind>();
  for (const definition of catalog.definitions()) {
    const { storage, resource, group } = definition;
    if (
      storage === undefined ||
      kinds.has(storage.prefix) ||
      (resource === "events" && (group === "" || group === "events.k8s.io"))
    )
      continue;
    const target = servedTarget(catalog, definition, ["list", "watch", "delete"]);
    if (target?.resource.store !== undefined) kinds.set(storage.prefix, { target, store: target.resource.store });
  }
  return kinds;
}
