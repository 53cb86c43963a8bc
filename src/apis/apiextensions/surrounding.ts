/**
 * Builds the minimal object that contains a value at its place in a schema: `{ spec: { list:
 * [value] } }`.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/defaulting/surroundingobject.go
 */
import { isObject, setMember } from "../../lib/json/values.ts";
import { type JsonObject, memberOf } from "../../lib/structural-schema/json-object.ts";

/** The path to a value: names of fields, and `undefined` for the items of a list. */
export type Steps = readonly (string | undefined)[];

/** @param steps the path to the value */
export function surround(value: unknown, steps: Steps): unknown {
  return steps.reduceRight<unknown>((within, step) => (step === undefined ? [within] : fieldOf(step, within)), value);
}

function fieldOf(name: string, value: unknown): JsonObject {
  const object: JsonObject = {};
  setMember(object, name, value);
  return object;
}

/** @returns the value at the path; undefined if none exists */
export function within(object: unknown, steps: Steps): unknown {
  let value = object;
  for (const step of steps) {
    if (step === undefined) value = Array.isArray(value) ? value[0] : undefined;
    else value = isObject(value) ? memberOf(value, step) : undefined;
  }
  return value;
}
