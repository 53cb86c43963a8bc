/**
 * Finds out how a field merges, from the schema. Errors have upstream's messages. Source:
 * k8s.io/apimachinery@v0.36.0/pkg/util/strategicpatch/patch.go.
 */
import { quoteGo } from "../json/quote.ts";
import type { Field, Type } from "../schema/schema.ts";
import { StrategicMergeError } from "./strategic-merge-error.ts";

/** How a field merges. */
export interface MergeRule {
  /** The type of the field's value, or of the elements of its list. */
  readonly type: Type;
  readonly strategy: "merge" | "replace" | undefined;
  /** Empty when there is none. */
  readonly mergeKey: string;
}

/**
 * The rule of a field that is an object.
 * @throws StrategicMergeError when `within` has no such field, or is a map: upstream cannot merge
 *   objects in maps
 */
export function ruleOfObject(within: Type, name: string): MergeRule {
  return ruleOf(findField(within, name));
}

/** The rule of a field that is a list; `type` is that of its elements. */
export function ruleOfList(within: Type, name: string): MergeRule {
  const field = findField(within, name);
  return { ...ruleOf(field), type: elementType(field) };
}

function ruleOf({ type, patchStrategy, patchMergeKey }: Field): MergeRule {
  const strategy = patchStrategy?.find((word) => word !== "retainKeys") as MergeRule["strategy"];
  return { type, strategy, mergeKey: patchMergeKey ?? "" };
}

function findField(within: Type, name: string): Field {
  const struct = goKind(within);
  if (struct !== "struct")
    throw new StrategicMergeError(`merging an object in json but data type is not struct, instead is: ${struct}`);
  const field = within.kind === "struct" ? (within.byName.get(name) ?? findFolded(within.fields, name)) : undefined;
  if (field !== undefined) return field;
  throw new StrategicMergeError(
    `unable to find api field in struct ${goName(within)} for the json field ${quoteGo(name)}`,
  );
}

/** Finds a field ignoring case, as Go does when none matches exactly. */
function findFolded(fields: readonly Field[], name: string): Field | undefined {
  const folded = name.toLowerCase();
  return fields.find((field) => field.name.toLowerCase() === folded);
}

function elementType({ type, pointer }: Field): Type {
  if (type.kind === "list") {
    if (goKind(type.items) === "slice") throw new StrategicMergeError("unexpected slice of slice");
    return type.items;
  }
  if (pointer) return type;
  throw new StrategicMergeError("expected slice or array type, but got: struct");
}

function goName(type: Type): string {
  const name = type.kind === "struct" ? type.goType : type.kind === "any" ? type.definition : type.kind;
  return name.slice(name.lastIndexOf(".") + 1);
}

/** The kind of the Go type of a schema's type. */
export function goKind(type: Type): string {
  switch (type.kind) {
    case "list":
    case "bytes":
      return "slice";
    case "double":
      return "float64";
    case "string":
    case "int32":
    case "int64":
    case "bool":
    case "map":
      return type.kind;
    default:
      return "struct";
  }
}
