/**
 * Windows containers must not run as processes of the node. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/check_windowsHostProcess.go.
 */
import type { Check, CheckPod } from "../contract.ts";
import { securityField, setters } from "../text.ts";

const check: CheckPod = ({ pod, containers }) => {
  const bad = [pod, ...containers].filter(
    ({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true,
  );
  if (bad.length === 0) return undefined;
  return {
    reason: "hostProcess",
    detail: `${setters(bad)} must not set securityContext.windowsOptions.hostProcess=true`,
    fields: bad.map((holder) => securityField(holder, "windowsOptions.hostProcess", "false, or unset")),
  };
};

export const windowsHostProcess: Check = {
  id: "windowsHostProcess",
  level: "baseline",
  versions: [{ since: 0, check }],
};
