/**
 * Containers must keep the masks of /proc. Since 1.35, `baseline` allows other mounts in user
 * namespaces, and `restricted` does not. Sources: check_procMount_baseline.go and
 * check_procMount_restricted.go in k8s.io/pod-security-admission@v0.36.0/policy.
 */
import type { Check, CheckPod } from "../contract.ts";
import { joinSorted, named, securityField } from "../text.ts";
import { exceptUserNamespaces } from "./relaxations.ts";

const check: CheckPod = ({ containers }) => {
  const bad = containers.filter(({ securityContext }) => (securityContext?.procMount ?? "Default") !== "Default");
  if (bad.length === 0) return undefined;
  const types = joinSorted(bad.map(({ securityContext }) => securityContext?.procMount ?? ""));
  return {
    reason: "procMount",
    detail: `${named("container", bad)} must not set securityContext.procMount to ${types}`,
    fields: bad.map((container) => securityField(container, "procMount", '"Default", or unset')),
  };
};

export const procMount: Check = {
  id: "procMount",
  level: "baseline",
  versions: [
    { since: 0, check },
    { since: 35, check: exceptUserNamespaces(check) },
  ],
};

export const procMountRestricted: Check = {
  id: "procMount_restricted",
  level: "restricted",
  versions: [{ since: 35, check, overrides: [procMount.id] }],
};
