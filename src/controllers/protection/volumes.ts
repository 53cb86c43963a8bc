/**
 * PersistentVolumes are protected while they are bound to a claim. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/volume/pvprotection/pv_protection_controller.go`.
 */
import { volumeProtection } from "../../apimachinery/protection-finalizers.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import { protectionController } from "./protection.ts";

/** Creates the controller `persistentvolume-protection-controller`. */
export function volumeProtectionController(options: ControllerOptions): Controller {
  return protectionController(options, {
    group: "",
    version: "v1",
    resource: "persistentvolumes",
    finalizer: volumeProtection,
    addsFinalizer: true,
    writer: "pv-protection-controller",
    queue: "pvprotection",
    users: [],
    isUsed: ({ status }) => status?.phase === "Bound",
  });
}
