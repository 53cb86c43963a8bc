/** Semantic equality of parts of pods. */

import { builtinSchema } from "../../../catalog/builtin-schemas.ts";
import { equalValues } from "../../../lib/schema/equal.ts";

/** @param type name of the part in core/v1, such as `PodSpec` */
export function samePart(type: string, a: unknown, b: unknown): boolean {
  return equalValues(a, b, builtinSchema(`io.k8s.api.core.v1.${type}`));
}
