/** Literals of lists, maps and messages. Source: cel-go, interpreter/interpretable.go. */
import type { MapLiteral, StructLiteral } from "./ast.ts";
import type { Run, Step } from "./program.ts";
import { ArrayList, HashMap, noHash } from "./values/containers.ts";
import { CelFailure, fail } from "./values/failure.ts";
import { typeNameOf } from "./values/type-names.ts";
import { CelOptional, type CelValue, type Result } from "./values/value.ts";

/** Units of literals that are evaluated at run time. */
export const listCost = 10;
const mapCost = 30;
const structCost = 40;

/** @param optional of each element, whether it is written `?x` */
export function listStep(steps: readonly Step[], optional: readonly boolean[]): Step {
  return (run) => {
    const items: CelValue[] = [];
    let failed: CelFailure | undefined;
    for (let at = 0; at < steps.length && failed === undefined; at++) {
      const value = (steps[at] as Step)(run);
      if (value instanceof CelFailure) failed = value;
      else if (optional[at] !== true) items.push(value);
      else if (!(value instanceof CelOptional)) failed = notOptional(value);
      else if (value.value !== undefined) items.push(value.value);
    }
    run.charge(listCost);
    return failed ?? new ArrayList(items);
  };
}

/** @param keys of the entries, as `values` */
export function mapStep({ entries }: MapLiteral, keys: readonly Step[], values: readonly Step[]): Step {
  return (run) => {
    const pairs = pairsOf(run, entries, keys, values);
    run.charge(mapCost);
    return pairs instanceof CelFailure ? pairs : HashMap.of(pairs);
  };
}

/** @param create the object with these fields */
export function structStep(
  { fields }: StructLiteral,
  values: readonly Step[],
  create: (fields: Map<string, CelValue>) => Result,
): Step {
  return (run) => {
    const set = fieldsOf(run, fields, values);
    run.charge(structCost);
    return set instanceof CelFailure ? set : create(set);
  };
}

function pairsOf(
  run: Run,
  entries: MapLiteral["entries"],
  keys: readonly Step[],
  values: readonly Step[],
): [CelValue, CelValue][] | CelFailure {
  const pairs: [CelValue, CelValue][] = [];
  for (const [at, entry] of entries.entries()) {
    const key = (keys[at] as Step)(run);
    if (key instanceof CelFailure) return key;
    const value = (values[at] as Step)(run);
    if (value instanceof CelFailure) return value;
    if (key instanceof Uint8Array) return noHash(key);
    if (!entry.optional) pairs.push([key, value]);
    else if (!(value instanceof CelOptional)) return notOptional(value);
    else if (value.value !== undefined) pairs.push([key, value.value]);
  }
  return pairs;
}

function fieldsOf(
  run: Run,
  listed: StructLiteral["fields"],
  values: readonly Step[],
): Map<string, CelValue> | CelFailure {
  const fields = new Map<string, CelValue>();
  for (const [at, field] of listed.entries()) {
    const value = (values[at] as Step)(run);
    if (value instanceof CelFailure) return value;
    if (!field.optional) fields.set(field.name, value);
    else if (!(value instanceof CelOptional)) return notOptional(value);
    else if (value.value !== undefined) fields.set(field.name, value.value);
  }
  return fields;
}

function notOptional(value: CelValue): CelFailure {
  return fail(`cannot initialize optional entry '?' from non-optional value ${typeNameOf(value)}`);
}
