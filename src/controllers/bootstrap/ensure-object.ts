/** Creates an object of the server where it is missing or damaged. */

import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { type AddressOwner, refersTo } from "../../apimachinery/service-addresses.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import { removeUnread } from "../../registry/commit.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { deleteIpAddress } from "../../registry/ip-addresses.ts";
import { serverName, serverWrite } from "../../registry/server-write.ts";
import type { Stored } from "../../storage/contract.ts";
import { EncryptedValue } from "../../storage/encrypted-value.ts";
import { entryFromStored } from "../../watch-cache/entry.ts";
import { isReadFailure } from "../../watch-cache/unreadable.ts";
import { create } from "../audited-writes.ts";

/** An object that the server creates at its start. */
export interface BootObject {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string;
  readonly object: Omit<KubeObject, "apiVersion">;
  /** Whether it is also created when `--runtime-config` disables its kind. */
  readonly evenIfDisabled?: boolean;
  /** What a controller applies to it after its creation: values of fields of the object that are owned as a whole. Only for `seed`. */
  readonly applied?: { readonly manager: string; readonly fields: Readonly<Record<string, unknown>> };
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
