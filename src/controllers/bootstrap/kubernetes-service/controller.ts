/**
 * Maintains the Service `kubernetes` and its endpoints. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controlplane/controller/kubernetesservice/controller.go`.
 */
import type { Clock } from "../../../apimachinery/clock.ts";
import type { Logger } from "../../../apimachinery/logger.ts";
import { repeat } from "../../../apimachinery/repeat.ts";
import { within } from "../../../apimachinery/within.ts";
import { whenChanged } from "../../../registry/when-changed.ts";
import type { Storage } from "../../../storage/contract.ts";
import type { EndpointReconciler } from "./contract.ts";

export interface KubernetesServiceController {
  /** Removes what an earlier process left behind, and writes for the first time. */
  start(): Promise<void>;
  /** Writes now, because the state of the store was replaced. */
  sync(): Promise<void>;
  /** Removes the address of this server from the endpoints. */
  stop(): Promise<void>;
}

interface ControllerOptions {
  readonly reconciler: EndpointReconciler;
  /** Creates the Service if it is missing. */
  readonly ensureService: () => Promise<void>;
  readonly storage: Storage;
  readonly clock: Clock;
  readonly logger: Logger;
}

const intervalMs = 10_000;

/** Creates the controller. */
export function kubernetesServiceController(options: ControllerOptions): KubernetesServiceController {
  const { reconciler, ensureService, storage, clock, logger } = options;
  let isStopped = false;
  let running: Promise<unknown> = Promise.resolve();
  let cancel = (): void => {};
  const sync = async (): Promise<boolean> => {
    try {
      await ensureService();
      await reconciler.reconcile();
      return true;
    } catch (error) {
      logger.error("Unable to sync kubernetes service", { error: String(error) }); // The next sync retries.
      return false;
    }
  };
  const syncWhenChanged = whenChanged(storage, sync);
  /** One after the other, so that the address is not added again after its removal. */
  const inTurn = (run: () => Promise<unknown>): Promise<unknown> => {
    running = running.then(() => (isStopped ? undefined : run()));
    return running;
  };
  const syncNow = async (): Promise<void> => void (await inTurn(sync));
  return {
    async start() {
      await removeStale(options);
      if (isStopped) return;
      cancel = repeat(clock, intervalMs, () => inTurn(syncWhenChanged));
      await syncNow();
    },
    sync: syncNow,
    async stop() {
      if (isStopped) return;
      isStopped = true;
      cancel();
      logger.info("Shutting down kubernetes service endpoint reconciler");
      const removed = running.then(() => removeOwn(options));
      await within(clock, 2 * intervalMs, removed);
    },
  };
}

async function removeStale({ reconciler, logger }: ControllerOptions): Promise<void> {
  try {
    if (await reconciler.remove(false))
      logger.warn("Found stale data, removed previous endpoints on kubernetes service");
  } catch (error) {
    logger.error("Error removing old endpoints from kubernetes service", { error: String(error) });
  }
}

async function removeOwn({ reconciler, logger }: ControllerOptions): Promise<void> {
  try {
    await reconciler.remove(true);
  } catch (error) {
    logger.error("Unable to remove endpoints from kubernetes service", { error: String(error) });
  }
}
