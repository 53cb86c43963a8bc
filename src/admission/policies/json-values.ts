/**
 * Values of JSON patches as JSON. Source: cel-go, ConvertToNative of each type to a
 * google.protobuf.Value; NewStruct in google.golang.org/protobuf/types/known/structpb
 */
import { JsonPatchValue, ObjectValue } from "../../cel-environment/mutation-types.ts";
import {
  CelDouble,
  CelDuration,
  CelList,
  CelMap,
  CelObject,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
  formatSeconds,
  formatTimestamp,
  intOf,
  isInt,
  typeNameOf,
} from "../../lib/cel/index.ts";
import { setMember } from "../../lib/json/values.ts";
import { ForeignValue } from "../../lib/structured-merge/index.ts";
import { goObjectOf } from "./go-values.ts";

/** A value that has no form in JSON. */
export class JsonValueError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "JsonValueError";
  }
}

/**
 * Converts the value of an operation.
 *
 * @throws JsonValueError, FieldError
 */
export function jsonOf(value: CelValue): unknown {
  return value instanceof ObjectValue ? structOf(goObjectOf(value), "*structpb.Struct") : partOf(value);
}

function partOf(value: CelValue): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (isInt(value)) return jsonInteger(value);
  if (value instanceof CelUint) return jsonInteger(intOf(value.value) ?? value.value);
  if (value instanceof CelDouble) return finite(value.value, "*structpb.Value");
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatSeconds(value.nanoseconds);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof CelList) return Array.from({ length: value.size }, (_, at) => partOf(value.at(at)));
  if (value instanceof CelMap) return mapOf(value);
  if (value instanceof ObjectValue) return jsonOf(value);
  if (value instanceof CelOptional && value.value !== undefined) return partOf(value.value);
  throw new JsonValueError(problemOf(value));
}

/** Integers that a double can lose become text. */
function jsonInteger(value: number | bigint): number | string {
  return typeof value === "bigint" ? String(value) : value;
}

function mapOf(map: CelMap): object {
  const object = {};
  for (const key of map.keys()) {
    if (typeof key === "boolean") throw new JsonValueError("type conversion error from bool to 'string'");
    if (typeof key !== "string")
      throw new JsonValueError(`unsupported type conversion from '${typeNameOf(key)}' to string`);
    setMember(object, key, partOf(map.find(key) as CelValue));
  }
  return object;
}

function finite(value: number, goType: string): number {
  if (Number.isFinite(value)) return value;
  const text = Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  const why = `proto: google.protobuf.Value.number_value: invalid ${text} value`;
  throw new JsonValueError(`json: error calling MarshalJSON for type ${goType}: ${why}`);
}

/** The types that name themselves without their package. */
const shortNames = new Map([
  ["kubernetes.Quantity", "Quantity"],
  ["kubernetes.URL", "URL"],
  ["net.IP", "IP"],
  ["net.CIDR", "CIDR"],
  ["kubernetes.Semver", "Semver"],
  ["kubernetes.NamedFormat", "Format"],
]);

function problemOf(value: CelValue): string {
  if (value instanceof CelOptional) return "optional.none() dereference";
  if (value instanceof CelTypeValue) return "type conversion not supported for 'type'";
  const name = typeNameOf(value);
  if (value instanceof CelOpaque)
    return `type conversion error from '${shortNames.get(name) ?? name}' to '*structpb.Value'`;
  if (value instanceof JsonPatchValue) return "cannot convert to native type: *structpb.Value";
  return value instanceof CelObject ? `disallowed conversion from "${name}" to ""` : `unable to convert ${name}`;
}

/** Converts the Go values of an object. Their integers become doubles. */
function structOf(value: unknown, goType: string): unknown {
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "number") return finite(value, goType);
  if (Array.isArray(value)) return value.map((item) => structOf(item, goType));
  if (value instanceof ForeignValue) return foreignOf(value);
  if (typeof value !== "object" || value === null) return value;
  const object = {};
  for (const [name, part] of Object.entries(value)) setMember(object, name, structOf(part, goType));
  return object;
}

function foreignOf({ goType, plain }: ForeignValue): unknown {
  if (goType === "uint64") return Number(plain);
  if (goType === "[]uint8") return Buffer.from(plain.slice(1, -1).split(" ").map(Number)).toString("base64");
  throw new JsonValueError(`proto: invalid type: ${goType}`);
}
