/** Compares what is stored with what is sent, as upstream's equality.Semantic does. */
import assert from "node:assert/strict";
import { equalValues } from "../lib/schema/equal.ts";
import type { Type } from "../lib/schema/schema.ts";
import type { AdmissionAttributes } from "./contract.ts";

/** Whether an update leaves a field alone. @param path of the field, through structs, such as `spec.taints`; itself no pointer */
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
