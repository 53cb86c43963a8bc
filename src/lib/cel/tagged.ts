/**
 * Values as JSON with type tags: `{"int":"1"}`, `{"uint":"1"}`, `{"double":"1.5"}`,
 * `{"string":"a"}`, `{"bool":true}`, `{"bytes":"YQ=="}`, `{"null":true}`, `{"list":[…]}`,
 * `{"map":[[key,value],…]}`, `{"type":"int"}`, and for other types
 * `{"opaque":"google.protobuf.Duration","text":"1s"}`. For objects the text is the name of the
 * type.
 */
import { CelError } from "./errors.ts";
import { kubernetesEnvironment } from "./kubernetes-environment.ts";
import { stringType } from "./types.ts";
import { ArrayList, HashMap, isMapKey } from "./values/containers.ts";
import { intOf } from "./values/int.ts";
import { formatSeconds } from "./values/numbers.ts";
import { formatTimestamp } from "./values/time.ts";
import {
  CelDouble,
  CelDuration,
  CelList,
  CelMap,
  CelObject,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
  optionalNone,
} from "./values/value.ts";

/** A value as JSON with a type tag. */
export type Tagged =
  | { readonly int: string }
  | { readonly uint: string }
  | { readonly double: string }
  | { readonly string: string }
  | { readonly bool: boolean }
  | { readonly bytes: string }
  | { readonly null: true }
  | { readonly list: readonly Tagged[] }
  | { readonly map: readonly (readonly [Tagged, Tagged])[] }
  | { readonly type: string }
  | { readonly opaque: string; readonly text: string };

const depthMax = 1000;
/** Per list: `l + l` costs one unit, so that a cheap expression can make a long list. */
const elementsMax = 10_000_000;

/** Encodes a value. @throws RangeError if it is too deep or too long */
export function taggedOf(value: CelValue, depth = 0): Tagged {
  if (depth > depthMax) throw new RangeError(`a value nests deeper than ${depthMax} levels`);
  if (value === null) return { null: true };
  if (typeof value === "string") return { string: value };
  if (typeof value === "boolean") return { bool: value };
  if (typeof value === "number" || typeof value === "bigint") return { int: String(value) };
  if (value instanceof CelUint) return { uint: String(value.value) };
  if (value instanceof CelDouble) return { double: Object.is(value.value, -0) ? "-0" : String(value.value) };
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString("base64") };
  if (value instanceof CelTypeValue) return { type: value.name };
  if (value instanceof CelList && value.size > elementsMax)
    throw new RangeError(`a list of ${value.size} elements is too long to be written`);
  if (value instanceof CelList)
    return { list: Array.from({ length: value.size }, (_, at) => taggedOf(value.at(at), depth + 1)) };
  if (value instanceof CelMap)
    return { map: value.keys().map((key) => [taggedOf(key), taggedOf(value.find(key) as CelValue, depth + 1)]) };
  if (value instanceof CelObject) return { opaque: value.typeName, text: value.typeName };
  if (value instanceof CelTimestamp) return { opaque: "google.protobuf.Timestamp", text: formatTimestamp(value) };
  if (value instanceof CelDuration)
    return { opaque: "google.protobuf.Duration", text: formatSeconds(value.nanoseconds) };
  if (value instanceof CelOptional) return { opaque: "optional_type", text: optionalText(value, depth) };
  return { opaque: value.type.name, text: String(value) };
}

function optionalText({ value }: CelOptional, depth: number): string {
  return value === undefined ? "none" : JSON.stringify(taggedOf(value, depth + 1));
}

/** Decodes a value. @throws RangeError for an invalid tagged value */
export function untagged(tagged: Tagged, depth = 0): CelValue {
  const wrong = (): RangeError => new RangeError(`not a tagged value: ${String(JSON.stringify(tagged)).slice(0, 200)}`);
  if (typeof tagged !== "object" || tagged === null || depth > depthMax) throw wrong();
  if ("null" in tagged) return null;
  if ("string" in tagged && typeof tagged.string === "string") return tagged.string;
  if ("bool" in tagged && typeof tagged.bool === "boolean") return tagged.bool;
  if ("int" in tagged && /^[+-]?[0-9]{1,20}$/.test(tagged.int)) return intOf(BigInt(tagged.int)) ?? raise(wrong());
  if ("uint" in tagged && /^[0-9]{1,20}$/.test(tagged.uint) && BigInt(tagged.uint) < 2n ** 64n)
    return new CelUint(BigInt(tagged.uint));
  if ("double" in tagged) return new CelDouble(doubleFrom(tagged.double) ?? raise(wrong()));
  if ("bytes" in tagged && typeof tagged.bytes === "string")
    return Uint8Array.from(Buffer.from(tagged.bytes, "base64"));
  if ("type" in tagged && typeof tagged.type === "string") return new CelTypeValue(tagged.type);
  if ("list" in tagged && Array.isArray(tagged.list))
    return new ArrayList(tagged.list.map((item) => untagged(item, depth + 1)));
  if ("map" in tagged && Array.isArray(tagged.map)) return mapFrom(tagged.map, depth);
  if ("opaque" in tagged && typeof tagged.text === "string") return opaqueFrom(tagged.opaque, tagged.text, depth);
  throw wrong();
}

function raise(error: Error): never {
  throw error;
}

/** Parses a double as formatted by Go, JavaScript or Python. */
function doubleFrom(text: string): number | undefined {
  const infinite = /^([+-]?)inf(?:inity)?$/i.exec(text);
  if (infinite !== null) return infinite[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^nan$/i.test(text)) return Number.NaN;
  return /^[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?$/.test(text) && !Number.isNaN(Number(text)) ? Number(text) : undefined;
}

function mapFrom(pairs: readonly (readonly [Tagged, Tagged])[], depth: number): HashMap {
  return HashMap.of(
    pairs.map((pair): [CelValue, CelValue] => {
      const [key, value] = [untagged(pair[0], depth + 1), untagged(pair[1], depth + 1)];
      if (!isMapKey(key)) throw new RangeError(`not a key: ${JSON.stringify(pair[0])}`);
      return [key, value];
    }),
  );
}

/** By type, the CEL function that parses its text. */
const parsers = new Map([
  ["google.protobuf.Timestamp", "timestamp"],
  ["google.protobuf.Duration", "duration"],
  ["timestamp", "timestamp"],
  ["duration", "duration"],
  ["kubernetes.Quantity", "quantity"],
  ["kubernetes.Semver", "semver"],
  ["kubernetes.URL", "url"],
  ["net.IP", "ip"],
  ["net.CIDR", "cidr"],
]);

function opaqueFrom(type: string, text: string, depth: number): CelValue {
  if (type === "optional_type")
    return text === "none" ? optionalNone : new CelOptional(untagged(JSON.parse(text), depth + 1));
  const parser = parsers.get(type);
  if (parser === undefined) throw new RangeError(`values of type ${type} are not supported`);
  const environment = kubernetesEnvironment([1, 36]).extend({ variables: [{ name: "text", type: stringType }] });
  try {
    return environment.plan(environment.compile(`${parser}(text)`)).evaluate(new Map([["text", text]])).value;
  } catch (error) {
    if (error instanceof CelError) throw new RangeError(error.message);
    throw error;
  }
}
