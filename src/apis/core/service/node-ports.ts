/** Node ports, given out as upstream gives them. Source: kubernetes pkg/registry/core/service/storage. */
import { internalError, plainError } from "../../../apimachinery/errors.ts";
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { items, type Part } from "../../fields.ts";
import { mayHaveNodePorts, needsHealthCheck, needsNodePorts } from "./forms.ts";

/** Where one write takes its ports from. */
export interface PortPool {
  /** @returns what is wrong with the port; undefined where it is taken for this write now */
  take(port: number): string | undefined;
  /** @returns undefined where there is none left */
  takeNext(): number | undefined;
}

/** @throws ApiError 500 @param errors where one is added, nothing else of the service is to be told */
export function giveNodePorts(spec: Part, old: Part | undefined, pool: PortPool, errors: FieldErrors): void {
  if (mayHaveNodePorts(spec)) {
    if (old === undefined) giveToNew(spec, pool, errors);
    else giveToChanged(spec, old, pool, errors);
  }
  if (errors.empty && needsHealthCheck(spec) && !(old && needsHealthCheck(old))) giveHealthCheck(spec, pool);
}

const refusePort = (index: number, port: number, why: string, errors: FieldErrors): void =>
  errors.invalid(`spec.ports[${index}].nodePort`, port, why);

function nextOf(pool: PortPool): number {
  const port = pool.takeNext();
  if (port === undefined) throw internalError("failed to allocate a nodePort: range is full");
  return port;
}

/** Ports of one number share a node port, be it one that a later one of them asks for. */
function giveToNew(spec: Part, pool: PortPool, errors: FieldErrors): void {
  const ports = items(spec.ports);
  const given = new Map<number, number>();
  for (const [index, port] of ports.entries()) {
    if (!port.nodePort && !needsNodePorts(spec)) continue;
    const shared = given.get(port.port);
    if (shared === undefined) {
      const asked: number | undefined = ports.find((other) => other.port === port.port && other.nodePort)?.nodePort;
      const problem = asked === undefined ? undefined : pool.take(asked);
      if (problem !== undefined) return refusePort(index, asked as number, problem, errors);
      port.nodePort = asked ?? nextOf(pool);
      given.set(port.port, port.nodePort);
    } else if (!port.nodePort) port.nodePort = shared;
    else if (port.nodePort !== shared) {
      const problem = pool.take(port.nodePort);
      if (problem !== undefined) return refusePort(index, port.nodePort, problem, errors);
    }
  }
}

function giveToChanged(spec: Part, old: Part, pool: PortPool, errors: FieldErrors): void {
  const mine = new Set(items(old.ports).map(({ nodePort }) => nodePort));
  const seen = new Set<string>();
  for (const [index, port] of items(spec.ports).entries()) {
    if (!port.nodePort) {
      if (!needsNodePorts(spec)) continue;
      port.nodePort = nextOf(pool);
    } else if (!mine.has(port.nodePort)) {
      const problem = pool.take(port.nodePort);
      if (problem !== undefined) return refusePort(index, port.nodePort, problem, errors);
      mine.add(port.nodePort);
    }
    const printed = `{${port.protocol} ${port.nodePort}}`;
    if (seen.has(printed)) throw plainError(`duplicate nodePort: ${printed}`);
    seen.add(printed);
  }
}

function giveHealthCheck(spec: Part, pool: PortPool): void {
  const asked: number = spec.healthCheckNodePort ?? 0;
  if (asked === 0) {
    spec.healthCheckNodePort = pool.takeNext();
    if (spec.healthCheckNodePort === undefined)
      throw internalError("failed to allocate a HealthCheck NodePort 0: range is full");
    return;
  }
  const problem = pool.take(asked);
  if (problem !== undefined)
    throw internalError(`failed to allocate requested HealthCheck NodePort ${asked}: ${problem}`);
}
