/**
 * The objects that the first start creates in every cluster: the system namespaces, the Service
 * `kubernetes` and the system priority classes.
 */
import { ApiError } from "../../apimachinery/errors.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { type AddressOwner, refersTo } from "../../apimachinery/service-addresses.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import { removeUnread } from "../../registry/commit.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { create } from "../../registry/create.ts";
import { deleteIpAddress } from "../../registry/ip-addresses.ts";
import { serverName, serverWrite } from "../../registry/server-write.ts";
import type { Stored } from "../../storage/contract.ts";
import { EncryptedValue } from "../../watch-cache/encrypted-value.ts";
import { entryFromStored } from "../../watch-cache/entry.ts";
import { isReadFailure, UnreadableObjects } from "../../watch-cache/unreadable.ts";
import { kubernetesService, type ServiceOptions } from "./kubernetes-service/service.ts";
import { seed } from "./seed.ts";

interface BootOptions extends ServiceOptions {
  readonly logger?: Logger;
}

/** An object that the server creates at its start. */
export interface BootObject {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string;
  readonly object: Omit<KubeObject, "apiVersion">;
  /** Whether it is also created when `--runtime-config` disables its kind. */
  readonly evenIfDisabled?: boolean;
}

/**
 * Creates the missing objects of the boot state. Existing ones are not changed.
 *
 * @returns whether the store had no namespace, as a new one
 * @throws ApiError if an object cannot be created
 */
export async function ensureBootState(registry: RegistryContext, options: BootOptions): Promise<boolean> {
  const isNew = (await registry.storage.count("/registry/namespaces/")) === 0;
  if (!isNew || !(await seed(registry, systemObjects))) await ensureAll(registry, systemObjects, options);
  await ensureAll(registry, [kubernetesService(options)], options); // Its address is allocated, and it needs its namespace.
  return isNew;
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
      // The addresses of the command line may not be those of the store: the Service has none then.
      const isRejected = error instanceof ApiError && error.status.reason === "Invalid";
      if (!isRejected && !(error instanceof UnreadableObjects)) throw error;
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
  { group, version, resource, namespace, object, evenIfDisabled = false }: BootObject,
  fieldManager = serverName,
): Promise<KubeObject | undefined> {
  const { catalog } = registry;
  const target = evenIfDisabled ? catalog.find(group, version, resource) : catalog.findServed(group, version, resource);
  const store = target?.resource.store;
  if (target === undefined || store === undefined) return undefined; // Disabled by --runtime-config.
  const existing = await readOrRemove(registry, target, namespace, object.metadata.name as string);
  if (existing !== undefined) return existing;
  if (resource === "services")
    await freeAddress(registry, object.spec?.clusterIP, { namespace, name: object.metadata.name as string });
  try {
    await create(registry, {
      ...serverWrite({ target, namespace, name: "", fieldManager }),
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

/**
 * Reads an object of the server. Removes it if its bytes cannot be decoded, because a damaged object
 * cannot be updated; the watch cache has logged it.
 *
 * @returns undefined if there is none any more
 * @throws ApiError
 * @throws EncryptedValue
 */
export async function readOrRemove(
  registry: RegistryContext,
  { resource }: Resolved,
  namespace: string,
  name: string,
): Promise<KubeObject | undefined> {
  const { store } = resource;
  const stored = store && (await registry.storage.get(store.keyOf(namespace, name)));
  if (store === undefined || stored === undefined) return undefined;
  const existing = decodeStored(stored, store);
  if (existing === undefined) await removeUnread(registry, resource, name, stored);
  return existing;
}

/** The IPAddress of a Service that was damaged, or one that is damaged, would prevent its creation. */
async function freeAddress(registry: RegistryContext, address: string, owner: AddressOwner): Promise<void> {
  const resource = registry.catalog.find("networking.k8s.io", "v1", "ipaddresses")?.resource;
  const stored = resource?.store && (await registry.storage.get(resource.store.keyOf("", address)));
  if (resource?.store === undefined || stored === undefined) return;
  const ipAddress = decodeStored(stored, resource.store);
  if (ipAddress === undefined) await removeUnread(registry, resource, address, stored);
  else if (refersTo(ipAddress, owner)) await deleteIpAddress(registry, ipAddress);
}

/**
 * @returns undefined if the bytes cannot be decoded
 * @throws EncryptedValue: the object of another server is not lost, and must not be replaced
 */
function decodeStored(stored: Stored, store: ResourceStore): KubeObject | undefined {
  try {
    return store.decode(entryFromStored(stored, store.source));
  } catch (error) {
    if (!isReadFailure(error) || error instanceof EncryptedValue) throw error;
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

/** The namespaces that every store has. */
export const systemNamespaces: readonly string[] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** The objects of the boot state that do not depend on options. */
export const systemObjects: readonly BootObject[] = [...systemNamespaces.map(namespaceNamed), ...priorityClasses];
