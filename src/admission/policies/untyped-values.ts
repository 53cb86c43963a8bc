/**
 * Finds values of an apply configuration that have no form in a typed object: null and bytes. Source:
 * structured-merge-diff's typed package, with the Go values that
 * k8s.io/apiserver@v0.36.0/pkg/cel/mutation/dynamic/objects.go passes to it.
 */
import { ObjectValue } from "../../cel-environment/mutation-types.ts";
import { CelList, CelMap, type CelValue } from "../../lib/cel/index.ts";
import type { Type } from "../../lib/structured-merge/index.ts";

/**
 * Describes the first null or bytes, such as `.data: expected map, got &{NULL_VALUE}`.
 *
 * @returns undefined if there are none in the declared fields
 */
export function untypedProblem(value: CelValue, type: Type, path = ""): string | undefined {
  if (value === null) return problem(type, path, { plain: "NULL_VALUE", syntax: "0", type: "structpb.NullValue" });
  if (value instanceof Uint8Array) return problem(type, path, goBytes(value));
  for (const [name, member, memberType] of membersOf(value, type)) {
    const found = memberType && untypedProblem(member, memberType, `${path}${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Member = readonly [name: string, value: CelValue, type: Type | undefined];

function membersOf(value: CelValue, type: Type): Member[] {
  if (value instanceof CelList) {
    const items = type.kind === "list" ? type.items : undefined;
    return Array.from({ length: value.size }, (_, at) => [`[${at}]`, value.at(at), items]);
  }
  const typeOf = (name: string): Type | undefined =>
    type.kind === "map" ? type.values : type.kind === "struct" ? type.byName.get(name)?.type : undefined;
  if (value instanceof ObjectValue)
    return [...value.fields].map(([name, member]) => [`.${name}`, member, typeOf(name)]);
  if (!(value instanceof CelMap)) return [];
  return value.keys().map((key) => [`.${key}`, value.find(key) as CelValue, typeOf(String(key))]);
}

/** A Go value as `%v` and `%#v` format it, and its type. */
interface GoValue {
  readonly plain: string;
  readonly syntax: string;
  readonly type: string;
}

function goBytes(bytes: Uint8Array): GoValue {
  const hex = Array.from(bytes, (byte) => `0x${byte.toString(16)}`).join(", ");
  return { plain: `[${Array.from(bytes).join(" ")}]`, syntax: `[]uint8{${hex}}`, type: "[]uint8" };
}

function problem(type: Type, path: string, { plain, syntax, type: goType }: GoValue): string | undefined {
  const expected = expectedOf(type);
  if (expected === undefined) return undefined;
  if (expected === "string") return `${path}: expected string, got &value.valueUnstructured{Value:${syntax}}`;
  if (expected === "numeric (int or float)") return `${path}: expected ${expected}, got ${goType}`;
  return `${path}: expected ${expected}, got &{${plain}}`;
}

function expectedOf({ kind }: Type): string | undefined {
  if (kind === "struct" || kind === "map") return "map";
  if (kind === "list") return "list";
  if (kind === "string" || kind === "bytes" || kind === "duration") return "string";
  if (kind === "bool") return "boolean";
  return kind === "int32" || kind === "int64" || kind === "double" ? "numeric (int or float)" : undefined;
}
