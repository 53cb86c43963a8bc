/**
 * Containers can add only the default capabilities. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/check_capabilities_baseline.go.
 */
import type { Check, CheckPod } from "../contract.ts";
import { joinSorted, named, securityField } from "../text.ts";

const allowed: ReadonlySet<string> = new Set([
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
]);

const check: CheckPod = ({ containers }) => {
  const bad = containers.filter(({ securityContext }) =>
    securityContext?.capabilities?.add?.some((capability) => !allowed.has(capability)),
  );
  if (bad.length === 0) return undefined;
  const added = bad.flatMap(({ securityContext }) => securityContext?.capabilities?.add ?? []);
  const forbidden = joinSorted(added.filter((capability) => !allowed.has(capability)));
  return {
    reason: "non-default capabilities",
    detail: `${named("container", bad)} must not include ${forbidden} in securityContext.capabilities.add`,
    fields: bad.map((container) => securityField(container, "capabilities.add", `a list of ${joinSorted(allowed)}`)),
  };
};

export const capabilitiesBaseline: Check = {
  id: "capabilities_baseline",
  level: "baseline",
  versions: [{ since: 0, check }],
};
