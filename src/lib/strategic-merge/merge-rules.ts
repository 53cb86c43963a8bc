/** How a field merges, looked up in the schema; where upstream finds nothing, its words. */
import { quoteGo } from "../json/quote.ts";
import type { Field, Type } from "../schema/schema.ts";
import { StrategicMergeError } from "./strategic-merge-error.ts";

export interface MergeRule {
  /** Of the field's value, or of the elements of its list. */
  readonly type: Type;
  readonly strategy: "merge" | "replace" | undefined;
  /** Empty where there is none. */
  readonly mergeKey: string;
}

/** @throws StrategicMergeError when `within` has no such field, or has no fields at all (maps: upstream cannot merge objects in them) */
export function ruleOfObject(within: Type, name: string): MergeRule {
  return ruleOf(findField(within, name));
}

/** The same for a list; `type` is its elements'. */
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

/** Go takes a field in other case too, when none has the very name. */
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

/** The kind of Go type behind a type of the schema. */
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
