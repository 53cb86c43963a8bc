/** Configuration files of the server: decoded strictly, by kind and version. Source: apimachinery's strict codecs, whose texts these are. */
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

export interface ConfigurationKind {
  /** `apiserver.config.k8s.io/v1` */
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: Struct;
}

export interface Configuration extends TypeMeta {
  /** Checked against the schema: what is there has its type; the caller's to change. */
  readonly object: Record<string, unknown>;
}

/** The message is upstream's. */
export class ConfigurationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConfigurationError";
  }
}

/** What was collected, as upstream tells it at once: each text once. @returns undefined when there is nothing */
export function aggregated({ empty, text }: FieldErrors): string | undefined {
  return empty ? undefined : text;
}

/**
 * @param bytes JSON or YAML; of several YAML documents the first
 * @param kinds those that there are; others are refused
 * @param scheme what upstream calls the place where its kinds are registered
 * @throws ConfigurationError also for fields that are not known, or set twice
 */
export function decodeConfiguration(bytes: Buffer, kinds: readonly ConfigurationKind[], scheme: string): Configuration {
  const { document, strictErrors, apiVersion, kind } = readText(bytes);
  if (kind === "") throw new ConfigurationError(`Object 'Kind' is missing in '${bytes.toString()}'`);
  if (apiVersion === "") throw new ConfigurationError(`Object 'apiVersion' is missing in '${bytes.toString()}'`);
  if (parseGroupVersion(apiVersion) === undefined)
    throw new ConfigurationError(`unexpected GroupVersion string: ${apiVersion}`);
  const found = kinds.find((one) => one.apiVersion === apiVersion && one.kind === kind);
  if (found === undefined)
    throw new ConfigurationError(
      `no kind ${quoteGo(kind)} is registered for version ${quoteGo(apiVersion)} in scheme ${quoteGo(scheme)}`,
    );
  const { object, problems } = decode(document, found.schema);
  const all = strictErrors.length === 0 ? problems : [strictYamlError(strictErrors), ...problems];
  if (all.length > 0) throw new ConfigurationError(`strict decoding error: ${all.join(", ")}`);
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
