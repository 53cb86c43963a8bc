/**
 * The addresses of proxied pods, services and nodes. Sources: `ResourceLocation` in
 * k8s.io/kubernetes@v1.36.0/pkg/registry/core/pod/strategy.go, service/storage/storage.go and
 * node/strategy.go.
 */
import { badRequest, notFound, serviceUnavailable } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { currentObject } from "../../registry/current-entry.ts";
import { addressNotAllowed, proxyableAddress } from "./check-address.ts";
import type { AddressPolicy } from "./contract.ts";

/** An address that was checked, and a port. */
export interface Location {
  readonly scheme: "http" | "https";
  readonly address: string;
  /** Empty: the default of the scheme. */
  readonly port: string;
}

/** How objects are found. */
export interface LocationOptions extends Pick<RegistryContext, "catalog"> {
  readonly policy: AddressPolicy;
  /** Returns numbers from 0 up to, but not including, 1. */
  readonly random: () => number;
}

/**
 * The address in the status of a pod, and the requested port or else its first one.
 * @throws ApiError 400, 404
 */
export async function podLocation(options: LocationOptions, namespace: string, text: string): Promise<Location> {
  const { scheme, name, port } = nameOf("pod", text);
  checkPort(port, "pod", text);
  const { spec, status } = await getObject(options, { resource: "pods", namespace, name });
  const containers = (spec?.containers ?? []) as { readonly ports?: readonly { readonly containerPort: number }[] }[];
  const first = containers.find(({ ports }) => ports !== undefined && ports.length > 0)?.ports?.[0]?.containerPort;
  const address = proxyableAddress(addressesOf(status)[0] ?? "", options.policy);
  if (address === undefined) throw addressNotAllowed();
  return { scheme: scheme || "http", address, port: port || String(first ?? "") };
}

/**
 * A random ready address of a service, that is the address of a pod in its namespace.
 * @throws ApiError 400, 404, 503
 */
export async function serviceLocation(options: LocationOptions, namespace: string, text: string): Promise<Location> {
  const { scheme, name, port } = nameOf("service", text);
  const portName = isInteger(port) ? await namedPort(options, { namespace, name, port }) : port;
  const { subsets = [] } = (await getObject(options, {
    resource: "endpoints",
    namespace,
    name,
    reported: "services",
  })) as KubeObject & { readonly subsets?: readonly Subset[] };
  if (subsets.length === 0) throw noEndpoints(name);
  for (const { ports = [], addresses = [] } of rotated(subsets, options.random)) {
    const found = ports.find((one) => (one.name ?? "") === portName);
    if (found === undefined) continue;
    for (const candidate of rotated(addresses, options.random)) {
      const address = await addressOfPod(options, namespace, candidate);
      if (address !== undefined) return { scheme: scheme || "http", address, port: String(found.port) };
    }
  }
  throw noEndpoints(text);
}

/** @throws ApiError 400 */
export function nameOf(what: "pod" | "service" | "node", text: string): ProxiedName {
  const parsed = parseProxiedName(text);
  if (parsed === undefined) throw badRequest(`invalid ${what} request ${quoteGo(text)}`);
  return parsed;
}

/** Upstream fails for ports that are not numbers. @throws ApiError 400 */
export function checkPort(port: string, what: "pod" | "node", text: string): void {
  if (!/^[0-9]*$/.test(port)) throw badRequest(`invalid ${what} request ${quoteGo(text)}`);
}

/** Whether Go parses a text as an int64. */
function isInteger(text: string): boolean {
  return /^[+-]?[0-9]{1,40}$/.test(text) && BigInt.asIntN(64, integerOf(text)) === integerOf(text);
}

function integerOf(text: string): bigint {
  return BigInt(text.replace("+", ""));
}

interface Subset {
  readonly addresses?: readonly EndpointAddress[];
  readonly ports?: readonly { readonly name?: string; readonly port: number }[];
}

interface EndpointAddress {
  readonly ip: string;
  readonly targetRef?: { readonly namespace?: string; readonly name?: string };
}

function noEndpoints(name: string): ReturnType<typeof serviceUnavailable> {
  return serviceUnavailable(`no endpoints available for service ${quoteGo(name)}`);
}

/** The name of a port with this number. @throws ApiError 404, 503 */
async function namedPort(
  options: LocationOptions,
  { namespace, name, port }: { readonly namespace: string; readonly name: string; readonly port: string },
): Promise<string> {
  const { spec } = await getObject(options, { resource: "services", namespace, name });
  const ports = (spec?.ports ?? []) as { readonly name?: string; readonly port: number }[];
  const found = ports.find((one) => one.port === Number(port));
  if (found === undefined)
    throw serviceUnavailable(`no service port ${integerOf(port)} found for service ${quoteGo(name)}`);
  return found.name ?? "";
}

/** @returns undefined for an address that is not that of its pod, or is not allowed */
async function addressOfPod(
  { catalog, policy }: LocationOptions,
  namespace: string,
  { ip, targetRef }: EndpointAddress,
): Promise<string | undefined> {
  if (targetRef?.namespace !== namespace) return undefined;
  const pod = await currentObject(catalog, { group: "", resource: "pods" }, namespace, targetRef.name ?? "");
  if (pod === undefined || !addressesOf(pod.status).includes(ip)) return undefined;
  return proxyableAddress(ip, policy);
}

function addressesOf(status: KubeObject["status"]): readonly string[] {
  const { podIPs = [], podIP } = (status ?? {}) as { podIPs?: readonly { readonly ip: string }[]; podIP?: string };
  return podIPs.length > 0 ? podIPs.map(({ ip }) => ip) : [podIP ?? ""];
}

/** All items, from a random one on. */
function rotated<T>(all: readonly T[], random: () => number): T[] {
  const first = Math.floor(random() * all.length);
  return [...all.slice(first), ...all.slice(0, first)];
}

interface ObjectReference {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** The resource in the error, if it is another one. */
  readonly reported?: string;
}

/** @throws ApiError 404 */
async function getObject(
  { catalog }: Pick<RegistryContext, "catalog">,
  { resource, namespace, name, reported = resource }: ObjectReference,
): Promise<KubeObject> {
  const found = await currentObject(catalog, { group: "", resource }, namespace, name);
  if (found === undefined) throw notFound({ group: "", resource: reported }, name);
  return found;
}

/** The parts of `name`, `name:port` or `scheme:name:port`; those that are missing are empty. */
interface ProxiedName {
  readonly scheme: "" | "http" | "https";
  readonly name: string;
  /** A number, or the name of a port. */
  readonly port: string;
}

/**
 * Source: `SplitSchemeNamePort` in k8s.io/apimachinery@v0.36.0/pkg/util/net/port_split.go.
 * @returns undefined for other forms and schemes
 */
function parseProxiedName(text: string): ProxiedName | undefined {
  const parts = text.split(":");
  if (parts.length > 3) return undefined;
  const [scheme, name, port] = parts.length === 3 ? parts : ["", ...parts];
  if (name === undefined || name === "") return undefined;
  if (scheme !== "" && scheme !== "http" && scheme !== "https") return undefined;
  return { scheme, name, port: port ?? "" };
}
