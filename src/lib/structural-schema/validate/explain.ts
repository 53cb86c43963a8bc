/**
 * Lists everything that is wrong with a value, with upstream's messages in upstream's order. It
 * runs only for invalid values and need not be fast. Source: k8s.io/kube-openapi
 * pkg/validation/validate
 */

import { isNumber, type JsonNumber } from "../../json/number-literal.ts";
import { quoteGo } from "../../json/quote.ts";
import { isObject } from "../../json/values.ts";
import type { Correlation } from "../correlation.ts";
import type { JsonObject } from "../json-object.ts";
import { numberProblems } from "./number-rules.ts";
import { isLimit, type ValueSchema } from "./value-schema.ts";
import { areUnique, isOneOf, lengthOf, textOfEnumeration, typeProblem } from "./value-types.ts";

type ValueErrorKind = "type" | "required" | "enum" | "tooLong" | "tooMany" | "invalid" | "general";

/** An error of a value or of a part of it. */
export interface ValueError {
  readonly kind: ValueErrorKind;
  /**
   * Relative to the validated value, `.spec.list[0].x` or `spec.list[0].x`; empty for the value
   * itself.
   */
  readonly path: string;
  readonly value: unknown;
  /** The violated limit, if any. */
  readonly limit?: number;
  readonly allowed?: readonly unknown[];
  /** Unique among the errors of one value: repeated messages are dropped. */
  readonly message: string;
}

/** The number of errors to report; a body of 3 MiB may have a million. Upstream reports all. */
const errorsMax = 10_000;
/** Characters of all messages together, because each can show a long list or pattern. The error that exceeds it is the last one. */
const charactersMax = 4 << 20;
/** From this number on, a set finds repeated messages. */
const manyErrors = 16;

/**
 * Errors, and the number of successful checks: of several schemas that all fail, the best one is
 * reported.
 */
class Findings {
  readonly errors: ValueError[] = [];
  matches = 0;
  /** The messages of the errors, once there are many. */
  #messages: Set<string> | undefined;
  #characters = 0;

  get isValid(): boolean {
    return this.errors.length === 0;
  }

  add(error: ValueError): void {
    if (this.errors.length >= errorsMax || this.#characters >= charactersMax || this.#has(error.message)) return;
    this.errors.push(error);
    this.#characters += error.message.length;
    this.#messages?.add(error.message);
  }

  #has(message: string): boolean {
    if (this.errors.length < manyErrors) return this.errors.some((error) => error.message === message);
    this.#messages ??= new Set(this.errors.map((error) => error.message));
    return this.#messages.has(message);
  }

  merge(other: Findings): void {
    for (const error of other.errors) this.add(error);
    this.matches += other.matches;
  }
}

/**
 * Lists the errors of a value, at most ten thousand.
 * @param correlation the old and new value of an update; errors in unchanged parts are dropped
 */
export function explain(
  value: unknown,
  schema: ValueSchema,
  correlation: Correlation | undefined,
): readonly ValueError[] {
  return correlation === undefined
    ? check(value, schema, "", undefined).errors
    : checkCorrelated(correlation, schema, "").errors;
}

/** Drops the errors of a value that did not change. */
function checkCorrelated(correlation: Correlation, schema: ValueSchema, path: string): Findings {
  const findings = check(correlation.value, schema, path, correlation);
  if (findings.isValid || !correlation.isUnchanged) return findings;
  const passed = new Findings();
  passed.matches = findings.matches;
  return passed;
}

function check(value: unknown, schema: ValueSchema, path: string, correlation: Correlation | undefined): Findings {
  const findings = new Findings();
  checkType(value, schema, path, findings);
  if (value === null || value === undefined) {
    checkEnum(value, schema, path, findings);
    return findings;
  }
  if (schema.types.length > 0 || schema.format !== "") findings.matches++;
  findings.merge(checkJunctors(value, schema, path));
  findings.matches++;
  if (typeof value === "string") checkText(value, schema, path, findings);
  if (isNumber(value)) checkNumber(value, schema, path, findings);
  if (Array.isArray(value)) checkList(value, schema, path, correlation, findings);
  checkEnum(value, schema, path, findings);
  findings.matches++;
  if (isObject(value)) checkObject(value, schema, path, correlation, findings);
  findings.matches++;
  return findings;
}

const at = (path: string, what: string): string => `${path} in body ${what}`;

function checkType(value: unknown, schema: ValueSchema, path: string, findings: Findings): void {
  const problem = typeProblem(value, schema);
  if (problem === undefined) {
    if (schema.types.length > 0 || schema.format !== "" || value === null || value === undefined) findings.matches++;
    return;
  }
  const message = at(path, `must be of type ${problem.expected}: ${quoteGo(problem.found)}`);
  findings.add({ kind: "type", path, value: problem.found, message });
}

function checkEnum(value: unknown, schema: ValueSchema, path: string, findings: Findings): void {
  if (schema.enum.length === 0 || isOneOf(value, schema.enum)) return;
  findings.add({
    kind: "enum",
    path,
    value,
    allowed: schema.enum,
    message: at(path, `should be one of ${textOfEnumeration(schema.enum)}`),
  });
}

function checkText(text: string, schema: ValueSchema, path: string, findings: Findings): void {
  const error = textError(text, schema, path);
  if (error !== undefined) findings.add(error);
  findings.matches++;
  const { matchesFormat } = schema;
  if (matchesFormat === undefined) return;
  if (!matchesFormat(text)) {
    findings.add({
      kind: "type",
      path,
      value: text,
      message: at(path, `must be of type ${schema.format}: ${quoteGo(text)}`),
    });
  }
  findings.matches++;
}

/** The error of the first of the three rules that the text violates. */
function textError(text: string, { source, pattern }: ValueSchema, path: string): ValueError | undefined {
  const { maxLength, minLength } = source;
  if (isLimit(maxLength) && lengthOf(text) > maxLength) {
    return {
      kind: "tooLong",
      path,
      value: text,
      limit: Number(maxLength),
      message: at(path, `should be at most ${maxLength} chars long`),
    };
  }
  if (isLimit(minLength) && lengthOf(text) < minLength) {
    return { kind: "invalid", path, value: text, message: at(path, `should be at least ${minLength} chars long`) };
  }
  if (pattern === undefined || pattern.matches?.(text) === true) return undefined;
  const why = pattern.error === undefined ? "" : `, but pattern is invalid: ${pattern.error}`;
  return { kind: "invalid", path, value: text, message: at(path, `should match '${source.pattern}${why}'`) };
}

function checkNumber(value: JsonNumber, schema: ValueSchema, path: string, findings: Findings): void {
  for (const { detail, value: shown } of numberProblems(value, schema, path)) {
    if (shown === undefined) findings.add({ kind: "general", path: "", value: "", message: detail });
    else
      findings.add({
        kind: "invalid",
        path,
        value: shown,
        message: detail.startsWith("factor ") ? detail : at(path, detail),
      });
  }
  findings.matches += 2;
}

function checkList(
  list: readonly unknown[],
  schema: ValueSchema,
  path: string,
  correlation: Correlation | undefined,
  findings: Findings,
): void {
  const { items, source } = schema;
  if (items !== undefined) {
    for (const [index, item] of list.entries()) {
      const itemPath = `${path}[${index}]`;
      const correlated = correlation?.item(index);
      findings.merge(
        correlated === undefined
          ? check(item, items, itemPath, undefined)
          : checkCorrelated(correlated, items, itemPath),
      );
    }
  }
  const { length } = list;
  if (isLimit(source.minItems) && length < source.minItems) {
    findings.add({
      kind: "invalid",
      path,
      value: length,
      message: at(path, `should have at least ${source.minItems} items`),
    });
  }
  if (isLimit(source.maxItems) && length > source.maxItems)
    findings.add(tooMany(path, length, Number(source.maxItems), "items"));
  if (source.uniqueItems === true && !areUnique(list)) {
    findings.add({ kind: "invalid", path, value: "", message: at(path, "shouldn't contain duplicates") });
  }
  findings.matches += 2;
}

function tooMany(path: string, count: number, limit: number, what: string): ValueError {
  return { kind: "tooMany", path, value: count, limit, message: at(path, `should have at most ${limit} ${what}`) };
}

function checkObject(
  object: JsonObject,
  schema: ValueSchema,
  path: string,
  correlation: Correlation | undefined,
  findings: Findings,
): void {
  const { source, properties, values } = schema;
  const names = Object.keys(object).sort();
  if (isLimit(source.minProperties) && names.length < source.minProperties) {
    findings.add({
      kind: "invalid",
      path,
      value: names.length,
      message: at(path, `should have at least ${source.minProperties} properties`),
    });
  }
  if (isLimit(source.maxProperties) && names.length > source.maxProperties) {
    findings.add(tooMany(path, names.length, Number(source.maxProperties), "properties"));
  }
  const field = (name: string, within: ValueSchema, fieldPath: string): void => {
    const ratchets = !(path === "" && (name === "kind" || name === "apiVersion"));
    const correlated = ratchets ? correlation?.field(name) : undefined;
    findings.merge(
      correlated === undefined
        ? check(object[name], within, fieldPath, undefined)
        : checkCorrelated(correlated, within, fieldPath),
    );
  };
  for (const name of names) {
    if (properties.has(name)) continue;
    if (values !== undefined) field(name, values, `${path}.${name}`);
    else if (!schema.allowsOtherProperties) {
      findings.add({ kind: "invalid", path, value: name, message: `${path}.${name} in body is a forbidden property` });
    }
  }
  for (const [name, property] of properties) {
    if (Object.hasOwn(object, name)) field(name, property, path === "" ? name : `${path}.${name}`);
  }
  for (const name of schema.required) {
    if (Object.hasOwn(object, name)) continue;
    findings.add({
      kind: "required",
      path: `${path}.${name}`,
      value: undefined,
      message: `${path}.${name} in body is required`,
    });
  }
  findings.matches++;
}

function general(path: string, what: string): ValueError {
  return { kind: "general", path: "", value: "", message: `${quoteGo(path)} ${what}` };
}

/** Checks `anyOf`, `oneOf`, `allOf` and `not`. Values within them have no correlation. */
function checkJunctors(value: unknown, schema: ValueSchema, path: string): Findings {
  const findings = new Findings();
  if (schema.anyOf.length > 0) checkAnyOf(value, schema.anyOf, path, findings);
  if (schema.oneOf.length > 0) checkOneOf(value, schema.oneOf, path, findings);
  if (schema.allOf.length > 0) checkAllOf(value, schema.allOf, path, findings);
  if (schema.not !== undefined && check(value, schema.not, path, undefined).isValid)
    findings.add(general(path, "must not validate the schema (not)"));
  findings.matches++;
  return findings;
}

function checkAnyOf(value: unknown, schemas: readonly ValueSchema[], path: string, findings: Findings): void {
  let best: Findings | undefined;
  for (const schema of schemas) {
    const found = check(value, schema, path, undefined);
    if (found.isValid) {
      findings.merge(found);
      return;
    }
    if (best === undefined || found.matches > best.matches) best = found;
  }
  findings.add(general(path, "must validate at least one schema (anyOf)"));
  findings.merge(best as Findings);
}

function checkOneOf(value: unknown, schemas: readonly ValueSchema[], path: string, findings: Findings): void {
  const results = schemas.map((schema) => check(value, schema, path, undefined));
  const valid = results.filter(({ isValid }) => isValid);
  if (valid.length === 1) {
    findings.merge(valid[0] as Findings);
    return;
  }
  const found = valid.length === 0 ? "Found none valid" : `Found ${valid.length} valid alternatives`;
  findings.add(general(path, `must validate one and only one schema (oneOf). ${found}`));
  if (valid.length === 0)
    findings.merge(results.reduce((best, result) => (result.matches > best.matches ? result : best)));
}

function checkAllOf(value: unknown, schemas: readonly ValueSchema[], path: string, findings: Findings): void {
  let valid = 0;
  for (const schema of schemas) {
    const found = check(value, schema, path, undefined);
    if (found.isValid) valid++;
    findings.merge(found);
  }
  if (valid < schemas.length)
    findings.add(general(path, `must validate all the schemas (allOf)${valid === 0 ? ". None validated" : ""}`));
}
