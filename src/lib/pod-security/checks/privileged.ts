/**
 * Containers must not be privileged. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/check_privileged.go.
 */
import type { Check, CheckPod } from "../contract.ts";
import { named, securityField } from "../text.ts";

const check: CheckPod = ({ containers }) => {
  const bad = containers.filter(({ securityContext }) => securityContext?.privileged === true);
  if (bad.length === 0) return undefined;
  return {
    reason: "privileged",
    detail: `${named("container", bad)} must not set securityContext.privileged=true`,
    fields: bad.map((container) => securityField(container, "privileged", "false, or unset")),
  };
};

export const privileged: Check = {
  id: "privileged",
  level: "baseline",
  versions: [{ since: 0, check }],
};
