/**
 * The scopes that a pod is in.
 * Source: `podMatchesScopeFunc` in k8s.io/kubernetes@v1.36.0/pkg/quota/v1/evaluator/core/pods.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { qosClass } from "../../apis/core/pod/qos-class.ts";
import { items, type Part } from "../../apis/fields.ts";
import type { ScopeRequirement } from "./contract.ts";
import { selectsValue } from "./scopes.ts";

/** Whether a pod is in the scope. @throws SelectorError */
export function isPodInScope(scope: ScopeRequirement, pod: KubeObject): boolean {
  switch (scope.scopeName) {
    case "Terminating":
      return isTerminating(pod);
    case "NotTerminating":
      return !isTerminating(pod);
    case "BestEffort":
      return isBestEffort(pod);
    case "NotBestEffort":
      return !isBestEffort(pod);
    case "PriorityClass":
      return selectsValue(scope, pod.spec.priorityClassName ? [pod.spec.priorityClassName] : []);
    case "CrossNamespacePodAffinity":
      return hasCrossNamespaceAffinity(pod.spec);
    default:
      return false;
  }
}

/** Whether the pod has a deadline. */
export function isTerminating({ spec }: KubeObject): boolean {
  const deadline = spec.activeDeadlineSeconds;
  return deadline !== undefined && deadline !== null && Number(deadline) >= 0;
}

function isBestEffort({ spec, status }: KubeObject): boolean {
  return (status?.qosClass || qosClass(spec)) === "BestEffort";
}

function hasCrossNamespaceAffinity({ affinity }: Part): boolean {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some(
    (one) =>
      items(one?.requiredDuringSchedulingIgnoredDuringExecution).some(isCrossNamespace) ||
      items(one?.preferredDuringSchedulingIgnoredDuringExecution).some(({ podAffinityTerm }) =>
        isCrossNamespace(podAffinityTerm ?? {}),
      ),
  );
}

function isCrossNamespace({ namespaces, namespaceSelector }: Part): boolean {
  return items(namespaces).length > 0 || (namespaceSelector !== undefined && namespaceSelector !== null);
}
