/** Repeats the maintenance of flow control objects. */
import { repeat } from "../../apimachinery/repeat.ts";
import type { Controller, ControllerOptions } from "../../controllers/contract.ts";
import { openWorkQueue } from "../../controllers/work-queue.ts";
import { maintainFlowControlObjects } from "./ensure-objects.ts";

/** Source: k8s.io/kubernetes@v1.36.0/pkg/registry/flowcontrol/rest/storage_flowcontrol.go. */
const intervalMs = 60_000;
const retryMs = 1_000;
const key = "objects";

/** Creates the controller that maintains the objects every minute. */
export function flowControlMaintenance({ registry, logger }: ControllerOptions): Controller {
  let cancel = (): void => {};
  const queue = openWorkQueue({
    clock: registry.clock,
    async reconcile() {
      await maintainFlowControlObjects(registry);
      return true;
    },
    failed: (_key, error) => logger.warn("Failed to maintain flow control objects, retrying", { error: String(error) }),
    concurrency: 1,
    keysMax: 1,
    firstDelayMs: retryMs,
    delayMaxMs: intervalMs,
  });
  return {
    start() {
      cancel = repeat(registry.clock, intervalMs, () => queue.add(key));
    },
    async stop() {
      cancel();
      await queue.stop();
    },
  };
}
