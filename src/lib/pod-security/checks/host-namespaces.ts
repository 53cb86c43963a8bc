/**
 * Pods must not share the namespaces of the node. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/check_hostNamespaces.go.
 */
import type { Check, CheckPod } from "../contract.ts";

const fields = ["hostNetwork", "hostPID", "hostIPC"] as const;

const check: CheckPod = ({ spec }) => {
  const shared = fields.filter((field) => spec[field] === true);
  if (shared.length === 0) return undefined;
  return {
    reason: "host namespaces",
    detail: shared.map((field) => `${field}=true`).join(", "),
    fields: shared.map((field) => ({ path: `spec.${field}`, value: true, allowed: "false, or unset" })),
  };
};

export const hostNamespaces: Check = {
  id: "hostNamespaces",
  level: "baseline",
  versions: [{ since: 0, check }],
};
