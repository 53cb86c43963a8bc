/**
 * Resolves services to addresses. Source: k8s.io/apiserver@v0.36.0/pkg/util/proxy/proxy.go,
 * k8s.io/kube-aggregator@v0.36.0/pkg/apiserver/resolvers.go.
 */
import { quoteGo } from "../lib/json/quote.ts";
import type { Address } from "./contract.ts";

/**
 * Resolves a service and port. @throws Error when there is no address
 *
 * @example
 * ```ts
 * import { type ServiceResolver, startServer } from "coxswain";
 *
 * // Webhooks that name the Service `shop/hook` are served by this process.
 * const serviceResolver: ServiceResolver = (namespace, name, port) => {
 *   if (namespace === "shop" && name === "hook") return { host: "127.0.0.1", port: 9443 };
 *   throw new Error(`no address of ${namespace}/${name}:${port}`);
 * };
 * const server = await startServer({ serviceResolver });
 * await server.close();
 * ```
 */
export type ServiceResolver = (namespace: string, name: string, port: number) => Address | Promise<Address>;

/** The fields of a Service that resolvers read. */
export interface ServiceView {
  readonly spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly externalName?: string;
    readonly ipFamilies?: readonly string[];
    readonly ports?: readonly { readonly name?: string; readonly port: number }[];
  };
}

/** The fields of an EndpointSlice that resolvers read. */
export interface EndpointSliceView {
  readonly addressType: string;
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[] | null;
  readonly endpoints?:
    | readonly { readonly addresses: readonly string[]; readonly conditions?: { readonly ready?: boolean } }[]
    | null;
}

/** Reads services and endpoints. */
export interface ServiceSource {
  /** @returns undefined when the Service does not exist */
  service(namespace: string, name: string): Promise<ServiceView | undefined>;
  /** The EndpointSlices with the label `kubernetes.io/service-name` of the service. */
  endpointSlices(namespace: string, service: string): Promise<readonly EndpointSliceView[]>;
}

/** Resolves to the ClusterIP of the service: the default. */
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

/**
 * Resolves to a random ready endpoint, for `--enable-aggregator-routing`.
 *
 * @param random returns numbers from 0 up to, but not including, 1
 */
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

/**
 * Resolves the Service `kubernetes` to the server itself.
 *
 * @param self returns the listening address
 */
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

/** @returns the name of the port */
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
  const rotated = [...endpoints.slice(offset), ...endpoints.slice(0, offset)];
  const host = rotated.find(({ conditions }) => conditions?.ready !== false)?.addresses[0];
  return host === undefined || host === "" ? undefined : { host, port };
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const keyed = items.map((item) => ({ item, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}
