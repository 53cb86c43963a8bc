/**
 * Compiles the validation markers of a schema to checks, once for each type. Rules run and stop
 * each other in the order of upstream's generated code. Source: KEP-5073;
 * k8s.io/code-generator@v0.36.0/cmd/validation-gen/.
 */
import { equalFields } from "../../../lib/schema/equal.ts";
import type { Field, Struct, Type } from "../../../lib/schema/schema.ts";
import { type Check, inOrder, isUnset, member, runRules, type Target } from "./contract.ts";
import { type FieldMarkers, readMarkers } from "./field-markers.ts";
import { eachItem, eachMapValue, keyOf, uniqueCheck } from "./list-checks.ts";
import { parseMarker } from "./marker.ts";
import { ruledStructs } from "./ruled-structs.ts";
import { noStructRules, type StructRules, structChecks } from "./struct-rules.ts";

/** The declarative rules of one kind. */
export interface DeclaredRules {
  readonly check: Check;
  /** The subresources that the rules apply to; the empty text is the object itself. */
  readonly subresources: ReadonlySet<string>;
  /** Whether a rule is not alpha. Alpha rules never replace hand-written validation. */
  readonly enforceable: boolean;
}

/**
 * Compiles the rules of a kind.
 *
 * @returns undefined for a kind without rules
 * @throws Error for malformed or unknown markers, which are a bug in the table of types
 */
export function compileRules(schema: Struct): DeclaredRules | undefined {
  const { ruled, enforceable } = ruledStructs(schema);
  if (!ruled.has(schema.definition)) return undefined;
  const check = structCheck(schema, { ruled, checks: new Map() });
  return { check, subresources: subresourcesOf(schema), enforceable };
}

function subresourcesOf({ markers = [] }: Struct): Set<string> {
  const paths = markers
    .map(parseMarker)
    .filter(({ name }) => name === "supportsSubresource" || name === "isSubresource");
  const own = paths.some(({ name }) => name === "isSubresource") ? [] : [""];
  return new Set([...own, ...paths.map(({ value = "" }) => value.replace(/^\//, ""))]);
}

interface Compilation {
  /** Definitions of the structs that have rules or contain a struct with rules. */
  readonly ruled: ReadonlySet<string>;
  /** The entry of a struct exists before its check, because structs can contain themselves. */
  readonly checks: Map<Struct, { check: Check | undefined }>;
}

function structCheck(struct: Struct, compilation: Compilation): Check {
  const existing = compilation.checks.get(struct);
  if (existing !== undefined) return (...args) => existing.check?.(...args) ?? false;
  const entry: { check: Check | undefined } = { check: undefined };
  compilation.checks.set(struct, entry);
  const byEmbedding = new Map<string, StructRules>();
  const fields = struct.fields.flatMap((field) => fieldCheck(field, byEmbedding, compilation));
  entry.check = all([...[...byEmbedding.values()].flatMap(structChecks), ...fields]);
  return entry.check;
}

/** Runs all checks, even after one fails. */
function all(checks: readonly Check[]): Check {
  return (operation, path, value, old) => {
    for (const check of checks) check(operation, path, value, old);
    return false;
  };
}

/** @returns no check for a field whose rules report nothing */
function fieldCheck(field: Field, byEmbedding: Map<string, StructRules>, compilation: Compilation): Check[] {
  const { name, type, pointer, embedded } = field;
  const holder = byEmbedding.get(embedded?.definition ?? "") ?? noStructRules();
  byEmbedding.set(embedded?.definition ?? "", holder);
  const markers = readMarkers(field.markers ?? [], { name, target: targetOfField(field), holder });
  const inner = markers.opaque ? [] : typeChecks(field, markers, compilation);
  if (markers.rules.every(({ silent }) => silent === true) && inner.length === 0) return [];
  const cohorts = [...Map.groupBy(markers.rules, ({ cohort }) => cohort)];
  const own = inOrder(cohorts.filter(([cohort]) => cohort === "").flatMap(([, rules]) => rules));
  const others = cohorts.filter(([cohort]) => cohort !== "").map(([, rules]) => inOrder(rules));
  const absent = type.kind === "struct" && !pointer ? emptyStruct : undefined; // In Go, structs that are not pointers always exist.
  return [
    (operation, path, holderValue, oldHolder) => {
      const value = member(holderValue, name);
      const before = member(oldHolder, name);
      if (operation.update && !isUnset(oldHolder) && equalFields(value, before, field)) return false;
      const at = path === "" ? name : `${path}.${name}`;
      const present = value ?? absent;
      const old = before ?? (isUnset(oldHolder) ? undefined : absent);
      if (runRules(own, operation, at, present, old)) return false;
      for (const rules of others) runRules(rules, operation, at, present, old);
      if (!isUnset(present)) for (const check of inner) check(operation, at, present, old);
      return false;
    },
  ];
}

/** @returns the checks of the type of a field and of its content */
function typeChecks(field: Field, markers: FieldMarkers, compilation: Compilation): Check[] {
  const { rules } = readMarkers(field.typeMarkers ?? [], {
    name: field.name,
    target: targetOfField(field),
    holder: undefined,
  });
  const ordered = inOrder(rules);
  const own: Check = (operation, path, value, old) => runRules(ordered, operation, path, value, old);
  return [...(ordered.length === 0 ? [] : [own]), ...contentChecks(field.type, markers.list, compilation)];
}

/** @param listRules of the list, if the type is one */
function contentChecks(type: Type, listRules: FieldMarkers["list"], compilation: Compilation): Check[] {
  if (type.kind === "struct") return compilation.ruled.has(type.definition) ? [structCheck(type, compilation)] : [];
  if (type.kind === "map")
    return contentChecks(type.values, undefined, compilation).map((check) => eachMapValue(type, check));
  if (type.kind !== "list") return [];
  const key = listRules && keyOf(type, listRules);
  const unique =
    key === undefined || listRules === undefined || listRules.custom ? [] : [uniqueCheck(type, key, listRules.level)];
  return [...unique, ...contentChecks(type.items, undefined, compilation).map((check) => eachItem(type, key, check))];
}

const emptyStruct: object = Object.freeze({});

function targetOfField(field: Field): Target {
  return { type: field.type, pointer: field.pointer, ...("default" in field && { default: field.default }) };
}
