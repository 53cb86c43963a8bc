/**
 * Maintains the Service `kubernetes` and its endpoints. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controlplane/controller/kubernetesservice/controller.go`.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { repeat } from "../../apimachinery/repeat.ts";
import { within } from "../../apimachinery/within.ts";
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
  readonly clock: Clock;
  readonly logger: Logger;
}

const intervalMs = 10_000;

/** Creates the controller. */
export function kubernetesServiceController(options: ControllerOptions): KubernetesServiceController {
  const { reconciler, ensureService, clock, logger } = options;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  let cancel = (): void => {};
  const sync = async (): Promise<void> => {
    if (isStopped) return;
    try {
      await ensureService();
      await reconciler.reconcile();
    } catch (error) {
      logger.error("Unable to sync kubernetes service", { error: String(error) }); // The next sync retries.
    }
  };
  /** One after the other, so that the address is not added again after its removal. */
  const syncInTurn = (): Promise<void> => {
    running = running.then(sync);
    return running;
  };
  return {
    async start() {
      await removeStale(options);
      if (isStopped) return;
      cancel = repeat(clock, intervalMs, syncInTurn);
      await syncInTurn();
    },
    sync: syncInTurn,
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
