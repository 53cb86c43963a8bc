/** Writes of IPAddresses by the server itself. */
import type { KubeObject } from "../apimachinery/object.ts";
import { type AddressOwner, ipAddressOf } from "../apimachinery/service-addresses.ts";
import type { RegistryContext, WriteRequest } from "./contract.ts";
import { type CreateRequest, create } from "./create.ts";
import { deleteOne } from "./delete.ts";
import { serverWrite } from "./server-write.ts";

/**
 * The creation of the IPAddress of a Service.
 * @param address in canonical form
 */
export function ipAddressCreation(registry: RegistryContext, address: string, owner: AddressOwner): CreateRequest {
  return { ...requestOf(registry, ""), decode: (): KubeObject => ipAddressOf(address, owner) };
}

/**
 * Creates the IPAddress of a Service.
 * @throws ApiError 403 (admission), 409
 */
export async function createIpAddress(registry: RegistryContext, address: string, owner: AddressOwner): Promise<void> {
  await create(registry, ipAddressCreation(registry, address, owner));
}

/**
 * Deletes an IPAddress that was read before. One that was created again since then stays.
 * @throws ApiError 403 (admission), 404, 409 when it is another one now
 */
export async function deleteIpAddress(registry: RegistryContext, { metadata }: KubeObject): Promise<void> {
  const { name = "", uid } = metadata;
  const preconditions = uid === undefined ? {} : { uid };
  await deleteOne(registry, { ...requestOf(registry, name), options: { dryRun: false, preconditions } });
}

function requestOf({ catalog }: RegistryContext, name: string): WriteRequest {
  const target = catalog.find("networking.k8s.io", "v1", "ipaddresses");
  if (target === undefined) throw new Error("the catalog has no IPAddresses");
  return serverWrite({ target, name });
}
