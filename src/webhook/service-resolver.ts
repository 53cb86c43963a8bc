/** Where a service is reached. Source: k8s.io/apiserver, util/proxy; kube-aggregator's resolvers.go */
import { isIP } from "node:net";
import { quoteGo } from "../lib/json/quote.ts";
import type { Address } from "./contract.ts";

/** @throws Error whose message says why there is no address */
export type ServiceResolver = (namespace: string, name: string, port: number) => Address | Promise<Address>;

/** What is looked at of a Service. */
export interface ServiceView {
  readonly spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly externalName?: string;
    readonly ipFamilies?: readonly string[];
    readonly ports?: readonly { readonly name?: string; readonly port: number }[];
  };
}

/** What is looked at of an EndpointSlice. */
export interface EndpointSliceView {
  readonly addressType: string;
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[] | null;
  readonly endpoints?:
    | readonly { readonly addresses: readonly string[]; readonly conditions?: { readonly ready?: boolean } }[]
    | null;
}

export interface ServiceSource {
  service(namespace: string, name: string): Promise<ServiceView | undefined>;
  /** Those with the label `kubernetes.io/service-name`. */
  endpointSlices(namespace: string, service: string): Promise<readonly EndpointSliceView[]>;
}

/** By the address of the service itself: what upstream does unless told otherwise. */
export function clusterIpResolver(source: ServiceSource): ServiceResolver {
  return async (namespace, name, port) => {
    const { type, clusterIP = "", externalName = "", ports = [] } = await specOf(source, namespace, name);
    if (type === "ExternalName") return { host: externalName, port };
    if (type === "ClusterIP" && clusterIP === "None") throw new Error('cannot route to service with ClusterIP "None"');
    checkType(type);
    checkPort(ports, name, port);
    return { host: clusterIP, port };
  };
}

/** By one of the service's endpoints that are ready, chosen by chance (`--enable-aggregator-routing`). @param random 0 up to 1 */
export function endpointResolver(source: ServiceSource, random: () => number = Math.random): ServiceResolver {
  return async (namespace, name, port) => {
    const { type, ipFamilies, ports = [] } = await specOf(source, namespace, name);
    checkType(type);
    const portName = checkPort(ports, name, port);
    const slices = shuffled(await source.endpointSlices(namespace, name), random);
    if (ipFamilies?.[0] !== undefined)
      slices.sort((a, b) => Number(b.addressType === ipFamilies[0]) - Number(a.addressType === ipFamilies[0]));
    for (const slice of slices) {
      const found = readyEndpoint(slice, portName, random);
      if (found !== undefined) return found;
    }
    throw new Error(`no endpoints available for service ${quoteGo(name)}`);
  };
}

/** The service `kubernetes` is this server itself. @param self where it listens */
export function withLoopback(delegate: ServiceResolver, self: () => Address): ServiceResolver {
  return (namespace, name, port) =>
    namespace === "default" && name === "kubernetes" && port === 443 ? self() : delegate(namespace, name, port);
}

async function specOf(
  source: ServiceSource,
  namespace: string,
  name: string,
): Promise<NonNullable<ServiceView["spec"]>> {
  const service = await source.service(namespace, name);
  if (service === undefined) throw new Error(`service ${quoteGo(name)} not found`);
  return service.spec ?? {};
}

function checkType(type = ""): void {
  if (!["ClusterIP", "LoadBalancer", "NodePort"].includes(type))
    throw new Error(`unsupported service type ${quoteGo(type)}`);
}

/** @returns the port's name */
function checkPort(
  ports: NonNullable<NonNullable<ServiceView["spec"]>["ports"]>,
  service: string,
  port: number,
): string {
  const found = ports.find((one) => one.port === port);
  if (found === undefined) throw new Error(`no service port ${port} found for service ${quoteGo(service)}`);
  return found.name ?? "";
}

function readyEndpoint(
  { ports, endpoints }: EndpointSliceView,
  portName: string,
  random: () => number,
): Address | undefined {
  const port = ports?.find((one) => one.name === portName && one.port !== undefined && one.port !== null)?.port;
  if (port === undefined || !endpoints || endpoints.length === 0) return undefined;
  const offset = Math.floor(random() * endpoints.length);
  const turned = [...endpoints.slice(offset), ...endpoints.slice(0, offset)];
  const host = turned.find(({ conditions }) => conditions?.ready !== false)?.addresses[0];
  return host === undefined || (isIP(host) === 0 && host === "") ? undefined : { host, port };
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const keyed = items.map((item) => ({ item, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}
