/**
 * Containers must not use ports of the node. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/check_hostPorts.go.
 */
import type { Check, CheckedContainer, CheckPod, ViolatingField } from "../contract.ts";
import { named, plural, sortedSet } from "../text.ts";

const check: CheckPod = ({ containers }) => {
  const bad = containers.filter(({ container }) => container.ports?.some(usesHost));
  if (bad.length === 0) return undefined;
  const fields = bad.flatMap(hostPortsOf);
  const ports = sortedSet(fields.map(({ value }) => String(value)));
  const uses = `${plural(bad.length, "uses", "use")} ${plural(ports.length, "hostPort")}`;
  return { reason: "hostPort", detail: `${named("container", bad)} ${uses} ${ports.join(", ")}`, fields };
};

function usesHost({ hostPort }: { readonly hostPort?: number }): boolean {
  return hostPort !== undefined && hostPort !== 0;
}

function hostPortsOf({ container, path }: CheckedContainer): ViolatingField[] {
  return (container.ports ?? []).flatMap((port, index) =>
    usesHost(port)
      ? [{ path: `${path()}.ports[${index}].hostPort`, value: port.hostPort, allowed: "0, or unset" }]
      : [],
  );
}

export const hostPorts: Check = {
  id: "hostPorts",
  level: "baseline",
  versions: [{ since: 0, check }],
};
