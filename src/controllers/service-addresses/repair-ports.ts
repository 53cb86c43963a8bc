/**
 * Rebuilds the node ports in use from the Services.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/portallocator/controller/repair.go.
 */
import assert from "node:assert/strict";
import type { PortError, PortRepairObserver } from "../../admission/contract.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { PortBitmap } from "../../lib/ip-range/port-bitmap.ts";
import { formatPortRange, type PortRange } from "../../lib/ip-range/port-range.ts";
import { putValue } from "../../registry/commit.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { JointConflict } from "../../registry/joint-change.ts";
import { encodeNodePorts, nodePortsKey, readableNodePorts } from "../../registry/node-port-range.ts";
import type { Warning } from "../event-recorder.ts";

/** What the repair needs and keeps between its runs. */
export interface PortRepair {
  readonly registry: RegistryContext;
  readonly range: PortRange;
  /** Ports that no Service has, and in how many runs they stay in use. */
  readonly leaks: Map<number, number>;
  /** Reports a problem of a Service, which was found with this registry. */
  report(service: KubeObject, warning: Warning, registry: RegistryContext): void;
  readonly observer?: PortRepairObserver;
}

/** The run that releases a port that no Service has; a request may be storing its Service. */
const leakRuns = 3;
/** How often other writers may win. */
const attemptsMax = 10;
/** Services that are read before the event loop serves others. */
const pieceMax = 1000;

/**
 * Runs the repair once. An empty store gets its ports in use.
 * @throws JointConflict when other writers won every attempt
 * @throws ApiError 503
 */
export async function repairNodePorts(repair: PortRepair): Promise<void> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await repairOnce(repair);
    } catch (error) {
      repair.observer?.failed();
      if (!(error instanceof JointConflict) || attempts === attemptsMax) throw error;
    }
  }
}

type Problem = readonly [service: KubeObject, warning: Warning];

/** By the reason of the Event. */
const errorTypes: Readonly<Record<string, PortError>> = {
  PortNotAllocated: "repair",
  PortOutOfRange: "outOfRange",
  PortAlreadyAllocated: "duplicate",
};

async function repairOnce({ registry, range, leaks, report, observer }: PortRepair): Promise<void> {
  const stored = await registry.storage.get(nodePortsKey);
  const before = (stored && readableNodePorts(stored)) ?? new PortBitmap(range);
  const rebuilt = new PortBitmap(range);
  const problems = await addServices(registry, { before, rebuilt });
  const { remaining, leaked } = keepLeaks(before, rebuilt, leaks);
  await putValue(registry, {
    key: nodePortsKey,
    derive(newest) {
      if (newest?.revision !== stored?.revision) throw new JointConflict(nodePortsKey);
      const written = encodeNodePorts(rebuilt, registry);
      return newest?.value.equals(written.shared ?? written.value) === true ? undefined : written;
    },
  });
  leaks.clear();
  for (const [port, runs] of remaining) leaks.set(port, runs);
  for (const [service, warning] of problems) {
    report(service, warning, registry);
    const type = errorTypes[warning.reason];
    if (type !== undefined) observer?.found(type);
  }
  for (let count = 0; count < leaked; count++) observer?.found("leak");
}

interface Sets {
  /** The stored ports; those of Services are removed from it. */
  readonly before: PortBitmap;
  readonly rebuilt: PortBitmap;
}

async function addServices(registry: RegistryContext, sets: Sets): Promise<Problem[]> {
  const store = registry.catalog.find("", "v1", "services")?.resource.store;
  assert.ok(store !== undefined, "the catalog has no store for Services");
  const problems: Problem[] = [];
  let read = 0;
  for (const entry of (await store.cache.current()).range(store.form.prefix)) {
    if (++read % pieceMax === 0) await new Promise(setImmediate);
    if (entry.json.indexOf('odePort":', 0, "latin1") < 0) continue;
    const service = store.decode(entry);
    for (const port of portsOf(service)) {
      const warning = addPort(port, sets);
      if (warning !== undefined) problems.push([service, warning]);
    }
  }
  return problems;
}

function addPort(port: number, { before, rebuilt }: Sets): Warning | undefined {
  const action = "PortAllocation";
  const { first, last } = rebuilt.range;
  if (port < first || port > last) {
    const note = `Port ${port} is not within the port range ${formatPortRange(rebuilt.range)}; please recreate service`;
    return { reason: "PortOutOfRange", action, note };
  }
  if (!rebuilt.add(port)) {
    const note = `Port ${port} was assigned to multiple services; please recreate service`;
    return { reason: "PortAlreadyAllocated", action, note };
  }
  const wasStored = before.has(port);
  before.delete(port);
  if (wasStored) return undefined;
  return { reason: "PortNotAllocated", action, note: `Port ${port} is not allocated; repairing` };
}

/**
 * Keeps ports that no Service has in use for some runs.
 * @returns the runs that remain for each, and the number of ports that are released
 */
function keepLeaks(
  before: PortBitmap,
  rebuilt: PortBitmap,
  leaks: ReadonlyMap<number, number>,
): { readonly remaining: ReadonlyMap<number, number>; readonly leaked: number } {
  const remaining = new Map<number, number>();
  let leaked = 0;
  for (const port of before) {
    const runs = leaks.get(port) ?? leakRuns - 1;
    if (runs === 0) {
      leaked++;
      continue;
    }
    remaining.set(port, runs - 1);
    rebuilt.add(port);
  }
  return { remaining, leaked };
}

/** A number counts once for each protocol that uses it twice. The health check uses TCP. */
function portsOf({ spec }: KubeObject): number[] {
  const seen = new Map<number, Set<string>>();
  const found: number[] = [];
  const add = (port: unknown, protocol: string): void => {
    if (typeof port !== "number" || port === 0) return;
    const protocols = seen.get(port);
    if (protocols === undefined || protocols.has(protocol)) found.push(port);
    seen.set(port, (protocols ?? new Set()).add(protocol));
  };
  const ports = (spec.ports ?? []) as readonly { readonly nodePort?: number; readonly protocol: string }[];
  for (const { nodePort, protocol } of ports) add(nodePort, protocol);
  add(spec.healthCheckNodePort, "TCP");
  return found;
}
