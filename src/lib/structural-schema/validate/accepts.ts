/**
 * Decides quickly whether a value is valid, which is all that most writes need. Closures are
 * created once per schema, when values first use a part of it. They agree with `explain`, which
 * lists errors.
 */

import { isNumber } from "../../json/number-literal.ts";
import { isObject } from "../../json/values.ts";
import type { JsonObject } from "../json-object.ts";
import { numberProblems } from "./number-rules.ts";
import { isLimit, type ValueSchema } from "./value-schema.ts";
import { areUnique, isOneOf, lengthOf, typeProblem } from "./value-types.ts";

type Check = (value: unknown) => boolean;

/** Compiles a schema into a function that returns whether a value is valid. */
export function compileAccepts(schema: ValueSchema): Check {
  const checkType = compileType(schema);
  const isAllowed: Check = schema.enum.length === 0 ? always : (value) => isOneOf(value, schema.enum);
  const checks = [junctors(schema), texts(schema), numbers(schema), lists(schema), objects(schema)].filter(
    (check) => check !== undefined,
  );
  if (checks.length === 0) return isAllowed === always ? checkType : (value) => checkType(value) && isAllowed(value);
  return (value) => {
    if (!checkType(value) || !isAllowed(value)) return false;
    if (value === null || value === undefined) return true;
    for (const check of checks) if (!check(value)) return false;
    return true;
  };
}

const always: Check = () => true;

function compileType(schema: ValueSchema): Check {
  const exact: Check = (value) => typeProblem(value, schema) === undefined;
  if (schema.types.length !== 1) return exact;
  switch (schema.types[0]) {
    case "string":
      return (value) => typeof value === "string" || exact(value);
    case "object":
      return schema.format === "" ? (value) => isObject(value) || exact(value) : exact;
    case "integer":
      return (value) => (typeof value === "number" && Number.isSafeInteger(value)) || exact(value);
    case "boolean":
      return (value) => typeof value === "boolean" || exact(value);
    default:
      return exact;
  }
}

/** Compiles a schema at first use, because most parts of a large schema are never used. */
function lazily(schema: ValueSchema): Check {
  let check: Check | undefined;
  return (value) => {
    check ??= compileAccepts(schema);
    return check(value);
  };
}

function junctors({ allOf, anyOf, oneOf, not }: ValueSchema): Check | undefined {
  if (allOf.length === 0 && anyOf.length === 0 && oneOf.length === 0 && not === undefined) return undefined;
  const all = allOf.map(lazily);
  const any = anyOf.map(lazily);
  const one = oneOf.map(lazily);
  const excluded = not === undefined ? undefined : lazily(not);
  return (value) =>
    all.every((check) => check(value)) &&
    (any.length === 0 || any.some((check) => check(value))) &&
    (one.length === 0 || one.filter((check) => check(value)).length === 1) &&
    excluded?.(value) !== true;
}

function texts({ source, pattern, matchesFormat }: ValueSchema): Check | undefined {
  const { maxLength, minLength } = source;
  const hasLimits = isLimit(maxLength) || isLimit(minLength);
  if (!hasLimits && pattern === undefined && matchesFormat === undefined) return undefined;
  return (value) => {
    if (typeof value !== "string") return true;
    if (hasLimits) {
      const length = lengthOf(value);
      if ((isLimit(maxLength) && length > maxLength) || (isLimit(minLength) && length < minLength)) return false;
    }
    return (
      (pattern === undefined || pattern.matches?.(value) === true) &&
      (matchesFormat === undefined || matchesFormat(value))
    );
  };
}

function numbers(schema: ValueSchema): Check | undefined {
  const { multipleOf, minimum, maximum } = schema.source;
  const isPlain = !isLimit(multipleOf) && !isLimit(minimum) && !isLimit(maximum) && schema.format === "";
  if (isPlain && schema.types.length === 1 && schema.types[0] !== "integer") return undefined;
  return (value) => {
    if (!isNumber(value)) return true;
    if (isPlain && typeof value === "number" && Number.isSafeInteger(value)) return true;
    return numberProblems(value, schema, "").length === 0;
  };
}

function lists({ items, source }: ValueSchema): Check | undefined {
  const { minItems, maxItems, uniqueItems } = source;
  const check = items === undefined ? undefined : lazily(items);
  if (check === undefined && !isLimit(minItems) && !isLimit(maxItems) && uniqueItems !== true) return undefined;
  return (value) => {
    if (!Array.isArray(value)) return true;
    if ((isLimit(minItems) && value.length < minItems) || (isLimit(maxItems) && value.length > maxItems)) return false;
    if (check !== undefined) for (const item of value) if (!check(item)) return false;
    return uniqueItems !== true || areUnique(value);
  };
}

function objects(schema: ValueSchema): Check | undefined {
  const { required, source } = schema;
  const { minProperties, maxProperties } = source;
  const hasLimits = isLimit(minProperties) || isLimit(maxProperties);
  const checkFields = fields(schema);
  if (checkFields === undefined && required.length === 0 && !hasLimits) return undefined;
  return (value) => {
    if (!isObject(value)) return true;
    if (hasLimits) {
      const count = Object.keys(value).length;
      if ((isLimit(minProperties) && count < minProperties) || (isLimit(maxProperties) && count > maxProperties))
        return false;
    }
    for (const name of required) if (!Object.hasOwn(value, name)) return false;
    return checkFields === undefined || checkFields(value);
  };
}

function fields(schema: ValueSchema): ((object: JsonObject) => boolean) | undefined {
  const { values, allowsOtherProperties } = schema;
  const declared = new Map([...schema.properties].map(([name, property]) => [name, lazily(property)]));
  const other = values === undefined ? undefined : lazily(values);
  if (declared.size === 0 && other === undefined && allowsOtherProperties) return undefined;
  return (object) => {
    for (const name of Object.keys(object)) {
      const check = declared.get(name) ?? other;
      if (check === undefined ? !allowsOtherProperties : !check(object[name])) return false;
    }
    return true;
  };
}
