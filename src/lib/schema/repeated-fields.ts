/** What Go's decoder makes of a field that a text has more than once: it decodes each occurrence into the same value. */
import { isObject, setMember } from "../json/values.ts";
import type { DecodeNode, FieldPlan } from "./decode-plan.ts";

/** Marks a value that is left out. */
export const absent = Symbol("absent");

/** The value of Go's field after two occurrences were decoded into it. */
export function combine(first: unknown, second: unknown, field: FieldPlan | undefined): unknown {
  const kind = field?.node.kind;
  if (second === absent && first !== undefined && field?.pointer === false && keepsOverNull.has(kind as string))
    return first;
  return combineValues(first, second, field?.node);
}

/** Items of a list are decoded into those of the first occurrence. */
function combineValues(first: unknown, second: unknown, node: DecodeNode | undefined): unknown {
  if (node?.kind === "list" && Array.isArray(first) && Array.isArray(second))
    return second.map((item, index) => (index < first.length ? combineValues(first[index], item, node.element) : item));
  if ((node?.kind !== "struct" && node?.kind !== "map") || !isObject(first) || !isObject(second)) return second;
  for (const key of Object.keys(second)) {
    const inner = node.kind === "struct" ? node.struct.fields.get(key) : undefined;
    setMember(first, key, combine(Object.hasOwn(first, key) ? first[key] : undefined, second[key], inner));
  }
  return first;
}

/** Kinds whose existing value a later null does not change. */
const keepsOverNull: ReadonlySet<string> = new Set(["struct", "string", "int32", "int64", "bool", "double"]);
