/**
 * The plugin ExtendedResourceToleration makes pods that request extended resources tolerate the
 * taints of nodes that have them.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/extendedresourcetoleration/admission.go.
 */
import { isExtendedResource } from "../../apis/core/pod/resource-names.ts";
import { items, type Part } from "../../apis/fields.ts";
import type { AdmissionPlugin } from "../contract.ts";
import { writtenPod } from "./written-pod.ts";

/** @returns the plugin ExtendedResourceToleration */
export function extendedResourceToleration(): AdmissionPlugin {
  return {
    name: "ExtendedResourceToleration",
    mutate(attributes) {
      const pod = writtenPod(attributes);
      if (pod === undefined) return;
      for (const resource of requestedDevices(pod.spec)) addToleration(pod.spec, resource);
    },
  };
}

/** @returns names of extended resources, sorted */
function requestedDevices(spec: Part): string[] {
  const containers = [...items(spec.containers), ...items(spec.initContainers)];
  const names = new Set(containers.flatMap(({ resources }) => Object.keys(resources?.requests ?? {})));
  return [...names].filter(isExtendedResource).sort();
}

/** Replaces a toleration of the same taint, whose seconds are not valid. */
function addToleration(spec: Part, key: string): void {
  const toleration: Part = { key, operator: "Exists", effect: "NoSchedule" };
  const isSame = (one: Part): boolean =>
    one.key === key && one.operator === "Exists" && one.effect === "NoSchedule" && (one.value ?? "") === "";
  const tolerations = items(spec.tolerations);
  spec.tolerations = tolerations.some(isSame)
    ? tolerations.map((one) => (isSame(one) ? { ...toleration } : one))
    : [...tolerations, toleration];
}
