/**
 * The kind that a patched document names. It is read like that of a body, but defaults to the
 * stored kind.
 */
import { type ApiError, internalError } from "../../apimachinery/errors.ts";
import { parseGroupVersion } from "../../apimachinery/object.ts";
import type { Catalog } from "../../catalog/contract.ts";
import { sortedKeys } from "../../lib/json/encode-any.ts";
import { exactType, type TypeMeta, TypeMetaError, typeMetaOf } from "../../lib/json/parse.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { isObject } from "../../lib/json/values.ts";
import type { Decoded } from "../../lib/schema/decode.ts";
import { type ExpectedKind, internalKindProblem, kindProblem, nullVersion } from "../body-kind.ts";

/** How upstream decodes a patched document. */
export interface PatchedType {
  /** The patch removed its version: upstream decodes it as an internal type, without JSON names. */
  readonly isInternal: boolean;
  /** Validation of custom resources checks its kind and version. */
  readonly isCustom: boolean;
  /** A custom resource that names another kind or group, for which there is no schema. */
  readonly isForeign: boolean;
  /** A custom resource without a version, which upstream rejects when it stores it. */
  readonly lacksVersion: boolean;
}

/** A patched document and its errors. */
interface PatchedDocument {
  readonly document: unknown;
  describe(): string;
  /** An error of the patch. */
  invalidPatchError(why: string): ApiError;
}

/** @throws ApiError 422 when the document names another kind */
export function readPatchedType(
  { document, describe, invalidPatchError }: PatchedDocument,
  expected: ExpectedKind,
  catalog: Catalog,
): PatchedType {
  const isCustom = expected.schema.custom !== undefined;
  const { apiVersion, kind } = isCustom
    ? exactType(document, typeOf(document, invalidPatchError))
    : typeOf(document, invalidPatchError);
  if (isCustom && kind === "") throw invalidPatchError(`Object 'Kind' is missing in '${describe()}'`);
  if (isCustom && isObject(document) && document.apiVersion === null) throw invalidPatchError(nullVersion);
  const named = apiVersion === "" ? expected : parseGroupVersion(apiVersion);
  if (named === undefined) throw invalidPatchError(`unexpected GroupVersion string: ${apiVersion}`);
  const namedType = { group: named.group, version: named.version, kind: kind === "" ? expected.kind : kind };
  const isInternal = apiVersion === "" && !isCustom && expected.isHub !== true;
  const problem = isInternal
    ? internalKindProblem(namedType, expected, catalog)
    : kindProblem(namedType, expected, catalog)?.why;
  if (problem !== undefined && !isCustom) throw invalidPatchError(problem);
  const isForeign = isCustom && (namedType.kind !== expected.kind || namedType.group !== expected.group);
  return { isInternal, isCustom, isForeign, lacksVersion: isCustom && apiVersion === "" };
}

function typeOf(document: unknown, invalidPatchError: (why: string) => ApiError): TypeMeta {
  try {
    return typeMetaOf(isObject(document) ? inOrder(document) : document);
  } catch (error) {
    if (error instanceof TypeMetaError) throw invalidPatchError(error.message);
    throw error;
  }
}

/** In upstream's order: of names that differ in case only, the last one counts. */
const inOrder = (document: Record<string, unknown>): object =>
  Object.fromEntries(sortedKeys(document).map((key) => [key, document[key]]));

/** @throws ApiError 500, as upstream */
export function throwMissingVersion(): never {
  throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
}

/**
 * An internal type has no JSON names, so that every field is unknown.
 * @param document with fields that are always written
 */
export function asInternal(document: object): Decoded {
  const unknown = sortedKeys(document as Record<string, unknown>).filter(
    (name) => name !== "kind" && name !== "apiVersion",
  );
  return { object: {}, problems: unknown.map((name) => `unknown field ${quoteGo(name)}`) };
}
