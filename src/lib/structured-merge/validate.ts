/**
 * Checks whether an applied intent fits its schema, with upstream's messages.
 * Source: structured-merge-diff's typed package.
 */

import { formatGoValue } from "../json/go-value.ts";
import { isNumber } from "../json/number-literal.ts";
import { quoteGo } from "../json/quote.ts";
import { formatPath, indexElement } from "./fields-v1.ts";
import { itemElement, KnownElements } from "./items.ts";
import type { Type } from "./schema.ts";
import {
  depthMax,
  ForeignValue,
  fieldType,
  hasNoFields,
  isDeclared,
  isMap,
  type PlainMap,
  TypedError,
} from "./typed.ts";

/** Problems that one error reports; further ones are dropped. */
const problemsMax = 100;

/**
 * Checks an applied intent against its schema.
 *
 * @throws TypedError listing undeclared fields, values of the wrong type, duplicate list items and
 *   list items without keys
 */
export function validateIntent(intent: PlainMap, schema: Type): void {
  validateKnown(intent, schema, new KnownElements());
}

/** As {@link validateIntent}. @param known receives the path elements of lists @throws TypedError */
export function validateKnown(intent: PlainMap, schema: Type, known: KnownElements): void {
  const problems: string[] = [];
  check(intent, schema, [], { problems, known });
  if (problems.length === 0) return;
  throw new TypedError(
    problems.length === 1 ? problems[0] : ["errors:", ...problems.map((problem) => `  ${problem}`)].join("\n"),
  );
}

/**
 * Whether an object that was not applied has the types of its schema; duplicate items are allowed.
 */
export function hasTypes(value: PlainMap, schema: Type): boolean {
  const problems: string[] = [];
  check(value, schema, [], { problems, known: new KnownElements() });
  return problems.every((problem) => problem.includes(duplicate));
}

const duplicate = ": duplicate entries for key ";

interface Findings {
  readonly problems: string[];
  readonly known: KnownElements;
}

function check(value: unknown, type: Type, path: string[], findings: Findings): void {
  const { problems } = findings;
  if (value === null || problems.length >= problemsMax) return;
  if (path.length > depthMax) throw new TypedError("exceeded max depth");
  switch (type.kind) {
    case "struct":
    case "map":
      return checkMap(value, type, path, findings);
    case "list":
      return checkList(value, type, path, findings);
    case "any":
      if (type.definition === "untyped scalar") return checkScalar(value, type.kind, path, problems);
      return value instanceof ForeignValue ? reportNoMap(value, path, problems) : undefined;
    default:
      return checkScalar(value, type.kind, path, problems);
  }
}

function checkMap(value: unknown, type: Type & { kind: "struct" | "map" }, path: string[], findings: Findings): void {
  const { problems } = findings;
  if (!isMap(value) || value instanceof ForeignValue) return reportNoMap(value, path, problems);
  for (const name in value) {
    const isAllowed = type.kind === "map" || type.preserveUnknown || hasNoFields(type) || isDeclared(type, name);
    path.push(`f:${name}`);
    if (isAllowed) check(value[name], fieldType(type, name), path, findings);
    else report(problems, path, "field not declared in schema");
    path.pop();
    if (!isAllowed) return; // Upstream stops at the first one of a map.
  }
}

function checkList(value: unknown, type: Type & { kind: "list" }, path: string[], findings: Findings): void {
  const { problems, known } = findings;
  if (!Array.isArray(value)) return report(problems, path, `expected list, got &{${plain(value)}}`);
  if (type.listType === "atomic") {
    for (const [index, item] of value.entries()) checkBelow(indexElement(index), item);
    return;
  }
  const seen = new Set<string>();
  const elements: string[] = [];
  for (const [index, item] of value.entries()) {
    const element = elementOf(item, index);
    if (element === undefined) return;
    if (seen.has(element)) add(problems, `${formatPath(path)}${duplicate}${formatPath([element])}`);
    seen.add(element);
    elements.push(element);
    checkBelow(element, item);
  }
  known.set(type, value, elements);

  function checkBelow(element: string, item: unknown): void {
    path.push(element);
    check(item, (type as Type & { kind: "list" }).items, path, findings);
    path.pop();
  }

  /**
   * Returns undefined for an item that has no path element; the rest of the list is not checked.
   */
  function elementOf(item: unknown, index: number): string | undefined {
    const problem = itemProblem(type as Type & { kind: "list" }, item);
    if (problem !== undefined) {
      report(problems, path, `element ${index}: ${problem}`);
      return undefined;
    }
    try {
      return itemElement(type as Type & { kind: "list" }, item, index);
    } catch (error) {
      if (!(error instanceof TypedError)) throw error;
      report(problems, path, error.message);
      return undefined;
    }
  }
}

function itemProblem({ listType }: Type & { kind: "list" }, item: unknown): string | undefined {
  if (listType === "map") {
    if (item === null) return "associative list with keys may not have a null element";
    const isObject = isMap(item) && !(item instanceof ForeignValue);
    return isObject ? undefined : "associative list with keys may not have non-map elements";
  }
  if (isMap(item) && !(item instanceof ForeignValue))
    return "associative list without keys has an element that's a map type";
  if (Array.isArray(item)) return "not supported: associative list with lists as elements";
  return item === null ? "associative list without keys has an element that's an explicit null" : undefined;
}

function checkScalar(value: unknown, kind: string, path: readonly string[], problems: string[]): void {
  switch (kind) {
    case "string":
    case "bytes":
    case "duration":
      if (typeof value !== "string")
        report(problems, path, `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
      return;
    case "bool":
      if (typeof value !== "boolean") report(problems, path, `expected boolean, got &{${plain(value)}}`);
      return;
    case "int32":
    case "int64":
    case "double":
      if (!isNumber(value)) report(problems, path, `expected numeric (int or float), got ${goType(value)}`);
      return;
    case "intOrString":
      if (value instanceof ForeignValue) reportNoMap(value, path, problems);
      return; // Upstream's OpenAPI allows any value in JSON here.
    default:
      // Quantities, times and the like may be any scalar; the decoder checks the rest.
      if (typeof value === "object") report(problems, path, `expected any scalar, got &{${plain(value)}}`);
  }
}

function reportNoMap(value: unknown, path: readonly string[], problems: string[]): void {
  report(problems, path, `expected map, got &{${plain(value)}}`);
}

function report(problems: string[], path: readonly string[], problem: string): void {
  add(problems, path.length === 0 ? problem : `${formatPath(path)}: ${problem}`);
}

function add(problems: string[], problem: string): void {
  if (problems.length < problemsMax) problems.push(problem);
}

function goType(value: unknown): string {
  if (value instanceof ForeignValue) return value.goType;
  if (Array.isArray(value)) return "[]interface {}";
  if (isMap(value)) return "map[string]interface {}";
  return typeof value === "boolean" ? "bool" : "string";
}

/** Go's `%#v` of a decoded value. */
function goSyntax(value: unknown): string {
  if (value === null) return "interface {}(nil)";
  if (value instanceof ForeignValue) return value.syntax;
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (isMap(value))
    return `map[string]interface {}{${sortedEntries(value, (name, part) => `${quoteGo(name)}:${goSyntax(part)}`).join(", ")}}`;
  return typeof value === "string" ? quoteGo(value) : formatGoValue(value);
}

/** Go's `%v` of a decoded value. */
function plain(value: unknown): string {
  if (value instanceof ForeignValue) return value.plain;
  if (Array.isArray(value)) return `[${value.map(plain).join(" ")}]`;
  if (isMap(value)) return `map[${sortedEntries(value, (name, part) => `${name}:${plain(part)}`).join(" ")}]`;
  return formatGoValue(value);
}

function sortedEntries(value: PlainMap, format: (name: string, part: unknown) => string): string[] {
  return Object.keys(value)
    .sort()
    .map((name) => format(name, value[name]));
}
