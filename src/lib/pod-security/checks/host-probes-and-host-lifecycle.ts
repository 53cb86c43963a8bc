/**
 * Probes and lifecycle handlers must not name a host, because the kubelet connects to it. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/check_hostProbesAndhostLifecycle.go.
 */
import type { Check, CheckedContainer, CheckPod, ViolatingField } from "../contract.ts";
import type { Handler } from "../pod.ts";
import { joinQuoted, plural, sortedSet } from "../text.ts";

const check: CheckPod = ({ containers }) => {
  const fields: ViolatingField[] = [];
  const bad = containers.filter((container) => {
    const before = fields.length;
    addHosts(fields, container);
    return fields.length > before;
  });
  if (bad.length === 0) return undefined;
  const names = sortedSet(bad.map(({ name }) => name));
  const hosts = sortedSet(fields.map(({ value }) => value as string));
  const uses = `${plural(names.length, "uses", "use")} ${plural(hosts.length, "probe or lifecycle host")}`;
  return {
    reason: "probe or lifecycle host",
    detail: `${plural(names.length, "container")} ${joinQuoted(names)} ${uses} ${joinQuoted(hosts)}`,
    fields,
  };
};

const probes = ["livenessProbe", "readinessProbe", "startupProbe"] as const;
const hooks = ["postStart", "preStop"] as const;
const actions = ["httpGet", "tcpSocket"] as const;

function addHosts(fields: ViolatingField[], { container, path }: CheckedContainer): void {
  for (const probe of probes) addHandler(fields, container[probe], path, probe);
  for (const hook of hooks) addHandler(fields, container.lifecycle?.[hook], path, `lifecycle.${hook}`);
}

function addHandler(fields: ViolatingField[], handler: Handler | undefined, path: () => string, name: string): void {
  if (handler === undefined) return;
  for (const action of actions) {
    const value = handler[action]?.host ?? "";
    if (value !== "") fields.push({ path: `${path()}.${name}.${action}.host`, value, allowed: "unset" });
  }
}

export const hostProbesAndHostLifecycle: Check = {
  id: "hostProbesAndHostLifecycle",
  level: "baseline",
  versions: [{ since: 34, check }],
};
