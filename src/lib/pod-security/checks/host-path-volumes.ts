/**
 * Pods must not mount directories of the node. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/check_hostPathVolumes.go.
 */
import type { Check, CheckPod } from "../contract.ts";
import { named } from "../text.ts";

const check: CheckPod = ({ spec: { volumes } }) => {
  if (volumes === undefined) return undefined;
  const bad = volumes.filter(({ hostPath }) => hostPath !== undefined);
  if (bad.length === 0) return undefined;
  return {
    reason: "hostPath volumes",
    detail: named("volume", bad),
    fields: bad.map((volume) => ({
      path: `spec.volumes[${volumes.indexOf(volume)}].hostPath`,
      value: volume.hostPath,
      allowed: "unset",
    })),
  };
};

export const hostPathVolumes: Check = {
  id: "hostPathVolumes",
  level: "baseline",
  versions: [{ since: 0, check }],
};
