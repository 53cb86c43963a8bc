/**
 * Containers must not run as root, except in user namespaces since 1.35. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/check_runAsNonRoot.go.
 */
import type { Check, CheckPod } from "../contract.ts";
import { named, securityField, setters } from "../text.ts";
import { exceptUserNamespaces } from "./relaxations.ts";

const reason = "runAsNonRoot != true";

const check: CheckPod = ({ pod, containers }) => {
  const bad = [pod, ...containers].filter(({ securityContext }) => securityContext?.runAsNonRoot === false);
  if (bad.length > 0) {
    return {
      reason,
      detail: `${setters(bad)} must not set securityContext.runAsNonRoot=false`,
      fields: bad.map((holder) => securityField(holder, "runAsNonRoot", "true")),
    };
  }
  if (pod.securityContext?.runAsNonRoot === true) return undefined;
  const unset = containers.filter(({ securityContext }) => securityContext?.runAsNonRoot === undefined);
  if (unset.length === 0) return undefined;
  return {
    reason,
    detail: `pod or ${named("container", unset)} must set securityContext.runAsNonRoot=true`,
    fields: unset.map((container) => securityField(container, "runAsNonRoot", "true, here or for the pod")),
  };
};

export const runAsNonRoot: Check = {
  id: "runAsNonRoot",
  level: "restricted",
  versions: [
    { since: 0, check },
    { since: 35, check: exceptUserNamespaces(check) },
  ],
};
