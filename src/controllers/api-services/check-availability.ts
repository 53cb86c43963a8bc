/**
 * Checks whether the server of an APIService is available. Source: `sync` in
 * k8s.io/kube-aggregator@v0.36.0/pkg/controllers/status/remote/remote_available_controller.go.
 */

import { ApiError } from "../../apimachinery/errors.ts";
import type { Backends, RemoteApiService } from "../../forwarding/aggregator/contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { EndpointSliceView, ServiceSource, ServiceView } from "../../webhook/service-resolver.ts";
import { probeDiscovery } from "./probe-discovery.ts";

/** The condition `Available` without its type and time. */
export interface Availability {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

interface Needs {
  readonly source: ServiceSource;
  readonly backends: Backends;
}

/**
 * Checks the Service, its endpoints, and then the server.
 *
 * @throws Error when the authorities of the APIService cannot be read; its status does not change
 */
export async function checkAvailability(remote: RemoteApiService, needs: Needs): Promise<Availability> {
  const problem = await serviceProblem(remote, needs.source);
  if (problem !== undefined) return problem;
  needs.backends.checkTransport(remote);
  const failure = await probeDiscovery(needs.backends, remote);
  if (failure !== undefined) return unavailable("FailedDiscoveryCheck", failure);
  return { status: "True", reason: "Passed", message: "all checks passed" };
}

async function serviceProblem(
  { service: { namespace, name, port } }: RemoteApiService,
  source: ServiceSource,
): Promise<Availability | undefined> {
  const where = `service/${name} in ${quoteGo(namespace)}`;
  let service: ServiceView | undefined;
  try {
    service = await source.service(namespace, name);
  } catch (error) {
    return unreadable("ServiceAccessError", where, error);
  }
  if (service === undefined) return unavailable("ServiceNotFound", `${where} is not present`);
  const { type, ports = [] } = service.spec ?? {};
  if (type !== "ClusterIP") return undefined;
  const found = ports.find((one) => one.port === port);
  if (found === undefined) return unavailable("ServicePortError", `${where} is not listening on port ${port}`);
  return endpointsProblem(where, found.name ?? "", () => source.endpointSlices(namespace, name));
}

async function endpointsProblem(
  where: string,
  portName: string,
  read: () => Promise<readonly EndpointSliceView[]>,
): Promise<Availability | undefined> {
  let slices: readonly EndpointSliceView[];
  try {
    slices = await read();
  } catch (error) {
    return unreadable("EndpointsAccessError", where, error);
  }
  if (slices.length === 0) return unavailable("EndpointsNotFound", `cannot find endpointslices for ${where}`);
  if (slices.some((slice) => hasEndpoint(slice, portName))) return undefined;
  const message = `endpointslices for ${where} have no addresses with port name ${quoteGo(portName)}`;
  return unavailable("MissingEndpoints", message);
}

function hasEndpoint({ endpoints, ports }: EndpointSliceView, portName: string): boolean {
  const isReady = (endpoints ?? []).some(({ conditions }) => conditions?.ready !== false);
  return isReady && (ports ?? []).some(({ name, port }) => name === portName && port !== undefined);
}

function unavailable(reason: string, message: string): Availability {
  return { status: "False", reason, message };
}

function unreadable(reason: string, where: string, error: unknown): Availability {
  if (!(error instanceof ApiError)) throw error;
  return { status: "Unknown", reason, message: `${where} cannot be checked due to: ${error.message}` };
}
