/**
 * The objects that the first start creates in every cluster: the system namespaces, the Service
 * `kubernetes` and the system priority classes.
 */
import assert from "node:assert/strict";
import { isIP } from "node:net";
import { ApiError } from "../apimachinery/errors.ts";
import type { Logger } from "../apimachinery/logger.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { loopbackUser } from "../apimachinery/system-user.ts";
import type { ResourceStore } from "../catalog/contract.ts";
import { addressAt, parseIpRanges } from "../lib/ip-range/ip-range.ts";
import { removeUnread } from "../registry/commit.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { create } from "../registry/create.ts";
import type { Stored } from "../storage/contract.ts";
import { entryFromStored } from "../watch-cache/entry.ts";
import { isReadFailure, UnreadableObjects } from "../watch-cache/unreadable.ts";

interface BootOptions {
  /**
   * The address at which clients in the cluster reach this server. If undefined, the Service has no
   * endpoints.
   */
  readonly advertiseAddress?: string | undefined;
  readonly port: number;
  /** One CIDR, or one of each family separated by a comma. The Service has the first address. */
  readonly serviceClusterIpRange: string;
  readonly logger?: Logger;
}

/** An object that the server creates at its start. */
export interface BootObject {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string;
  readonly object: Omit<KubeObject, "apiVersion">;
}

/** The field manager and user agent of the server's own writes. */
export const serverName = "kube-apiserver";

const systemNamespaces = ["default", "kube-system", "kube-public", "kube-node-lease"];

/**
 * Creates the missing objects of the boot state. Existing ones are not changed.
 *
 * @throws ApiError if an object cannot be created
 */
export async function ensureBootState(registry: RegistryContext, options: BootOptions): Promise<void> {
  await ensureAll(registry, systemNamespaces.map(namespaceNamed), options); // The other objects need their namespaces.
  await ensureAll(registry, [...serverObjects(options), ...priorityClasses], options);
}

/**
 * Logs an object whose creation has to read damaged objects, such as the Service, and creates the
 * others.
 */
async function ensureAll(
  registry: RegistryContext,
  objects: readonly BootObject[],
  { logger }: BootOptions,
): Promise<void> {
  const ensureOne = async (desired: BootObject): Promise<void> => {
    try {
      await ensureObject(registry, desired);
    } catch (error) {
      if (!(error instanceof UnreadableObjects)) throw error;
      const { resource, namespace, object } = desired;
      logger?.error("Could not create an object of the boot state", {
        resource,
        namespace,
        name: object.metadata.name,
        error: error.message,
      });
    }
  };
  await Promise.all(objects.map(ensureOne));
}

/**
 * Creates the object if it is missing or its stored bytes cannot be decoded.
 *
 * @param fieldManager owns a created object
 * @returns the existing object; undefined if it was created or its kind is disabled
 * @throws ApiError if it cannot be created
 */
export async function ensureObject(
  registry: RegistryContext,
  { group, version, resource, namespace, object }: BootObject,
  fieldManager = serverName,
): Promise<KubeObject | undefined> {
  const target = registry.catalog.findServed(group, version, resource);
  const store = target?.resource.store;
  if (target === undefined || store === undefined) return undefined; // Disabled by --runtime-config.
  const key = store.keyOf(namespace, object.metadata.name as string);
  const stored = await registry.storage.get(key);
  const existing = stored && decodeStored(stored, store);
  if (existing !== undefined) return existing;
  // A damaged object cannot be updated. The watch cache has logged it.
  if (stored !== undefined) await removeUnread(registry, target.resource, object.metadata.name as string, stored);
  const request = { target, namespace, name: "", subresource: "", user: loopbackUser, dryRun: false, warnings: [] };
  try {
    await create(registry, {
      ...request,
      fieldManager,
      userAgent: serverName,
      decode: () => withDefaults(object),
    });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status.reason !== "AlreadyExists") throw error; // Another replica created it.
  }
  return undefined;

  function withDefaults(sent: BootObject["object"]): KubeObject {
    const filled: KubeObject = {
      apiVersion: group === "" ? version : `${group}/${version}`,
      ...structuredClone(sent),
      metadata: { ...sent.metadata },
    };
    target?.resource.definition.strategy.setDefaults(filled);
    return filled;
  }
}

/** @returns undefined if the bytes cannot be decoded */
function decodeStored(stored: Stored, store: ResourceStore): KubeObject | undefined {
  try {
    return store.decode(entryFromStored(stored, store.source));
  } catch (error) {
    if (!isReadFailure(error)) throw error;
    return undefined;
  }
}

const namespaceNamed = (name: string): BootObject => ({
  group: "",
  version: "v1",
  resource: "namespaces",
  namespace: "",
  object: { kind: "Namespace", metadata: { name } },
});

/** The Service `kubernetes` and its endpoints. */
function serverObjects({ advertiseAddress, port, serviceClusterIpRange }: BootOptions): BootObject[] {
  const [addresses] = parseIpRanges(serviceClusterIpRange) ?? [];
  assert.ok(addresses !== undefined, `${serviceClusterIpRange} is not a CIDR`);
  const own = { group: "", version: "v1", namespace: "default" };
  const service = {
    kind: "Service",
    metadata: { name: "kubernetes", labels: { component: "apiserver", provider: "kubernetes" } },
    spec: {
      clusterIP: addressAt(addresses, 1),
      ports: [{ name: "https", protocol: "TCP", port: 443, targetPort: port }],
    },
  };
  return [
    { ...own, resource: "services", object: service },
    ...(advertiseAddress === undefined ? [] : endpointsAt(advertiseAddress, port)),
  ];
}

function endpointsAt(address: string, port: number): BootObject[] {
  const ports = [{ name: "https", port, protocol: "TCP" }];
  const endpoints = {
    kind: "Endpoints",
    metadata: { name: "kubernetes", labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
    subsets: [{ addresses: [{ ip: address }], ports }],
  };
  const slice = {
    kind: "EndpointSlice",
    metadata: { name: "kubernetes", labels: { "kubernetes.io/service-name": "kubernetes" } },
    addressType: isIP(address) === 6 ? "IPv6" : "IPv4",
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports,
  };
  return [
    { group: "", version: "v1", resource: "endpoints", namespace: "default", object: endpoints },
    { group: "discovery.k8s.io", version: "v1", resource: "endpointslices", namespace: "default", object: slice },
  ];
}

const priorityClass = (name: string, value: number, description: string): BootObject => ({
  group: "scheduling.k8s.io",
  version: "v1",
  resource: "priorityclasses",
  namespace: "",
  object: { kind: "PriorityClass", metadata: { name }, value, description, preemptionPolicy: "PreemptLowerPriority" },
});

const priorityClasses: readonly BootObject[] = [
  priorityClass(
    "system-cluster-critical",
    2_000_000_000,
    "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  ),
  priorityClass(
    "system-node-critical",
    2_000_001_000,
    "Used for system critical pods that must not be moved from their current node.",
  ),
];
