/**
 * Decodes one CBOR item to a plain object, with or without a schema. Rejects what upstream's
 * decoder rejects, with its messages. Decoding continues after a problem, and of several problems
 * the same one as upstream's is reported. Strings may be text or byte strings; bytes are base64
 * text unless a tag declares another encoding.
 * Source: k8s.io/apimachinery@v0.36.0/pkg/runtime/serializer/cbor; fxamacker/cbor as configured
 * there.
 */
import type { Struct } from "../schema/schema.ts";
import { Decoder } from "./decoder.ts";
import { checkWellFormed } from "./well-formed.ts";
import { CborError } from "./wire.ts";

interface DecodedCbor {
  /** The object; the caller may change it. */
  readonly object: Record<string, unknown>;
  /** The first unknown field, in upstream's words; empty unless strict. */
  readonly problems: readonly string[];
}

/**
 * Decodes an item by a schema.
 * @param options.strict whether to report an unknown field
 * @throws CborError
 */
export function decodeCbor(bytes: Buffer, schema: Struct, { strict }: { readonly strict: boolean }): DecodedCbor {
  checkWellFormed(bytes);
  const { object, unknown } = new Decoder(bytes, { strict }).struct(schema);
  if (unknown === undefined) return { object, problems: [] };
  return { object: new Decoder(bytes, { strict: false }).struct(schema).object, problems: [unknown] };
}

/**
 * Decodes a map without a schema; null counts as an empty map.
 * @param options.keepsFloats whether floats without a fraction become NumberLiterals, not integers
 * @throws CborError
 */
export function decodeAnyCbor(bytes: Buffer, { keepsFloats = false } = {}): Record<string, unknown> {
  checkWellFormed(bytes);
  return new Decoder(bytes, { strict: false, keepsFloats }).map();
}

/**
 * Decodes the apiVersion and kind of an object; empty when absent.
 * @throws CborError
 */
export function cborTypeMeta(bytes: Buffer): { readonly apiVersion: string; readonly kind: string } {
  try {
    const { object } = decodeCbor(bytes, typeMeta, { strict: false });
    return {
      apiVersion: (object.apiVersion as string | undefined) ?? "",
      kind: (object.kind as string | undefined) ?? "",
    };
  } catch (error) {
    if (error instanceof CborError) throw new CborError(`unable to determine group/version/kind: ${error.message}`);
    throw error;
  }
}

const text = { kind: "string" } as const;
const typeMetaFields = ["kind", "apiVersion"].map((name) => ({
  ...{ name, type: text, pointer: false, omitEmpty: true, omitZero: false, required: false },
}));
const typeMeta: Struct = {
  ...{ kind: "struct", definition: "TypeMeta", goType: "v1.TypeMeta", atomic: false, preserveUnknown: false },
  fields: typeMetaFields,
  byName: new Map(typeMetaFields.map((field) => [field.name, field])),
};
