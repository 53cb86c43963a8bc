/**
 * Containers must not set the user root, except in user namespaces since 1.35. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/check_runAsUser.go.
 */
import type { Check, CheckPod } from "../contract.ts";
import { securityField, setters } from "../text.ts";
import { exceptUserNamespaces } from "./relaxations.ts";

const check: CheckPod = ({ pod, containers }) => {
  const bad = [pod, ...containers].filter(({ securityContext }) => securityContext?.runAsUser === 0);
  if (bad.length === 0) return undefined;
  return {
    reason: "runAsUser=0",
    detail: `${setters(bad)} must not set runAsUser=0`,
    fields: bad.map((holder) => securityField(holder, "runAsUser", "a number above 0, or unset")),
  };
};

export const runAsUser: Check = {
  id: "runAsUser",
  level: "restricted",
  versions: [
    { since: 23, check },
    { since: 35, check: exceptUserNamespaces(check) },
  ],
};
