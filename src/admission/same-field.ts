/**
 * Compares fields of the stored and the new object as upstream's `equality.Semantic` does
 * (k8s.io/apimachinery@v0.36.0/pkg/api/equality/semantic.go).
 */
import assert from "node:assert/strict";
import { equalValues } from "../lib/schema/equal.ts";
import type { Type } from "../lib/schema/schema.ts";
import type { AdmissionAttributes } from "../registry/admission-attributes.ts";

/**
 * Whether an update leaves a field unchanged.
 *
 * @param path names of struct fields, such as `spec.taints`; the field itself is not a pointer
 */
export function sameField({ target, object, oldObject }: AdmissionAttributes, path: string): boolean {
  let type: Type | undefined = target.resource.store?.form.schema;
  let [next, old]: [unknown, unknown] = [object, oldObject];
  for (const name of path.split(".")) {
    assert.ok(type?.kind === "struct", `${path} leads through structs`);
    type = type.fields.find((field) => field.name === name)?.type;
    [next, old] = [member(next, name), member(old, name)];
  }
  assert.ok(type !== undefined, `there is a field ${path}`);
  return equalValues(next, old, type);
}

function member(object: unknown, name: string): unknown {
  return (object as Record<string, unknown> | undefined)?.[name];
}
