/** The last thing that is done to an object before it is encoded. Source: apiextensions-apiserver's crdConversionRESTOptionsGetter */
import type { KubeObject } from "../apimachinery/object.ts";
import type { Resolved } from "../catalog/contract.ts";
import { storeOf } from "./resource-names.ts";

/**
 * What is stored of an object that was written. Upstream's store reads back what it has written: what admission has put there and the schema does
 * not know has gone then, and there are defaults where the kind's strategy took something away.
 * @param object valid; the caller does not use it any more
 * @returns a promise only where somebody else converts it @throws ApiError 500 when he cannot
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
