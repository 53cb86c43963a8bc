/**
 * Values of expressions as the Go values that upstream merges into an object or writes as JSON. Values
 * without a form in JSON are foreign values.
 * Source: pkg/cel/mutation/dynamic/objects.go in k8s.io/apiserver@v0.36.0; cel-go, Value() of each type
 */
import { JsonPatchValue, ObjectValue } from "../../cel-environment/mutation-types.ts";
import { plainValue } from "../../cel-environment/plain-value.ts";
import {
  ArrayList,
  CelDouble,
  CelDuration,
  CelList,
  type CelMap,
  CelObject,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
  formatTimestamp,
  goTypeNameOf,
  HashMap,
  isInt,
  TextList,
  typeNameOf,
} from "../../lib/cel/index.ts";
import { formatDuration } from "../../lib/duration/duration.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { setMember } from "../../lib/json/values.ts";
import { type ForeignTexts, ForeignValue } from "../../lib/structured-merge/index.ts";

/** A field of `Object{…}` that cannot be converted. */
export class FieldError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "FieldError";
  }
}

/** Converts the fields of an object. @throws FieldError */
export function goObjectOf({ fields }: ObjectValue): object {
  const object = {};
  for (const [name, value] of fields) setMember(object, name, fieldOf(name, value));
  return object;
}

/** A list or a map that the expression creates is converted here, but not one that is within it. */
function fieldOf(name: string, value: CelValue): unknown {
  const field = value instanceof CelOptional ? (value.value ?? null) : value;
  if (value instanceof CelOptional && field === null) return null;
  if (isCreatedList(field)) return itemsOf(field).map(goValueOf);
  if (!(field instanceof HashMap)) return goValueOf(field);
  const map = {};
  for (const key of field.keys()) {
    if (typeof key !== "string") throw new FieldError(`fail to convert field ${quoteGo(name)}: ${keyProblem(key)}`);
    setMember(map, key, goValueOf(field.find(key) as CelValue));
  }
  return map;
}

function keyProblem(key: CelValue): string {
  const type = goTypeNameOf(key);
  const code = isInt(key) ? key : key instanceof CelUint ? key.value : undefined;
  if (code === undefined) return `map key %!q(${type}=${key}) is of type ${type}, not string`;
  const character = code >= 0 && code <= 0x10ffff ? String.fromCodePoint(Number(code)) : "\ufffd";
  return `map key '${quoteGo(character).slice(1, -1)}' is of type ${type}, not string`;
}

function isCreatedList(value: CelValue): value is ArrayList {
  return value instanceof ArrayList && !(value instanceof TextList);
}

function itemsOf(list: CelList): CelValue[] {
  return Array.from({ length: list.size }, (_, at) => list.at(at));
}

function goValueOf(value: CelValue): unknown {
  if (value instanceof CelOptional) return value.value === undefined ? null : goValueOf(value.value);
  if (value instanceof CelTypeValue) return value.name;
  if (value instanceof ObjectValue) return objectOrError(value);
  const texts = foreignTexts(value);
  if (texts !== undefined) return new ForeignValue(texts);
  // Data, and lists that `+` creates. A null in them is data.
  if (value instanceof CelList) return itemsOf(value).map((item) => (item === null ? null : goValueOf(item)));
  return plainValue(value);
}

function objectOrError(value: ObjectValue): unknown {
  try {
    return goObjectOf(value);
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    return pointer("*types.Err", error.message);
  }
}

function pointer(goType: string, plain: string): ForeignValue {
  return new ForeignValue({ plain, syntax: `(${goType})(${address})`, goType });
}

/** Replaces addresses in upstream's memory. */
const address = "0xc000000000";

/** @returns undefined for a value with a form in JSON */
function foreignTexts(value: CelValue): ForeignTexts | undefined {
  if (value === null) return { plain: "NULL_VALUE", syntax: "0", goType: "structpb.NullValue" };
  if (value instanceof CelUint) {
    return { plain: String(value.value), syntax: `0x${value.value.toString(16)}`, goType: "uint64" };
  }
  if (value instanceof Uint8Array) {
    const hex = Array.from(value, (byte) => `0x${byte.toString(16)}`).join(", ");
    return { plain: `[${Array.from(value).join(" ")}]`, syntax: `[]uint8{${hex}}`, goType: "[]uint8" };
  }
  if (value instanceof CelDuration)
    return {
      plain: formatDuration(value.nanoseconds),
      syntax: String(value.nanoseconds),
      goType: "time.Duration",
    };
  if (value instanceof CelTimestamp) return timeTexts(value);
  if (value instanceof ArrayList) return listTexts(value, value instanceof TextList ? "[]string" : "[]ref.Val");
  if (value instanceof HashMap) return mapTexts(value);
  if (value instanceof JsonPatchValue) return pointer("*mutation.JSONPatchVal", address);
  const isOpaque = value instanceof CelOpaque || (value instanceof CelObject && !(value instanceof ObjectValue));
  return isOpaque ? opaqueTexts(value) : undefined;
}

function listTexts(list: CelList, goType: string): ForeignTexts {
  const items = itemsOf(list).map(textsOf);
  return {
    plain: `[${items.map(({ plain }) => plain).join(" ")}]`,
    syntax: `${goType}{${items.map(({ syntax }) => syntax).join(", ")}}`,
    goType,
  };
}

function mapTexts(map: CelMap): ForeignTexts {
  const goType = "map[ref.Val]ref.Val";
  const entries = map.keys().map((key) => [textsOf(key), textsOf(map.find(key) as CelValue)] as const);
  return {
    plain: `map[${entries
      .map(([key, value]) => `${key.plain}:${value.plain}`)
      .sort()
      .join(" ")}]`,
    syntax: `${goType}{${entries
      .map(([key, value]) => `${key.syntax}:${value.syntax}`)
      .sort()
      .join(", ")}}`,
    goType,
  };
}

/** The texts of a value within a list or map. */
function textsOf(value: CelValue): Omit<ForeignTexts, "goType"> {
  if (typeof value === "string") return { plain: value, syntax: quoteGo(value) };
  if (value instanceof CelTypeValue) return { plain: value.name, syntax: value.name };
  if (value instanceof CelDouble) return { plain: String(value.value), syntax: String(value.value) };
  return foreignTexts(value) ?? { plain: typeof value === "object" ? address : String(value), syntax: String(value) };
}

function timeTexts(value: CelTimestamp): ForeignTexts {
  const text = formatTimestamp(value);
  const isUtc = text.endsWith("Z");
  const zoneStart = text.length - (isUtc ? 1 : "+01:00".length);
  const [date, time, fraction] = [text.slice(0, 10), text.slice(11, 19), text.slice(19, zoneStart)];
  const zone = text.slice(zoneStart).replace(":", "");
  const [year, month, day] = date.split("-").map(Number) as [number, number, number];
  const nanoseconds = Number(fraction.slice(1).padEnd(9, "0"));
  const parts = [year, `time.${months[month - 1]}`, day, ...time.split(":").map(Number), nanoseconds].join(", ");
  return {
    plain: `${date} ${time}${fraction} ${isUtc ? "+0000 UTC" : `${zone} ${zone}`}`,
    syntax: `time.Date(${parts}, ${isUtc ? "time.UTC" : 'time.Location("")'})`,
    goType: "time.Time",
  };
}

const months = "January February March April May June July August September October November December".split(" ");

const opaqueGoTypes = new Map([
  ["kubernetes.Quantity", "*resource.Quantity"],
  ["kubernetes.URL", "*url.URL"],
  ["net.IP", "netip.Addr"],
  ["net.CIDR", "netip.Prefix"],
  ["kubernetes.Semver", "semver.Version"],
  ["kubernetes.NamedFormat", "cel.Format"],
]);

/** Authorizers, their checks and `variables` have an error as their Go value. */
function opaqueTexts(value: CelOpaque | CelObject): ForeignTexts {
  const goType = opaqueGoTypes.get(typeNameOf(value));
  return goType === undefined ? pointer("*types.Err", "no such overload") : pointer(goType, String(value));
}
