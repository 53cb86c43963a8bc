/**
 * Decodes the body of a create or an update by media type, and converts the object to the storage
 * version.
 */
import { formatGroupVersion, type KubeObject } from "../apimachinery/object.ts";
import type { Catalog, Resolved } from "../catalog/contract.ts";
import { cborType } from "../lib/cbor/media-types.ts";
import { isProtobuf } from "../lib/protobuf/media-types.ts";
import { applyDefaults } from "../lib/schema/defaults.ts";
import { checkCustomType, type ExpectedKind } from "./body-kind.ts";
import type { FieldValidation } from "./contract.ts";
import { decodeCborBody } from "./decode-cbor.ts";
import { decodeProtobufBody } from "./decode-protobuf.ts";
import { decodeTextBody } from "./decode-text.ts";

/** How a request body is decoded. */
export interface DecodeOptions {
  /** The body's media type without parameters; empty for JSON. */
  readonly mediaType: string;
  readonly catalog: Catalog;
  readonly fieldValidation: FieldValidation;
  /** Receives the problems that are not errors. */
  readonly warnings: string[];
  /** Receives the object; `again` decodes another copy, which may be changed. */
  readonly decoded?: (object: KubeObject, expected: ExpectedKind, again: () => KubeObject) => void;
  /**
   * Compares the object's name and namespace with those of the path, before the kind of a custom
   * resource is validated.
   * @throws ApiError 400
   */
  readonly checkNames?: (object: KubeObject) => void;
}

/** What a decoder returns. */
export interface DecodedBody {
  /** As the body names it. */
  readonly kind: string;
  readonly object: Record<string, unknown>;
}

/**
 * Decodes the body of a create or an update.
 * @returns the object at the expected version, without defaults, with metadata
 * @throws ApiError 400 with upstream's texts; 415 for a custom resource in Protobuf
 */
export function decodeBody(bytes: Buffer, expected: ExpectedKind, options: DecodeOptions): KubeObject {
  const { kind, object: decoded } = decodeBytes(bytes, expected, options);
  const object = withMetadata(decoded);
  options.decoded?.(object, expected, () =>
    withMetadata(decodeBytes(bytes, expected, { ...options, warnings: [] }).object),
  );
  options.checkNames?.(object);
  if (expected.schema.custom !== undefined) checkCustomType({ kind, metadata: object.metadata }, expected);
  return object;
}

function decodeBytes(bytes: Buffer, expected: ExpectedKind, options: DecodeOptions): DecodedBody {
  const { mediaType, catalog } = options;
  if (isProtobuf(mediaType)) return { kind: expected.kind, object: decodeProtobufBody(bytes, expected, catalog) };
  return mediaType === cborType ? decodeCborBody(bytes, expected, options) : decodeTextBody(bytes, expected, options);
}

/** Adds empty metadata to an object without any. */
export function withMetadata(object: Record<string, unknown>): KubeObject {
  object.metadata ??= {};
  return object as KubeObject;
}

/**
 * Sets the defaults of the request's version and converts the object to the storage version.
 * @param object must not be used afterwards
 */
export function toStorageVersion(object: KubeObject, { resource, version }: Resolved): KubeObject {
  const { definition, store } = resource;
  applyDefaults(object, version.schema);
  const stored = version.conversion?.toStorage(object) ?? object;
  definition.strategy.setDefaults(stored, store?.gates);
  const {
    group,
    version: storageVersion,
    kind,
  } = store?.form ?? { group: definition.group, version: version.version, kind: definition.kind };
  stored.kind = kind;
  stored.apiVersion = formatGroupVersion(group, storageVersion);
  return stored;
}
