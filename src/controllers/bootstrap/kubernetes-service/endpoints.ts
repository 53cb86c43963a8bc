/**
 * The endpoints of the Service `kubernetes` as data. Sources:
 * `k8s.io/kubernetes@v1.36.0/pkg/controlplane/reconcilers/lease.go`, `instancecount.go` and
 * `endpointsadapter.go`.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { ipVersion } from "../../../lib/ip-range/ip-version.ts";
import { deepEqual } from "../../../lib/json/values.ts";

/** A port of Endpoints. */
export interface EndpointPort {
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
}

interface Address {
  readonly ip: string;
  readonly targetRef?: unknown;
  readonly nodeName?: string;
}

interface Subset {
  addresses?: Address[];
  notReadyAddresses?: Address[];
  ports?: EndpointPort[];
}

const skipMirror = "endpointslice.kubernetes.io/skip-mirror";

/** What the endpoints shall be. */
export interface DesiredEndpoints {
  readonly ports: readonly EndpointPort[];
  /** Whether ports of existing endpoints are corrected. */
  readonly correctsPorts: boolean;
}

/** @returns a new object, which is to be changed */
export function newEndpoints(): KubeObject {
  return { apiVersion: "v1", kind: "Endpoints", metadata: { name: "kubernetes", namespace: "default" } };
}

/** Gives the endpoints exactly these addresses. */
export function setAddresses(object: KubeObject, ips: readonly string[], desired: DesiredEndpoints): void {
  prepare(object, desired, (subset) => {
    const present = (subset.addresses ?? []).map(({ ip }) => ip);
    if (
      present.length === ips.length &&
      new Set(present).size === ips.length &&
      present.every((ip) => ips.includes(ip))
    )
      return;
    subset.addresses = sorted(ips);
  });
}

/**
 * Adds an address, and removes others beyond the number of servers: those after it, in their order.
 * All servers do so, and agree in the end.
 */
export function addAddress(object: KubeObject, ip: string, count: number, desired: DesiredEndpoints): void {
  prepare(object, desired, (subset) => {
    const present = (subset.addresses ?? []).map((address) => address.ip);
    if (present.includes(ip) && present.length <= count) return;
    const all = sorted([...present, ip]).map((address) => address.ip);
    const from = all.indexOf(ip);
    const cyclic = [...all.slice(from + 1), ...all.slice(0, from)];
    const removed = new Set(cyclic.slice(0, Math.max(0, all.length - count)));
    subset.addresses = sorted(all.filter((one) => !removed.has(one)));
  });
}

/** @returns whether the address was there */
export function removeAddress(object: KubeObject, ip: string): boolean {
  const [subset] = subsetsOf(object);
  const present = subset?.addresses ?? [];
  if (subset === undefined || present.every((address) => address.ip !== ip)) return false;
  setSubset(object, { ...subset, addresses: present.filter((address) => address.ip !== ip) });
  return true;
}

/** Endpoints without exactly one subset are not those of a server, and are made again. */
function prepare(
  object: KubeObject,
  { ports, correctsPorts }: DesiredEndpoints,
  correct: (subset: Subset) => void,
): void {
  object.metadata.labels = { ...object.metadata.labels, [skipMirror]: "true" };
  const [existing, ...more] = subsetsOf(object);
  const isSound = existing !== undefined && more.length === 0;
  const subset = isSound ? existing : { addresses: [], ports: [...ports] };
  correct(subset);
  if (correctsPorts && !deepEqual(subset.ports ?? [], ports)) subset.ports = [...ports];
  setSubset(object, subset);
}

function subsetsOf(object: KubeObject): Subset[] {
  return object.subsets ?? [];
}

/** A subset without addresses is not valid. */
function setSubset(object: KubeObject, subset: Subset): void {
  const isEmpty = (subset.addresses ?? []).length + (subset.notReadyAddresses ?? []).length === 0;
  if (isEmpty) delete object.subsets;
  else object.subsets = [subset];
}

/** In the order of their texts. */
function sorted(ips: readonly string[]): Address[] {
  return [...new Set(ips)].sort((a, b) => (a < b ? -1 : 1)).map((ip) => ({ ip }));
}

/** Copies the first subset of the endpoints to the EndpointSlice `kubernetes`. */
export function sliceOf(endpoints: KubeObject): KubeObject {
  const { addresses = [], notReadyAddresses = [], ports }: Subset = subsetsOf(endpoints)[0] ?? {};
  const all = [...addresses, ...notReadyAddresses];
  const usesV6 = all.length > 0 && all.every(({ ip }) => ipVersion(ip) === 6);
  const endpointsOf = (list: readonly Address[], ready: boolean): object[] =>
    list
      .filter(({ ip }) => (ipVersion(ip) === 6) === usesV6)
      .map(({ ip, targetRef, nodeName }) => ({
        addresses: [ip],
        conditions: { ready },
        ...(targetRef !== undefined && { targetRef }),
        ...(nodeName !== undefined && { nodeName }),
      }));
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "kubernetes", namespace: "default", labels: { "kubernetes.io/service-name": "kubernetes" } },
    addressType: usesV6 ? "IPv6" : "IPv4",
    endpoints: [...endpointsOf(addresses, true), ...endpointsOf(notReadyAddresses, false)],
    ...(ports !== undefined && ports.length > 0 && { ports: ports.map((port) => ({ ...port })) }),
  };
}
