/** An object around a value, as deep as its place in a schema: `{ spec: { list: [value] } }`. Source: apiextensions-apiserver, surroundingobject.go */
import { setMember } from "../../lib/json/values.ts";
import { isJsonObject, type JsonObject, memberOf } from "../../lib/structural-schema/json-object.ts";

/** Names of fields, and `undefined` for the items of a list. */
export type Steps = readonly (string | undefined)[];

export function surround(value: unknown, steps: Steps): unknown {
  return steps.reduceRight<unknown>((within, step) => (step === undefined ? [within] : fieldOf(step, within)), value);
}

function fieldOf(name: string, value: unknown): JsonObject {
  const object: JsonObject = {};
  setMember(object, name, value);
  return object;
}

/** What stands there now; undefined when it is gone. */
export function within(object: unknown, steps: Steps): unknown {
  let value = object;
  for (const step of steps) {
    if (step === undefined) value = Array.isArray(value) ? value[0] : undefined;
    else value = isJsonObject(value) ? memberOf(value, step) : undefined;
  }
  return value;
}
