/**
 * Deletes what all owners of have gone, lets deletions in the foreground go on when nothing holds them up any more, and lets the dependents of
 * what is orphaned go. Nothing is deleted on what the graph says alone: owners are looked up as they are at that moment, and an owner whose kind
 * cannot be read, or is not served, counts as there. Source: kube-controller-manager's garbage collector.
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

/** Objects looked at once; their writes share commits. */
const itemsAtOnce = 64;
/** Objects that wait to be looked at, or looked at again; when there are more, the others follow. */
const itemsMax = 100_000;
/** What could not be done, since an owner's kind cannot be read or another writer was faster, is tried again so often at least. */
const delayMaxMs = 30_000;
/** How often new kinds are looked for, and room in the queue. */
const tickMs = 1_000;
const pieceMax = 1_000;
/** Turns of the event loop in which the followers should have caught up with the store. */
const turnsMax = 100;

export function garbageCollector({ registry, logger, queues }: ControllerOptions): Controller {
  const followers = new Map<string, KindFollower>();
  let generation: number | undefined;
  let sweepWanted: Sweep = new Set([everything]);
  let sweeping = false;
  let started = false;
  let stopped = false;
  let cancelTick = (): void => {};

  const look = (key: string): void => {
    if (started && !queue.add(key)) sweepWanted.add(everything);
  };
  const graph = openGraph(look);
  const misplaced = misplacedOwners({ registry, logger });
  const queue = openWorkQueue({
    clock: registry.clock,
    observer: queues?.("garbage_collector_attempt_to_delete"),
    reconcile: (key) => collect({ registry, misplaced, graph, look, caughtUp }, key),
    failed: tellFailures({ registry, logger }),
    concurrency: itemsAtOnce,
    keysMax: itemsMax,
    delayMaxMs,
  });

  /** Follows kinds that are new, and those that are gone no more. */
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
        sweepWanted.add(everything);
      };
      const follower = follow({ kind, graph, clock: registry.clock, logger, relisted });
      followers.set(prefix, follower);
      // Objects of it that were made and deleted before now were seen by nobody, but perhaps by their dependents.
      void follower.firstListDone.then(() => sweepWanted.add(ownedBy(kind.target.resource.definition)));
    }
    sweepWanted.add(parked);
  };

  const caughtUp = sharedRun(async (): Promise<boolean> => {
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

  const sweep = async (wanted: Sweep): Promise<void> => {
    let looked = 0;
    for (const node of graph.nodes()) {
      const { key } = node;
      if (++looked % pieceMax === 0) await new Promise(setImmediate);
      if (!isIn(wanted, node)) continue;
      while (!stopped && !queue.add(key)) await new Promise<void>((resolve) => registry.clock.after(tickMs, resolve));
      if (stopped) return;
    }
  };
  const sweepIfWanted = (): void => {
    const wanted = sweepWanted;
    if (wanted.size === 0 || sweeping || !started) return;
    sweepWanted = new Set();
    sweeping = true;
    void sweep(wanted).finally(() => {
      sweeping = false;
    });
  };
  const tick = (): void => {
    if (stopped) return;
    followKinds();
    sweepIfWanted();
    cancelTick = registry.clock.after(tickMs, tick);
  };

  return {
    start() {
      followKinds();
      // Kinds that cannot be read now do not hold up the others: what might depend on them is not touched.
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

/** Objects of the graph that are to be looked at: {@link everything}, those {@link parked}, or what {@link ownedBy} names. */
type Sweep = Set<string>;

/** Something may have been missed. */
const everything = "everything";
/** Those of unknown owners: kinds have changed. */
const parked = "parked";
/** Those with an owner of the kind. */
const ownedBy = ({ group, kind }: { readonly group: string | undefined; readonly kind: string }): string =>
  `${group}/${kind}`;

function isIn(sweep: Sweep, node: Node): boolean {
  if (sweep.has(everything) || (node.parked && sweep.has(parked))) return true;
  return node.meta.owners.some(({ apiVersion, kind }) =>
    sweep.has(ownedBy({ group: parseGroupVersion(apiVersion)?.group, kind })),
  );
}

/** What fails may fail for many at once: one line a second tells. */
function tellFailures({
  registry,
  logger,
}: {
  readonly registry: RegistryContext;
  readonly logger: Logger;
}): (key: string, error: unknown) => void {
  let told = Number.NEGATIVE_INFINITY;
  let untold = 0;
  return (key, error) => {
    const now = registry.clock.now();
    if (now - told < tickMs) {
      untold += 1;
      return;
    }
    logger.warn("garbage collection failed, will be tried again", { key, error: String(error), others: untold });
    told = now;
    untold = 0;
  };
}

/** By key prefix: every served kind whose objects can be listed, watched and deleted. Events own nothing and are owned by nobody. */
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
