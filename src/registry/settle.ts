/**
 * The last change of an object before it is encoded. Source: crdConversionRESTOptionsGetter of
 * k8s.io/apiextensions-apiserver@v0.36.0.
 */
import type { KubeObject } from "../apimachinery/object.ts";
import type { Resolved } from "../catalog/contract.ts";
import { storeOf } from "./resource-names.ts";

/**
 * The form of a written object that is stored. Upstream's store decodes again what it has encoded,
 * which prunes fields that admission added and the schema does not have, and sets defaults that the
 * kind's strategy removed.
 * @param object valid; must not be used afterwards
 * @returns a promise only for resources with a conversion webhook
 * @throws ApiError 500 when the webhook fails
 */
export function settle(
  { resource, version, converted }: Resolved,
  object: KubeObject,
): KubeObject | Promise<KubeObject> {
  if (converted !== undefined) return converted.stored(object);
  const losses = version.conversion?.losses;
  if (losses !== undefined) return losses.stored(object);
  storeOf(resource).form.schema.custom?.settle(object);
  return object;
}
