/**
 * Containers must not gain privileges, as with a set-user-ID file. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/check_allowPrivilegeEscalation.go.
 */
import type { Check, CheckPod } from "../contract.ts";
import { named, securityField } from "../text.ts";
import { exceptWindows } from "./relaxations.ts";

const check: CheckPod = ({ containers }) => {
  const bad = containers.filter(({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  if (bad.length === 0) return undefined;
  return {
    reason: "allowPrivilegeEscalation != false",
    detail: `${named("container", bad)} must set securityContext.allowPrivilegeEscalation=false`,
    fields: bad.map((container) => securityField(container, "allowPrivilegeEscalation", "false")),
  };
};

export const allowPrivilegeEscalation: Check = {
  id: "allowPrivilegeEscalation",
  level: "restricted",
  versions: [
    { since: 8, check },
    { since: 25, check: exceptWindows(check) },
  ],
};
