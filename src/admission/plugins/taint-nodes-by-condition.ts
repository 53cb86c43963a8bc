/**
 * The plugin TaintNodesByCondition taints new nodes, so that no pods are scheduled on them before a
 * controller has seen that they are ready. Source:
 * k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/nodetaint/admission.go.
 */
import { items, struct } from "../../apis/fields.ts";
import type { AdmissionPlugin } from "../contract.ts";

const taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

/** @returns the plugin TaintNodesByCondition */
export function taintNodesByCondition(): AdmissionPlugin {
  return {
    name: "TaintNodesByCondition",
    mutate({ target, subresource, operation, object }) {
      const { group, resource } = target.resource.definition;
      if (resource !== "nodes" || group !== "" || subresource !== "" || operation !== "CREATE") return;
      if (object === undefined) return;
      const spec = struct(object, "spec");
      const taints = items(spec.taints);
      if (taints.some(({ key, effect }) => key === taint.key && effect === taint.effect)) return;
      spec.taints = [...taints, { ...taint }];
    },
  };
}
