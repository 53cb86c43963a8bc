/**
 * Makes checks of the markers in a schema, once for each type. Source: KEP-5073; code-generator's cmd/validation-gen.
 * In which order rules run, and which stop which, is as in the code that is generated there.
 */
import { equalFields } from "../../../lib/schema/equal.ts";
import type { Field, Struct, Type } from "../../../lib/schema/schema.ts";
import { type Check, inOrder, isUnset, member, runRules, type Target } from "./contract.ts";
import { type FieldMarkers, readMarkers } from "./field-markers.ts";
import { eachItem, eachMapValue, keyOf, uniqueCheck } from "./list-checks.ts";
import { parseMarker } from "./marker.ts";
import { ruledStructs } from "./ruled-structs.ts";
import { noStructRules, type StructRules, structChecks } from "./struct-rules.ts";

/** The rules of one kind. */
export interface DeclaredRules {
  readonly check: Check;
  /** Paths of the subresources they are for; empty text for the object itself. */
  readonly subresources: ReadonlySet<string>;
  /** Whether there are others than alpha rules, which never replace hand-written validation. */
  readonly enforceable: boolean;
}

/**
 * @returns undefined for a kind without rules
 * @throws Error for markers that are malformed or unknown: a mistake of the table
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
  /** Definitions of the structs that have rules, or hold one that has. */
  readonly ruled: ReadonlySet<string>;
  /** A struct's entry is there before its check is, since structs may hold themselves. */
  readonly checks: Map<Struct, { check: Check | undefined }>;
}

function structCheck(struct: Struct, compilation: Compilation): Check {
  const known = compilation.checks.get(struct);
  if (known !== undefined) return (...args) => known.check?.(...args) ?? false;
  const entry: { check: Check | undefined } = { check: undefined };
  compilation.checks.set(struct, entry);
  const byEmbedding = new Map<string, StructRules>();
  const fields = struct.fields.flatMap((field) => fieldCheck(field, byEmbedding, compilation));
  entry.check = all([...[...byEmbedding.values()].flatMap(structChecks), ...fields]);
  return entry.check;
}

/** Runs all of them, whichever fails. */
function all(checks: readonly Check[]): Check {
  return (operation, path, value, old) => {
    for (const check of checks) check(operation, path, value, old);
    return false;
  };
}

/** @returns nothing for a field about which nothing can be reported */
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
  const absent = type.kind === "struct" && !pointer ? emptyStruct : undefined; // Structs are always there.
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

/** What is asked of the field's type, and of what it holds. */
function typeChecks(field: Field, markers: FieldMarkers, compilation: Compilation): Check[] {
  const { rules } = readMarkers(field.typeMarkers ?? [], {
    name: field.name,
    target: targetOfField(field),
    holder: undefined,
  });
  const ordered = inOrder(rules);
  const own: Check = (operation, path, value, old) => runRules(ordered, operation, path, value, old);
  return [...(ordered.length === 0 ? [] : [own]), ...heldChecks(field.type, markers.list, compilation)];
}

/** @param said of the list, where the type is one */
function heldChecks(type: Type, said: FieldMarkers["list"], compilation: Compilation): Check[] {
  if (type.kind === "struct") return compilation.ruled.has(type.definition) ? [structCheck(type, compilation)] : [];
  if (type.kind === "map")
    return heldChecks(type.values, undefined, compilation).map((check) => eachMapValue(type, check));
  if (type.kind !== "list") return [];
  const key = said && keyOf(type, said);
  const unique = key === undefined || said === undefined || said.custom ? [] : [uniqueCheck(type, key, said.level)];
  return [...unique, ...heldChecks(type.items, undefined, compilation).map((check) => eachItem(type, key, check))];
}

const emptyStruct: object = Object.freeze({});

function targetOfField(field: Field): Target {
  return { type: field.type, pointer: field.pointer, ...("default" in field && { default: field.default }) };
}
