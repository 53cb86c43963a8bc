/**
 * Decodes configuration files of the server strictly, by kind and version. Messages are those of
 * the strict codecs in k8s.io/apimachinery@v0.36.0/pkg/runtime/serializer.
 */
import {
  type Document,
  JsonSyntaxError,
  peekTypeMeta,
  type TypeMeta,
  TypeMetaError,
  typeMetaOf,
} from "../lib/json/parse.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { type Decoded, DecodeError, decodeDocument } from "../lib/schema/decode.ts";
import type { Struct } from "../lib/schema/schema.ts";
import { decodeYaml, strictYamlError, YamlError } from "../lib/yaml/decode.ts";
import type { FieldErrors } from "./field-errors.ts";
import { parseGroupVersion } from "./object.ts";

/** A kind that a configuration file can have. */
export interface ConfigurationKind {
  /** For example `apiserver.config.k8s.io/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: Struct;
}

/** A decoded configuration file. */
export interface Configuration extends TypeMeta {
  /** Fields have the types of the schema. The caller can change the object. */
  readonly object: Record<string, unknown>;
}

/** The file cannot be decoded. The message is upstream's. */
export class ConfigurationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConfigurationError";
  }
}

/** The file names no kind, no version, or a kind that is not accepted. */
export class UnknownKindError extends ConfigurationError {}

/** @returns all errors as one message, as upstream reports them; undefined if there are none */
export function aggregated({ empty, text }: FieldErrors): string | undefined {
  return empty ? undefined : text;
}

/**
 * Decodes a configuration file.
 *
 * @param bytes JSON or YAML; only the first of several YAML documents is read
 * @param kinds the accepted kinds
 * @param scheme the name of upstream's scheme that registers the kinds, for messages
 * @param options `strict: false` ignores unknown and duplicate fields, for the kinds whose files
 *   upstream decodes so
 * @throws ConfigurationError for malformed files, other kinds, unknown fields and duplicate fields
 */
export function decodeConfiguration(
  bytes: Buffer,
  kinds: readonly ConfigurationKind[],
  scheme: string,
  { strict = true }: { readonly strict?: boolean } = {},
): Configuration {
  const { document, strictErrors, apiVersion, kind } = readText(bytes);
  if (kind === "") throw new UnknownKindError(`Object 'Kind' is missing in '${bytes.toString()}'`);
  if (apiVersion === "") throw new UnknownKindError(`Object 'apiVersion' is missing in '${bytes.toString()}'`);
  if (parseGroupVersion(apiVersion) === undefined)
    throw new ConfigurationError(`unexpected GroupVersion string: ${apiVersion}`);
  const found = kinds.find((one) => one.apiVersion === apiVersion && one.kind === kind);
  if (found === undefined)
    throw new UnknownKindError(
      `no kind ${quoteGo(kind)} is registered for version ${quoteGo(apiVersion)} in scheme ${quoteGo(scheme)}`,
    );
  const { object, problems } = decode(document, found.schema);
  const all = strictErrors.length === 0 ? problems : [strictYamlError(strictErrors), ...problems];
  if (strict && all.length > 0) throw new ConfigurationError(`strict decoding error: ${all.join(", ")}`);
  return { apiVersion, kind, object };
}

interface Text extends TypeMeta {
  readonly document: Document;
  readonly strictErrors: readonly string[];
}

function readText(bytes: Buffer): Text {
  try {
    if (/^\s*\{/.test(bytes.subarray(0, 1024).toString())) return { ...peekTypeMeta(bytes), strictErrors: [] };
    const { value, strictErrors } = decodeYaml(bytes);
    return { ...typeMetaOf(value), document: { bytes, value, members: 0, repeated: new Map() }, strictErrors };
  } catch (error) {
    if (error instanceof TypeMetaError || error instanceof YamlError) throw new ConfigurationError(error.message);
    throw error;
  }
}

function decode(document: Document, schema: Struct): Decoded {
  try {
    return decodeDocument(document, schema);
  } catch (error) {
    if (error instanceof DecodeError || error instanceof JsonSyntaxError) throw new ConfigurationError(error.message);
    throw error;
  }
}
