/**
 * PodGroups are protected while they have pods that have not ended. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/scheduling/podgroupprotection/podgroup_protection_controller.go`.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { podGroupProtection } from "../../apimachinery/protection-finalizers.ts";
import type { ResourceStore } from "../../catalog/contract.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import { protectionController } from "./protection.ts";
import { type Reference, some } from "./uses.ts";

/**
 * Creates the controller `podgroup-protection-controller`; without effect unless the gate
 * GenericWorkload is enabled.
 */
export function podGroupProtectionController(options: ControllerOptions): Controller {
  if (!options.registry.gates.enabled("GenericWorkload")) return { start() {}, stop: async () => {} };
  return protectionController<true>(options, {
    group: "scheduling.k8s.io",
    version: "v1alpha2",
    resource: "podgroups",
    finalizer: podGroupProtection,
    addsFinalizer: false,
    writer: "podgroup-protection-controller",
    queue: "podgroupprotection",
    users: [{ group: "", resource: "pods", marks: ['"schedulingGroup":{'], references: groupOfPod }],
    isUsed: (_, uses) => some(uses, () => true),
  });
}

function groupOfPod({ metadata, spec, status }: KubeObject, store: ResourceStore): Reference<true>[] {
  const name: string | undefined = spec?.schedulingGroup?.podGroupName;
  if (name === undefined || status?.phase === "Succeeded" || status?.phase === "Failed") return [];
  return [[store.keyOf(metadata.namespace ?? "", name), true]];
}
