/**
 * The plugin LimitPodHardAntiAffinityTopology rejects pods whose required anti-affinity concerns
 * more than a node.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/antiaffinity/admission.go.
 */
import { forbidden } from "../../apimachinery/errors.ts";
import { items } from "../../apis/fields.ts";
import type { AdmissionPlugin } from "../contract.ts";
import { writtenPod } from "./written-pod.ts";

const allowedKey = "kubernetes.io/hostname";

/** @returns the plugin LimitPodHardAntiAffinityTopology */
export function antiAffinityTopology(): AdmissionPlugin {
  return {
    name: "LimitPodHardAntiAffinityTopology",
    validate(attributes) {
      const pod = writtenPod(attributes);
      const terms = items(pod?.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution);
      const wrong = terms.find(({ topologyKey }) => topologyKey !== allowedKey);
      if (wrong === undefined) return;
      throw forbidden(
        { group: "", resource: "pods" },
        pod?.metadata.name ?? "",
        `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${wrong.topologyKey} but only key ${allowedKey} is allowed`,
      );
    },
  };
}
