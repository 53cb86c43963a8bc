/**
 * The encodings of stored built-in objects. Like upstream's chain of decoders, recognizes protobuf and
 * JSON by their first bytes, and tries YAML and then base64 of any of them for all other values.
 */
import { type Document, peekTypeMeta, type TypeMeta, TypeMetaError, typeMetaOf } from "../lib/json/parse.ts";
import { decodeStoredProtobuf } from "../lib/protobuf/decode.ts";
import { hasMagic, readEnvelope } from "../lib/protobuf/envelope.ts";
import { Base64Error, canonicalizeBase64 } from "../lib/schema/base64.ts";
import { DecodeError, decodeDocument } from "../lib/schema/decode.ts";
import type { Struct } from "../lib/schema/schema.ts";
import { decodeYaml, YamlError } from "../lib/yaml/decode.ts";

/** A value whose kind is known, but not its content. */
export interface EncodedObject {
  /** Empty when absent; so is `kind`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly isProtobuf: boolean;
  /**
   * Decodes the content; called once.
   * @throws DecodeError, JsonSyntaxError, ProtobufError
   */
  decode(schema: Struct): Record<string, unknown>;
}

/**
 * Reads the kind of a value.
 * @throws ProtobufError, TypeMetaError, DecodeError with upstream's messages
 */
export function readEncoded(value: Buffer): EncodedObject {
  if (hasMagic(value)) return readProtobuf(value);
  if (isJson(value)) return ofDocument(peekTypeMeta(value));
  return readYaml(value) ?? readWrapped(value);
}

function readProtobuf(value: Buffer): EncodedObject {
  const { apiVersion, kind, raw } = readEnvelope(value);
  const decode = (schema: Struct) => decodeStoredProtobuf(raw, schema);
  return { apiVersion, kind, isProtobuf: true, decode };
}

/** @returns undefined when the value is no object in YAML */
function readYaml(value: Buffer): EncodedObject | undefined {
  try {
    const { value: parsed } = decodeYaml(value);
    return ofDocument({
      ...typeMetaOf(parsed),
      document: { bytes: value, value: parsed, members: 0, repeated: new Map() },
    });
  } catch (error) {
    if (error instanceof YamlError || error instanceof TypeMetaError) return undefined;
    throw error;
  }
}

/** Reads base64, in which an etcd of version 2 held protobuf. Upstream unwraps it once. */
function readWrapped(value: Buffer): EncodedObject {
  const inner = Buffer.from(decodeBase64(value.toString("latin1")), "base64");
  if (hasMagic(inner)) return readProtobuf(inner);
  if (isJson(inner)) return ofDocument(peekTypeMeta(inner));
  const read = readYaml(inner);
  if (read === undefined) throw new DecodeError("no serialization format matched the provided data");
  return read;
}

/** @throws DecodeError */
function decodeBase64(text: string): string {
  try {
    return canonicalizeBase64(text);
  } catch (error) {
    if (error instanceof Base64Error) throw new DecodeError(error.message);
    throw error;
  }
}

function ofDocument({ apiVersion, kind, document }: TypeMeta & { readonly document: Document }): EncodedObject {
  const decode = (schema: Struct) => (document.value === null ? {} : decodeDocument(document, schema).object);
  return { apiVersion, kind, isProtobuf: false, decode };
}

const whitespace: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20]);

function isJson(value: Buffer): boolean {
  let at = 0;
  while (whitespace.has(value[at] as number)) at++;
  return value[at] === 0x7b;
}
