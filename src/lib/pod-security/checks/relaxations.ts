/** Pods for which later versions relax some checks. */
import type { CheckPod } from "../contract.ts";

/** Allows pods for Windows, for which the fields must not be set. */
export function exceptWindows(check: CheckPod): CheckPod {
  return (pod) => (pod.spec.os?.name === "windows" ? undefined : check(pod));
}

/** Allows pods in a user namespace. Source: KEP-127. */
export function exceptUserNamespaces(check: CheckPod): CheckPod {
  return (pod) => (pod.spec.hostUsers === false ? undefined : check(pod));
}
