/** Writes the Endpoints and the EndpointSlice `kubernetes`. */

import { ApiError } from "../../../apimachinery/errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Resolved } from "../../../catalog/contract.ts";
import { deepEqual } from "../../../lib/json/values.ts";
import type { RegistryContext } from "../../../registry/contract.ts";
import { serverWrite } from "../../../registry/server-write.ts";
import { create, deleteOne, update } from "../../audited-writes.ts";
import { readOrRemove } from "../ensure-object.ts";
import { newEndpoints, sliceOf } from "./endpoints.ts";

const namespace = "default";
const name = "kubernetes";

/**
 * Changes the Endpoints, and copies them to the EndpointSlice.
 *
 * @param creates whether missing Endpoints are created
 * @param change changes a copy of the current object; called again when another server wins
 * @throws ApiError
 */
export async function writeEndpoints(
  registry: RegistryContext,
  creates: boolean,
  change: (endpoints: KubeObject) => void,
): Promise<void> {
  const target = registry.catalog.findServed("", "v1", "endpoints");
  if (target === undefined) return; // Disabled by --runtime-config.
  const current = await readOrRemove(registry, target, namespace, name);
  if (current === undefined && !creates) return;
  const endpoints = structuredClone(current ?? newEndpoints());
  change(endpoints);
  const write = async (): Promise<void> => {
    if (current === undefined) await createUnlessExists(registry, target, endpoints);
    else if (!deepEqual(current, endpoints)) await updateCurrent(registry, target, change);
  };
  await Promise.all([write(), writeSlice(registry, endpoints)]);
}

async function updateCurrent(
  registry: RegistryContext,
  target: Resolved,
  change: (object: KubeObject) => void,
): Promise<void> {
  await update(registry, {
    ...serverWrite({ target, namespace, name }),
    next(current) {
      const object = current?.() ?? newEndpoints();
      change(object);
      return object;
    },
  });
}

async function writeSlice(registry: RegistryContext, endpoints: KubeObject): Promise<void> {
  const target = registry.catalog.findServed("discovery.k8s.io", "v1", "endpointslices");
  if (target === undefined) return;
  const desired = sliceOf(endpoints);
  const current = await readOrRemove(registry, target, namespace, name);
  if (current !== undefined && current.addressType !== desired.addressType) {
    await deleteOne(registry, { ...serverWrite({ target, namespace, name }), options: { dryRun: false } });
  } else if (current !== undefined) {
    if (isSame(current, desired)) return;
    return updateCurrent(registry, target, (object) => replace(object, desired));
  }
  await createUnlessExists(registry, target, desired);
}

function isSame(current: KubeObject, desired: KubeObject): boolean {
  const parts = ({ metadata, endpoints = [], ports = [] }: KubeObject): unknown => [metadata.labels, endpoints, ports];
  return deepEqual(parts(current), parts(desired));
}

/** Removes what the desired slice does not have. */
function replace(object: KubeObject, { metadata, ...desired }: KubeObject): void {
  for (const field of ["endpoints", "ports"]) delete object[field];
  Object.assign(object, desired);
  object.metadata.labels = { ...metadata.labels };
  delete object.metadata.annotations;
}

async function createUnlessExists(registry: RegistryContext, target: Resolved, object: KubeObject): Promise<void> {
  const decode = (): KubeObject => {
    const copy = structuredClone(object);
    target.resource.definition.strategy.setDefaults(copy);
    return copy;
  };
  try {
    await create(registry, { ...serverWrite({ target, namespace, name: "" }), decode });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status.reason !== "AlreadyExists") throw error; // Another server won.
  }
}
