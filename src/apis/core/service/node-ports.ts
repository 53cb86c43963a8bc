/**
 * Allocation of node ports, in upstream's order.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/storage/alloc.go`.
 */
import { internalError, plainError } from "../../../apimachinery/errors.ts";
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { firstByKey } from "../../../lib/first-by-key/first-by-key.ts";
import { items, type Part } from "../../fields.ts";
import { mayHaveNodePorts, needsHealthCheck, needsNodePorts } from "./service-fields.ts";

/** Node ports that one write can allocate. */
export interface PortPool {
  /** @returns the problem, or undefined if the port is now allocated to this write */
  take(port: number): string | undefined;
  /** @returns a port, or the problem */
  takeNext(): number | string;
}

/**
 * Allocates the node ports and the health check node port of a service.
 *
 * @param old the stored spec, undefined on create
 * @param errors receives rejected ports; if there are any, the caller reports only these
 * @throws ApiError 500 if the range is full or the health check node port cannot be allocated
 */
export function allocateNodePorts(spec: Part, old: Part | undefined, pool: PortPool, errors: FieldErrors): void {
  if (mayHaveNodePorts(spec)) {
    if (old === undefined) allocateForCreate(spec, pool, errors);
    else allocateForUpdate(spec, old, pool, errors);
  }
  if (errors.empty && needsHealthCheck(spec) && !(old && needsHealthCheck(old))) allocateHealthCheckPort(spec, pool);
}

const addPortError = (index: number, port: number, why: string, errors: FieldErrors): void =>
  errors.invalid(`spec.ports[${index}].nodePort`, port, why);

function takeNextOrThrow(pool: PortPool): number {
  const port = pool.takeNext();
  if (typeof port === "string") throw internalError(`failed to allocate a nodePort: ${port}`);
  return port;
}

/** Ports with the same number share a node port, the first one that any of them requests. */
function allocateForCreate(spec: Part, pool: PortPool, errors: FieldErrors): void {
  const ports = items(spec.ports);
  const allocated = new Map<number, number>();
  const requests = firstByKey<number, number>(
    ports.filter(({ nodePort }) => nodePort).map(({ port, nodePort }) => [port, nodePort]),
  );
  for (const [index, port] of ports.entries()) {
    if (!port.nodePort && !needsNodePorts(spec)) continue;
    const shared = allocated.get(port.port);
    if (shared === undefined) {
      const requested = requests.get(port.port);
      const problem = requested === undefined ? undefined : pool.take(requested);
      if (problem !== undefined) return addPortError(index, requested as number, problem, errors);
      port.nodePort = requested ?? takeNextOrThrow(pool);
      allocated.set(port.port, port.nodePort);
    } else if (!port.nodePort) port.nodePort = shared;
    else if (port.nodePort !== shared) {
      const problem = pool.take(port.nodePort);
      if (problem !== undefined) return addPortError(index, port.nodePort, problem, errors);
    }
  }
}

function allocateForUpdate(spec: Part, old: Part, pool: PortPool, errors: FieldErrors): void {
  const own = new Set(items(old.ports).map(({ nodePort }) => nodePort));
  const seen = new Set<string>();
  for (const [index, port] of items(spec.ports).entries()) {
    if (!port.nodePort) {
      if (!needsNodePorts(spec)) continue;
      port.nodePort = takeNextOrThrow(pool);
    } else if (!own.has(port.nodePort)) {
      const problem = pool.take(port.nodePort);
      if (problem !== undefined) return addPortError(index, port.nodePort, problem, errors);
      own.add(port.nodePort);
    }
    const printed = `{${port.protocol} ${port.nodePort}}`;
    if (seen.has(printed)) throw plainError(`duplicate nodePort: ${printed}`);
    seen.add(printed);
  }
}

function allocateHealthCheckPort(spec: Part, pool: PortPool): void {
  const requested: number = spec.healthCheckNodePort ?? 0;
  if (requested === 0) {
    const port = pool.takeNext();
    if (typeof port === "string") throw internalError(`failed to allocate a HealthCheck NodePort 0: ${port}`);
    spec.healthCheckNodePort = port;
    return;
  }
  const problem = pool.take(requested);
  if (problem !== undefined)
    throw internalError(`failed to allocate requested HealthCheck NodePort ${requested}: ${problem}`);
}
