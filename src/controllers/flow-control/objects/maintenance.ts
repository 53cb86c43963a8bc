/** Repeats the maintenance of flow control objects. */
import type { Controller, ControllerOptions } from "../../contract.ts";
import { repeatedController } from "../../repeated.ts";
import { maintainFlowControlObjects } from "./ensure-objects.ts";

/** Source: k8s.io/kubernetes@v1.36.0/pkg/registry/flowcontrol/rest/storage_flowcontrol.go. */
const intervalMs = 60_000;

/** Creates the controller that maintains the objects every minute. */
export function flowControlMaintenance(options: ControllerOptions): Controller {
  return repeatedController(options, {
    task: "maintain flow control objects",
    intervalMs,
    retryMs: 1_000,
    dependsOnStoreOnly: true,
    run: maintainFlowControlObjects,
  });
}
