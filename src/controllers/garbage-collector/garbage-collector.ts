/**
 * The garbage collector deletes objects whose owners are all deleted, completes foreground
 * deletions that no dependent blocks, and orphans dependents. It never deletes based on the graph
 * alone: it reads the current owners, and treats an owner whose kind is not served or cannot be
 * read as existing. Sources: Kubernetes docs, Garbage Collection;
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/garbagecollector`.
 */
import { realClock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import { openWorkQueue } from "../work-queue.ts";
import { collect, itemOfNode } from "./collect.ts";
import { type Graph, type Node, openGraph } from "./graph.ts";
import { KindFollowers } from "./kind-followers.ts";
import { misplacedOwners } from "./misplaced-owners.ts";
import { sharedRun } from "./shared-run.ts";
import { everything, Sweeper } from "./sweeper.ts";

/** Objects that are reconciled concurrently; their writes share commits. */
const itemsAtOnce = 64;
/** Maximum objects in the queue; further ones wait for a sweep. */
const itemsMax = 100_000;
/** Longest delay of a retry. */
const delayMaxMs = 30_000;
/** Interval of checks for new kinds and requested sweeps, and of log lines about failures. */
const tickMs = 1_000;

/** Creates the controller that deletes objects whose owners are gone, and dependents in the foreground. */
export function garbageCollector({ registry, logger, queues }: ControllerOptions): Controller {
  const { clock } = registry;
  let started = false;
  let stopped = false;
  let cancelTick = (): void => {};

  const enqueue = (key: string): void => {
    if (started && !queue.add(key)) sweeper.request(everything);
  };
  const graph = openGraph(enqueue);
  const misplaced = misplacedOwners(logger);
  const followers = new KindFollowers({ registry, logger, graph, requestSweep: (part) => sweeper.request(part) });
  const catchUp = sharedRun(() => followers.catchUp());
  const queue = openWorkQueue({
    registry,
    observer: queues?.("garbage_collector_attempt_to_delete"),
    reconcile: (key, deciding) => collect({ registry: deciding, misplaced, graph, enqueue, catchUp }, key),
    failed: logFailures({ registry, logger, graph }),
    concurrency: itemsAtOnce,
    keysMax: itemsMax,
    delayMaxMs,
  });
  const sweeper = new Sweeper({ graph, clock, add: (key) => queue.add(key) });
  const tick = (): void => {
    if (stopped) return;
    followers.update();
    sweeper.startIfRequested();
    cancelTick = realClock(clock).after(tickMs, tick);
  };

  return {
    start() {
      followers.update();
      // Unreadable kinds do not block the others: objects that may depend on them are not deleted.
      void followers.firstListsDone().then(() => {
        started = true;
        tick();
      });
    },
    async stop() {
      stopped = true;
      cancelTick();
      sweeper.stop();
      followers.stop();
      await queue.stop();
    },
  };
}

/** Logs failures, at most one line per interval, because many objects may fail together. */
function logFailures({
  registry,
  logger,
  graph,
}: {
  readonly registry: RegistryContext;
  readonly logger: Logger;
  readonly graph: Graph;
}): (key: string, error: unknown) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let suppressed = 0;
  return (key, error) => {
    const now = registry.clock.now();
    if (now - loggedAt < tickMs) {
      suppressed += 1;
      return;
    }
    const node = graph.get(key);
    logger.warn("Garbage collection failed, retrying", {
      ...(node !== undefined && objectFields(node)),
      error: String(error),
      others: suppressed,
    });
    loggedAt = now;
    suppressed = 0;
  };
}

function objectFields(node: Node): Record<string, string> {
  const { kind, namespace, name } = itemOfNode(node);
  const { definition } = kind.target.resource;
  return { kind: definition.kind, ...(namespace !== "" && { namespace }), name };
}
