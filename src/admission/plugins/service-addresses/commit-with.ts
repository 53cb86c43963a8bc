/** Adds what one write takes and gives back to its commit. */
import { ApiError, invalid } from "../../../apimachinery/errors.ts";
import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { AddressOwner } from "../../../apimachinery/service-addresses.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { RegistryContext } from "../../../registry/contract.ts";
import { ipAddressCreation } from "../../../registry/ip-addresses.ts";
import { prepareCreation } from "../../../registry/prepare-creation.ts";
import type { Allocation, Source } from "./allocate.ts";
import { releaseValues, valuesOf, without } from "./release-values.ts";

/**
 * Adds the IPAddresses, whose creation runs admission, and the ports. Ports that an update gives back
 * are released with it; addresses are released when it is stored, because their deletion also runs
 * admission.
 *
 * @param attributes of a valid service, with its name
 * @throws ApiError 422 when the admission of an IPAddress rejects it
 */
export async function commitWith(
  registry: RegistryContext,
  attributes: AdmissionAttributes,
  allocation: Allocation,
  { ports }: Source,
): Promise<void> {
  const { object, oldObject, joint, done } = attributes;
  const released = without(valuesOf(oldObject?.spec), valuesOf(object?.spec));
  for (const address of allocation.addresses) joint.push(await prepareAddress(registry, attributes, address));
  if (allocation.ports.length > 0 || released.ports.length > 0)
    joint.push({ value: ports.change({ taken: allocation.ports, released: released.ports }) });
  if (released.addresses.length === 0) return;
  const service = { ...ownerOf(attributes), revision: await registry.storage.current() };
  done.push(() => releaseValues(registry, { ...released, ports: [] }, service, ports));
}

async function prepareAddress(
  registry: RegistryContext,
  attributes: AdmissionAttributes,
  { address, requested }: Allocation["addresses"][number],
): ReturnType<typeof prepareCreation> {
  const { spec } = attributes.object as KubeObject;
  const owner = ownerOf(attributes);
  try {
    return await prepareCreation(registry, ipAddressCreation(registry, address, owner), attributes);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const errors = new FieldErrors();
    const which = requested === undefined ? "IP" : `IP ${requested}`;
    errors.invalid("spec.clusterIPs", spec.clusterIPs, `failed to allocate ${which}: ${error.message}`);
    throw invalid("", "Service", owner.name, errors.causes);
  }
}

function ownerOf({ namespace, object }: AdmissionAttributes): AddressOwner {
  return { namespace, name: object?.metadata.name as string };
}
