/** Ports of a pod's containers that get into each other's way. */
import { quoteGo } from "../../../lib/json/quote.ts";
import { items, type Part } from "../../fields.ts";
import { visitContainers } from "./containers-of.ts";

interface PlacedPort {
  readonly path: string;
  readonly port: Part;
}

/** @param path of the spec */
export function warnOfPorts(spec: Part, path: string, warnings: string[]): void {
  const ports: PlacedPort[] = [];
  visitContainers(spec, path, (container, at) => {
    if (!container.ports) return;
    for (const [index, port] of items(container.ports).entries()) ports.push({ path: `${at}.ports[${index}]`, port });
  });
  if (ports.length === 0) return;
  warnOfNumbers(ports, warnings);
  warnOfNames(ports, warnings);
}

/** Told at most of one pod. */
export const warningsMax = 1000;

/** Ports of one number that each is compared with. */
const othersMax = 100;

function warnOfNumbers(ports: readonly PlacedPort[], warnings: string[]): void {
  const known = new Map<string, PlacedPort[]>();
  for (const { path, port } of ports) {
    const { containerPort = 0, protocol = "", hostPort = 0, hostIP = "" } = port;
    if (warnings.length >= warningsMax) return;
    if (hostIP !== "" && hostPort === 0) warnings.push(`${path}: hostIP set without hostPort: ${inGo(port)}`);
    const key = `${containerPort}/${protocol}`;
    const others = known.get(key) ?? [];
    for (const other of others) {
      const conflict = conflictOf(port, other.port);
      if (conflict !== undefined) warnings.push(`${path}: ${conflict} port definition with ${other.path}`);
    }
    if (others.length === 0) known.set(key, others);
    if (others.length < othersMax) others.push({ path, port });
  }
}

function conflictOf({ hostIP = "", hostPort = 0 }: Part, other: Part): string | undefined {
  const [otherIp, otherPort] = [other.hostIP ?? "", other.hostPort ?? 0];
  if (hostIP === otherIp && hostPort === otherPort) return "duplicate";
  if (hostPort === 0 || otherPort === 0) return "overlapping";
  const isOneOpen = (hostIP === "") !== (otherIp === "");
  return hostPort === otherPort && isOneOpen ? "dangerously ambiguous" : undefined;
}

/** As Go prints the struct. */
const inGo = ({ name = "", hostPort = 0, containerPort = 0, protocol = "", hostIP = "" }: Part): string =>
  `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;

function warnOfNames(ports: readonly PlacedPort[], warnings: string[]): void {
  const known = new Map<string, string>();
  for (const { path, port } of ports) {
    const { name = "" } = port;
    if (name === "") continue;
    const other = known.get(name);
    if (other === undefined) known.set(name, path);
    else {
      const what = `duplicate port name ${quoteGo(name)} with ${other}`;
      warnings.push(`${path}: ${what}, services and probes that select ports by name will use ${other}`);
    }
  }
}
