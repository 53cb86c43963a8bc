/**
 * Decodes a JSON object by its schema, in place. Rejects what upstream's decoder rejects, with its
 * messages. Removes unknown fields and nulls, and makes scalars canonical.
 * Source: sigs.k8s.io/json (a fork of Go's encoding/json), and the UnmarshalJSON methods of
 * apimachinery's types.
 */
import type { Member } from "../json/exact.ts";
import { goMapType } from "../json/go-value.ts";
import { asGoNumbers } from "../json/number-literal.ts";
import {
  type Document,
  exactDocument,
  exactJson,
  type ParsedJson,
  parseDocument,
  parsedJson,
  parseEncoded,
} from "../json/parse.ts";
import { isObject } from "../json/values.ts";
import {
  convertNumbers,
  countWithin,
  DecodeError,
  Decoder,
  describe,
  problemsMax,
  retainedDepthMax,
} from "./decoder.ts";
import type { CustomForm, Struct } from "./schema.ts";

export { DecodeError, OwnDecoderError, retainedDepthMax } from "./decoder.ts";

/** A decoded object and what strict field validation says of it. */
export interface Decoded {
  /** The object; the caller may change it. */
  object: Record<string, unknown>;
  /**
   * Upstream's strict errors, such as `unknown field "spec.nope"` and `duplicate field "data.z"`,
   * in its order, at most 100.
   */
  problems: string[];
}

/**
 * Decodes JSON text by a schema.
 * @throws JsonSyntaxError when the text is not JSON
 * @throws DecodeError when the object does not fit the schema
 */
export function decodeJson(bytes: Buffer, schema: Struct): Decoded {
  return decodeDocument(parseDocument(bytes), schema);
}

/**
 * Decodes text that `encodeObject` wrote with the same schema, or a part of it. Omits the
 * checks that only text of clients needs.
 * @throws JsonSyntaxError when the text is not JSON
 * @throws DecodeError when the object does not fit the schema
 */
export function decodeEncoded(bytes: Buffer, schema: Struct): Record<string, unknown> {
  // The depth was checked when the object was decoded first.
  if (schema.custom !== undefined)
    return decodeCustom({ value: parseEncoded(bytes, asGoNumbers), duplicates: [] }, schema.custom, 0).object;
  return new Decoder(undefined).decode(parseEncoded(bytes), schema);
}

/**
 * Decodes a stored object of a custom resource. Values that do not fit a newer schema are removed.
 * @throws JsonSyntaxError when the text is not JSON
 * @throws DecodeError when the object does not fit the schema
 */
export function decodeStored(bytes: Buffer, custom: CustomForm): Record<string, unknown> {
  const document = parseDocument(bytes);
  const { value, duplicates } = parsedJson(document);
  const json = { value: document.repeated === undefined ? value : asGoNumbers(value), duplicates };
  return decodeCustom(json, { conform: restoring(custom) }, document.depth).object;
}

/**
 * Decodes a parsed stored object of a custom resource, in place. Values that do not fit a newer schema are removed.
 * @throws DecodeError when the object does not fit the schema
 */
export function restoreStored(value: unknown, custom: CustomForm): Record<string, unknown> {
  return decodeCustom({ value, duplicates: [] }, { conform: restoring(custom) }).object;
}

const restoring =
  ({ restore }: CustomForm) =>
  (object: Record<string, unknown>): readonly string[] => {
    restore(object);
    return [];
  };

/**
 * Decodes a parsed document by a schema.
 * @param document becomes part of the result; do not use it again
 * @throws JsonSyntaxError when the text is not JSON
 * @throws DecodeError when the object does not fit the schema
 */
export function decodeDocument(document: Document, schema: Struct): Decoded {
  if (schema.custom !== undefined) return decodeCustom(goJson(document), schema.custom, document.depth);
  const decoder = new Decoder(document.repeated);
  const object = decodeUnlessRepeated(decoder, document, schema);
  if (object === undefined || (document.repeated === undefined && decoder.members !== document.members)) {
    return decodeDocument(exactDocument(document.bytes), schema);
  }
  return { object, problems: decoder.problems };
}

/** A custom resource keeps Go's types of numbers until it is encoded. */
function goJson(document: Document): ParsedJson {
  const json = exactJson(document);
  return json.repeated === undefined ? json : { ...json, value: asGoNumbers(json.value) };
}

/**
 * @returns undefined when the value does not fit, and a repeated key that was dropped may have an
 *   earlier error
 * @throws DecodeError
 */
function decodeUnlessRepeated(
  decoder: Decoder,
  { value, repeated }: Document,
  schema: Struct,
): Record<string, unknown> | undefined {
  try {
    return decoder.decode(value, schema);
  } catch (error) {
    if (error instanceof DecodeError && repeated === undefined) return undefined;
    throw error;
  }
}

/** How {@link conform} decodes. */
export interface ConformOptions {
  /** How many problems are reported. */
  readonly limit?: number;
  /**
   * Whether numbers without a fraction are converted to integers as Go converts them, which keeps the lower 32 bits of
   * larger ones, instead of being rejected. Source: k8s.io/apimachinery@v0.36.0/pkg/runtime/converter.go.
   */
  readonly convertsIntegers?: boolean;
}

/**
 * Decodes a value that is already parsed, such as the result of a patch.
 * @param value changed in place; it can contain NumberLiterals
 * @throws DecodeError when the object does not fit the schema
 */
export function conform(value: unknown, schema: Struct, options: ConformOptions = {}): Decoded {
  if (schema.custom !== undefined)
    return decodeCustom({ value: convertNumbers(value, asGoNumbers), duplicates: [] }, schema.custom);
  const decoder = new Decoder(noRepeats, options);
  return { object: decoder.decode(value, schema), problems: decoder.problems };
}

const noRepeats: ReadonlyMap<object, readonly Member[]> = new Map();

/** @param depth the levels of the value, if known */
function decodeCustom(
  { value, duplicates }: ParsedJson,
  custom: Pick<CustomForm, "conform">,
  depth = Number.POSITIVE_INFINITY,
): Decoded {
  if (!isObject(value))
    throw new DecodeError(`json: cannot unmarshal ${describe(value)} into Go value of type ${goMapType}`);
  if (depth > retainedDepthMax) countWithin(value, retainedDepthMax);
  return { object: value, problems: [...duplicates, ...custom.conform(value)].slice(0, problemsMax) };
}
