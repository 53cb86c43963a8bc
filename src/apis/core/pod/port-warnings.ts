/**
 * Warnings for conflicting ports of a pod's containers.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/api/pod/warnings.go`.
 */
import { quoteGo } from "../../../lib/json/quote.ts";
import { items, type Part } from "../../fields.ts";
import { visitContainers } from "./visit-containers.ts";

interface PlacedPort {
  /** The path of the container. */
  readonly at: string;
  readonly index: number;
  readonly port: Part;
}

const pathOf = ({ at, index }: PlacedPort): string => `${at}.ports[${index}]`;

/** @param path of the spec */
export function warnOfPorts(spec: Part, path: string, warnings: string[]): void {
  const ports: PlacedPort[] = [];
  visitContainers(spec, path, (container, at) => {
    if (!container.ports) return;
    for (const [index, port] of items(container.ports).entries()) ports.push({ at, index, port });
  });
  if (ports.length === 0) return;
  warnOfNumbers(ports, warnings);
  warnOfNames(ports, warnings);
}

/** Maximum number of warnings for a pod. */
export const warningsMax = 1000;

/** Maximum number of ports with the same number that a port is compared with. */
const othersMax = 100;

function warnOfNumbers(ports: readonly PlacedPort[], warnings: string[]): void {
  const portsByKey = new Map<string, PlacedPort[]>();
  for (const placed of ports) {
    const { port } = placed;
    const { containerPort = 0, protocol = "", hostPort = 0, hostIP = "" } = port;
    if (warnings.length >= warningsMax) return;
    if (hostIP !== "" && hostPort === 0)
      warnings.push(`${pathOf(placed)}: hostIP set without hostPort: ${formatGoStruct(port)}`);
    const key = `${containerPort}/${protocol}`;
    const others = portsByKey.get(key) ?? [];
    for (const other of others) {
      const conflict = conflictOf(port, other.port);
      if (conflict !== undefined) warnings.push(`${pathOf(placed)}: ${conflict} port definition with ${pathOf(other)}`);
    }
    if (others.length === 0) portsByKey.set(key, others);
    if (others.length < othersMax) others.push(placed);
  }
}

function conflictOf({ hostIP = "", hostPort = 0 }: Part, other: Part): string | undefined {
  const [otherIp, otherPort] = [other.hostIP ?? "", other.hostPort ?? 0];
  if (hostIP === otherIp && hostPort === otherPort) return "duplicate";
  if (hostPort === 0 || otherPort === 0) return "overlapping";
  const isOneOpen = (hostIP === "") !== (otherIp === "");
  return hostPort === otherPort && isOneOpen ? "dangerously ambiguous" : undefined;
}

/** The port as Go prints the struct. */
const formatGoStruct = ({ name = "", hostPort = 0, containerPort = 0, protocol = "", hostIP = "" }: Part): string =>
  `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;

function warnOfNames(ports: readonly PlacedPort[], warnings: string[]): void {
  const firstByName = new Map<string, PlacedPort>();
  for (const placed of ports) {
    const { name = "" } = placed.port;
    if (name === "") continue;
    const first = firstByName.get(name);
    if (first === undefined) firstByName.set(name, placed);
    else {
      const other = pathOf(first);
      const what = `duplicate port name ${quoteGo(name)} with ${other}`;
      warnings.push(`${pathOf(placed)}: ${what}, services and probes that select ports by name will use ${other}`);
    }
  }
}
