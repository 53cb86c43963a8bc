/**
 * Deletes the content of terminating namespaces, then removes the `kubernetes` finalizer. Reports
 * remaining content in conditions. Source: `k8s.io/kubernetes@v1.36.0/pkg/controller/namespace`.
 */
import { realClock } from "../apimachinery/clock.ts";
import type { Logger } from "../apimachinery/logger.ts";
import type { ResourceStore } from "../catalog/contract.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { currentEntry } from "../registry/current-entry.ts";
import { type Follower, followCache } from "../watch-cache/follow.ts";
import type { Controller, ControllerOptions } from "./contract.ts";
import { type Condition, nextConditions, type Remaining } from "./namespace-conditions.ts";
import { contentDeleter } from "./namespace-content.ts";
import { changeNamespace } from "./namespace-writes.ts";
import { openWorkQueue, type WorkQueue } from "./work-queue.ts";

const kubernetesFinalizer = "kubernetes";
/** Namespaces that are deleted concurrently, as upstream. Deletions may wait for webhooks. */
const namespacesAtOnce = 10;
/** Maximum namespaces in the queue; others wait for the next list. */
const namespacesMax = 10_000;
/** Longest delay before remaining content is checked again. */
const delayMaxMs = 2_000;
/** Delay before namespaces are listed again that the full queue rejected. */
const relistMs = 1_000;

/** Creates the controller that deletes the content of terminating namespaces. */
export function namespaceController({ registry, logger, queues }: ControllerOptions): Controller {
  const store = registry.catalog.findResource("", "namespaces")?.store;
  if (store === undefined) return { start() {}, stop: async () => {} }; // Namespaces are not served.
  const deleteContent = contentDeleter(registry.catalog);
  const queue = openWorkQueue({
    registry,
    observer: queues?.("namespace"),
    reconcile: (name, deciding) => reconcile(deciding, { store, deleteContent }, name),
    failed: (name, error) =>
      logger.warn("Namespace deletion failed, retrying", { namespace: name, error: String(error) }),
    concurrency: namespacesAtOnce,
    keysMax: namespacesMax,
    delayMaxMs,
  });
  const follower = followTerminating({ registry, store, queue, logger });
  return {
    start: follower.start,
    async stop() {
      follower.stop();
      await queue.stop();
    },
  };
}

interface Following {
  readonly registry: RegistryContext;
  readonly store: ResourceStore;
  readonly queue: WorkQueue;
  readonly logger: Logger;
}

/** Enqueues every terminating namespace, and again whenever it changes. */
function followTerminating({ registry, store, queue, logger }: Following): { start(): void; stop(): void } {
  let follower: Follower | undefined;
  let cancelRelist = (): void => {};
  const start = (): void => {
    follower?.stop();
    follower = followCache({
      cache: store.cache,
      prefix: store.form.prefix,
      clock: registry.clock,
      set({ index: { name, fields } }) {
        if (fields.get("status.phase") === "Terminating" && !queue.add(name)) relistLater();
      },
      deleted() {},
      knownKeys: () => [],
      missing() {},
      failed: (error) => logger.warn("Failed to list namespaces", { error: String(error) }),
    });
  };
  const relistLater = (): void => {
    cancelRelist();
    cancelRelist = realClock(registry.clock).after(relistMs, start);
  };
  return {
    start,
    stop() {
      cancelRelist();
      follower?.stop();
    },
  };
}

interface Reconciler {
  readonly store: ResourceStore;
  readonly deleteContent: ReturnType<typeof contentDeleter>;
}

/** @returns whether there is nothing left to do */
async function reconcile(
  registry: RegistryContext,
  { store, deleteContent }: Reconciler,
  name: string,
): Promise<boolean> {
  const entry = await currentEntry(store, store.keyOf("", name));
  if (entry === undefined) return true;
  const namespace = store.decode(entry);
  const finalizers: string[] = namespace.spec?.finalizers ?? [];
  if (namespace.metadata.deletionTimestamp === undefined || !finalizers.includes(kubernetesFinalizer)) return true;

  const { empty, remaining } = await deleteContent(registry, name);
  await writeConditions(registry, name, namespace.status?.conditions ?? [], remaining);
  if (!empty) return false;
  await changeNamespace(registry, name, "finalize", (object) => {
    object.spec.finalizers = (object.spec.finalizers ?? []).filter(
      (finalizer: string) => finalizer !== kubernetesFinalizer,
    );
  });
  return true;
}

async function writeConditions(
  registry: RegistryContext,
  name: string,
  old: readonly Condition[],
  remaining: Remaining,
): Promise<void> {
  const conditions = nextConditions(old, remaining, registry.clock.now());
  if (conditions === undefined) return;
  await changeNamespace(registry, name, "status", (object) => {
    object.status = { ...object.status, conditions };
  });
}
