/**
 * Decodes a parsed object by its schema, in place. Source: sigs.k8s.io/json (a fork of Go's encoding/json), and the
 * UnmarshalJSON methods of apimachinery's types.
 */
import { DurationError, formatDuration, parseDuration } from "../duration/duration.ts";
import type { Member } from "../json/exact.ts";
import { NumberLiteral, resolveLiterals } from "../json/number-literal.ts";
import { countMembers, goKindOf, JsonSyntaxError } from "../json/parse.ts";
import { quoteGo } from "../json/quote.ts";
import { isObject, setMember } from "../json/values.ts";
import { canonicalQuantity, QuantityError } from "../quantity/quantity.ts";
import { Base64Error, canonicalizeBase64 } from "./base64.ts";
import { type DecodeNode, FieldPlan, goTypeName, type StructPlan, structPlan } from "./decode-plan.ts";
import type { Struct } from "./schema.ts";
import { canonicalizeMicroTime, canonicalizeTime, TimeError } from "./time.ts";
import { zeroValueOf } from "./zero.ts";

/** A value that does not fit the schema. The message is Go's. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DecodeError";
  }
}

/** A value that the UnmarshalJSON method of its type rejects; Go does not know its field. */
export class OwnDecoderError extends DecodeError {}

/**
 * Levels of nesting that decoded objects may have. Go accepts 10,000 levels; the limit here is
 * lower because code that walks objects recurses.
 */
export const retainedDepthMax = 1000;

/** Strict errors that are reported of one object. */
export const problemsMax = 100;

/**
 * Reads a member. A separate function, because V8 specializes a read inside a loop over names to
 * one name and deoptimizes it repeatedly.
 */
const memberOf = (object: Record<string, unknown>, key: string): unknown => object[key];

/** Decodes one object. */
export class Decoder {
  /** Members seen; fewer than the text has when a key was repeated. */
  members = 0;
  readonly #repeated: ReadonlyMap<object, readonly Member[]> | undefined;
  #problems: Set<string> | undefined;
  readonly #limit: number;
  readonly #convertsIntegers: boolean;
  /** The current path: fields, map keys and list indexes. */
  readonly #path: (FieldPlan | string | number)[] = [];
  /**
   * The first mismatch. Go continues after a mismatch and reports the first one, but an error of an
   * UnmarshalJSON method ends the decoding and is reported instead.
   */
  #firstError: string | undefined;
  /** More than 0 inside values that upstream decodes without strictness. */
  #lenient = 0;

  constructor(
    repeated: ReadonlyMap<object, readonly Member[]> | undefined,
    { limit = problemsMax, convertsIntegers = false }: { limit?: number; convertsIntegers?: boolean } = {},
  ) {
    this.#repeated = repeated;
    this.#limit = limit;
    this.#convertsIntegers = convertsIntegers;
  }

  get problems(): string[] {
    return this.#problems === undefined ? [] : [...this.#problems];
  }

  decode(value: unknown, schema: Struct): Record<string, unknown> {
    if (!isObject(value))
      throw new DecodeError(`json: cannot unmarshal ${describe(value)} into Go value of type ${schema.goType}`);
    this.#struct(value, structPlan(schema));
    if (this.#firstError !== undefined) throw new DecodeError(this.#firstError);
    return value;
  }

  #struct(object: Record<string, unknown>, plan: StructPlan): void {
    const repeated = this.#repeated?.get(object);
    if (repeated !== undefined) return this.#repeatedStruct(object, plan, repeated);
    for (const key in object) {
      this.members++;
      const field = plan.fields.get(key);
      const value = memberOf(object, key);
      if (field === undefined) {
        if (plan.preserveUnknown) object[key] = this.#any(value);
        else this.#unknown(object, key, value);
        continue;
      }
      const decoded = this.#field(value, field);
      if (decoded === absent) delete object[key];
      else if (decoded !== value) object[key] = decoded;
    }
  }

  #unknown(object: Record<string, unknown>, key: string, value: unknown): void {
    this.members += countMembers(value);
    this.#problem("unknown field", key);
    delete object[key];
  }

  #field(value: unknown, field: FieldPlan): unknown {
    const { node } = field;
    if (node.kind === "string" && typeof value === "string") return value;
    if (value === undefined || (value === null && (field.pointer || node.kind !== "duration"))) return absent;
    this.#path.push(field);
    const decoded = this.#value(value, node);
    this.#path.pop();
    return decoded;
  }

  #value(value: unknown, node: DecodeNode): unknown {
    switch (node.kind) {
      case "string":
        return typeof value === "string" ? value : this.#mismatch(value, node);
      case "struct":
        if (!isObject(value)) return this.#mismatch(value, node);
        this.#checkDepth();
        this.#struct(value, node.struct);
        return value;
      case "list":
        return this.#list(value, node);
      case "map":
        return this.#map(value, node);
      case "int32":
        return typeof value === "number" && (value | 0) === value ? value : this.#integer(value, node);
      case "int64":
        return Number.isSafeInteger(value) ? value : this.#integer(value, node);
      case "bool":
        return typeof value === "boolean" ? value : this.#mismatch(value, node);
      case "any":
        return node.forms.length === 0 ? this.#any(value) : this.#forms(value, node);
      case "double":
        return this.#double(value, node);
      case "bytes":
        return this.#bytes(value, node);
      default:
        return this.#ownDecoder(value, node);
    }
  }

  #list(value: unknown, node: DecodeNode): unknown {
    if (!Array.isArray(value)) return this.#mismatch(value, node);
    this.#checkDepth();
    const { element } = node;
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      if (element.kind === "string" && typeof item === "string") continue;
      this.#path.push(index);
      value[index] = this.#element(item, element);
      this.#path.pop();
    }
    return value;
  }

  #map(value: unknown, node: DecodeNode): unknown {
    if (!isObject(value)) return this.#mismatch(value, node);
    this.#checkDepth();
    const repeated = this.#repeated?.get(value);
    const { element } = node;
    if (repeated !== undefined) return this.#repeatedMap(value, element, repeated);
    for (const key in value) {
      this.members++;
      const item = value[key];
      if (element.kind === "string" && typeof item === "string") continue;
      this.#path.push(key);
      value[key] = this.#element(item, element);
      this.#path.pop();
    }
    return value;
  }

  /** Decodes an item of a list or a value of a map, where null becomes the zero value. */
  #element(value: unknown, node: DecodeNode): unknown {
    const decoded = value === null && node.kind !== "duration" ? zeroValueOf(node.type) : this.#value(value, node);
    return decoded === absent ? null : decoded;
  }

  #integer(value: unknown, node: DecodeNode): unknown {
    if (typeof value === "bigint" && node.kind === "int64" && BigInt.asIntN(64, value) === value) return value;
    const converted = this.#convertsIntegers ? convertInteger(value, node.kind === "int32" ? 32 : 64) : undefined;
    if (converted !== undefined) return converted;
    return this.#mismatch(value, node, true);
  }

  #double(value: unknown, node: DecodeNode): unknown {
    if (typeof value === "number") return value;
    if (typeof value === "bigint") return Number(value);
    const number = value instanceof NumberLiteral ? Number(value.text) : Number.NaN;
    return Number.isFinite(number) ? number : this.#mismatch(value, node, true);
  }

  #bytes(value: unknown, node: DecodeNode): unknown {
    if (Array.isArray(value)) return this.#bytesOfList(value);
    if (typeof value !== "string") return this.#mismatch(value, node);
    try {
      return canonicalizeBase64(value);
    } catch (error) {
      if (!(error instanceof Base64Error)) throw error;
      this.#firstError ??= error.message;
      return value;
    }
  }

  /** Go also accepts a list of small integers for bytes. */
  #bytesOfList(list: unknown[]): string {
    for (const item of list) {
      if (item === null || (typeof item === "number" && (item & 0xff) === item)) continue;
      this.#firstError ??= this.#inContext(describe(item, true), "uint8");
    }
    return Buffer.from(list.map(Number)).toString("base64");
  }

  /** Decodes types that have an UnmarshalJSON method. */
  #ownDecoder(value: unknown, node: DecodeNode): unknown {
    switch (node.kind) {
      case "quantity":
        return this.#quantity(value);
      case "intOrString":
        if (typeof value === "string" || (typeof value === "number" && (value | 0) === value)) return value;
        return this.#fatal(value, "int32");
      case "time":
        return typeof value === "string"
          ? (decodeScalar(canonicalizeTime, value) ?? absent)
          : this.#fatal(value, "string");
      case "microtime":
        return typeof value === "string"
          ? (decodeScalar(canonicalizeMicroTime, value) ?? absent)
          : this.#fatal(value, "string");
      case "duration":
        if (value !== null && typeof value !== "string") return this.#fatal(value, "string");
        return decodeScalar(canonicalDuration, value ?? "");
      default:
        throw new TypeError(`no decoder for ${node.kind}`);
    }
  }

  #quantity(value: unknown): string {
    if (typeof value === "string" || typeof value === "number" || typeof value === "bigint")
      return decodeScalar(canonicalQuantity, value);
    return decodeScalar(canonicalQuantity, value instanceof NumberLiteral ? value.text : "not a quantity");
  }

  #any(value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    this.members += countWithin(value, retainedDepthMax - this.#path.length);
    return this.#repeated === undefined ? value : convertNumbers(value, resolveLiterals);
  }

  /**
   * Decodes a value that is either a schema or another allowed form. Upstream decodes such schemas
   * without strictness.
   */
  #forms(value: unknown, node: DecodeNode): unknown {
    const kind = goKindOf(value);
    const form = node.forms.find((candidate) => formKinds[candidate.kind] === kind);
    if (form === undefined) {
      if (node.forms.some((candidate) => candidate.kind === "bool"))
        throw new DecodeError("boolean or JSON schema expected");
      this.members += countMembers(value);
      return absent;
    }
    this.#lenient++;
    const decoded = this.#value(value, form);
    this.#lenient--;
    return decoded;
  }

  /** Decodes an object with repeated fields: like Go, each occurrence into the same value. */
  #repeatedStruct(object: Record<string, unknown>, plan: StructPlan, members: readonly Member[]): void {
    const decoded = new Map<string, unknown>();
    const seen = new Set<string>();
    for (const [key, value] of members) {
      const field = plan.fields.get(key);
      if (field === undefined && !plan.preserveUnknown) {
        this.#problem("unknown field", key);
        continue;
      }
      if (seen.has(key)) this.#problem("duplicate field", key);
      seen.add(key);
      const next = field === undefined ? this.#any(value) : this.#field(value, field);
      decoded.set(key, combine(decoded.get(key), next, field));
    }
    for (const key of Object.keys(object)) delete object[key];
    for (const [key, value] of decoded) if (value !== undefined && value !== absent) setMember(object, key, value);
  }

  /** Decodes a map with repeated keys: every value is decoded, the last one is kept. */
  #repeatedMap(map: Record<string, unknown>, element: DecodeNode, members: readonly Member[]): Record<string, unknown> {
    const seen = new Set<string>();
    for (const [key, value] of members) {
      if (seen.has(key)) this.#problem("duplicate field", key);
      seen.add(key);
      this.#path.push(key);
      setMember(map, key, this.#element(value, element));
      this.#path.pop();
    }
    return map;
  }

  #problem(what: string, key: string): void {
    if (this.#lenient > 0 || (this.#problems?.size ?? 0) >= this.#limit) return;
    let path = "";
    for (const step of this.#path) {
      if (typeof step === "number") path += `[${step}]`;
      else path += (path === "" ? "" : ".") + (typeof step === "string" ? step : step.name);
    }
    this.#problems ??= new Set();
    this.#problems.add(`${what} ${quoteGo(path === "" ? key : `${path}.${key}`)}`);
  }

  /** @param withText whether the message contains the number, as for integers and floats */
  #mismatch(value: unknown, node: DecodeNode, withText = false): unknown {
    this.#firstError ??= this.#inContext(describe(value, withText), goTypeName(node));
    if (this.#repeated === undefined) this.members += countMembers(value);
    return value;
  }

  #fatal(value: unknown, goType: string): never {
    throw new OwnDecoderError(this.#inContext(describe(value, goType === "int32"), goType));
  }

  #inContext(what: string, goType: string): string {
    const fields = this.#path.filter((step) => step instanceof FieldPlan);
    const path = fields.flatMap((field) => field.goPath).join(".");
    return `json: cannot unmarshal ${what} into Go struct field ${fields.at(-1)?.goStruct}.${path} of type ${goType}`;
  }

  #checkDepth(): void {
    if (this.#path.length > retainedDepthMax) throw tooDeep();
  }
}

/**
 * Converts a number as Go does on amd64: a float beyond 64 bits becomes the smallest integer.
 * @returns undefined for a value that is no number, or has a fraction
 */
function convertInteger(value: unknown, bits: 32 | 64): number | bigint | undefined {
  const number = value instanceof NumberLiteral ? value.value : value;
  const isInteger = typeof number === "bigint" || (typeof number === "number" && Number.isInteger(number));
  if (!isInteger) return undefined;
  const integer = BigInt(number);
  const within = BigInt.asIntN(64, integer) === integer ? integer : -(2n ** 63n);
  const cut = BigInt.asIntN(bits, within);
  return Number.isSafeInteger(Number(cut)) ? Number(cut) : cut;
}

const formKinds: Readonly<Record<string, string>> = { struct: "object", list: "array", bool: "bool" };

/** The kind of a value, as Go's messages name it. */
export function describe(value: unknown, withText = false): string {
  const kind = goKindOf(value);
  if (kind !== "number" || !withText) return kind;
  return `number ${value instanceof NumberLiteral ? value.text : String(value)}`;
}

const canonicalDuration = (text: string): string => formatDuration(parseDuration(text));

/** Runs the decoder of a scalar type, whose error ends the decoding. */
function decodeScalar<In, Out>(decode: (value: In) => Out, value: In): Out {
  try {
    return decode(value);
  } catch (error) {
    if (error instanceof QuantityError || error instanceof TimeError || error instanceof DurationError)
      throw new DecodeError(error.message);
    throw error;
  }
}

/** @throws DecodeError for a number that Go does not accept */
export function convertNumbers(value: unknown, convert: (value: unknown) => unknown): unknown {
  try {
    return convert(value);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new DecodeError(error.message);
    throw error;
  }
}

/**
 * Counts the members in a value.
 * @param levels how many more levels may follow
 * @throws DecodeError when the value is nested deeper
 */
export function countWithin(value: object, levels: number): number {
  if (levels <= 0) throw tooDeep();
  let members = 0;
  const isObject = !Array.isArray(value);
  for (const key in value) {
    if (isObject) members++;
    const member: unknown = (value as Record<string, unknown>)[key];
    if (typeof member === "object" && member !== null) members += countWithin(member, levels - 1);
  }
  return members;
}

function tooDeep(): DecodeError {
  return new DecodeError(`exceeded max depth of ${retainedDepthMax}`);
}

/** Marks a value that is left out. */
const absent = Symbol("absent");

/** The value of Go's field after two occurrences were decoded into it. */
function combine(first: unknown, second: unknown, field: FieldPlan | undefined): unknown {
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
