/**
 * Pods can set only safe sysctls. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/check_sysctls.go.
 */
import type { Check, CheckPod } from "../contract.ts";
import { joinQuoted } from "../text.ts";

/** @param allowed the names of sysctls */
function checkWith(allowed: readonly string[]): CheckPod {
  const names = new Set(allowed);
  return ({ pod: { securityContext } }) => {
    const fields = (securityContext?.sysctls ?? []).flatMap(({ name }, index) =>
      names.has(name)
        ? []
        : [{ path: `spec.securityContext.sysctls[${index}].name`, value: name, allowed: joinQuoted(allowed) }],
    );
    if (fields.length === 0) return undefined;
    return { reason: "forbidden sysctls", detail: fields.map(({ value }) => value).join(", "), fields };
  };
}

const v0 = [
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_unprivileged_port_start",
];
const v27 = [...v0, "net.ipv4.ip_local_reserved_ports"];
const v29 = [
  ...v27,
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
];
const v32 = [...v29, "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"];

export const sysctls: Check = {
  id: "sysctls",
  level: "baseline",
  versions: [
    { since: 0, check: checkWith(v0) },
    { since: 27, check: checkWith(v27) },
    { since: 29, check: checkWith(v29) },
    { since: 32, check: checkWith(v32) },
  ],
};
