/** What a patched document says it is. Upstream reads it as it reads a body, but that it takes the stored kind for the one to be filled in. */
import { type ApiError, internalError } from "../../apimachinery/errors.ts";
import { parseGroupVersion } from "../../apimachinery/object.ts";
import type { Catalog } from "../../catalog/contract.ts";
import { sortedKeys } from "../../lib/json/encode-any.ts";
import { exactType, type TypeMeta, TypeMetaError, typeMetaOf } from "../../lib/json/parse.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { isObject } from "../../lib/json/values.ts";
import type { Decoded } from "../../lib/schema/decode.ts";
import type { ExpectedKind } from "../decode-body.ts";
import { internalKindProblem, kindProblem, nullVersion } from "../kind-problem.ts";

export interface PatchedType {
  /** Its version was taken away: upstream reads it as a type without JSON names then. */
  readonly isInternal: boolean;
  /** Its kind and version are left to the validation of custom resources. */
  readonly isCustom: boolean;
  /** A custom resource that says it is of another kind or group, for which there is no schema. */
  readonly isForeign: boolean;
  /** A custom resource without a version, which upstream finds out when it wants to store it. */
  readonly lacksVersion: boolean;
}

export interface PatchedDocument {
  readonly document: unknown;
  describe(): string;
  /** Of the patch, with a reason. */
  refusal(why: string): ApiError;
}

/** @throws ApiError 422 where it is no such kind */
export function readPatchedType(
  { document, describe, refusal }: PatchedDocument,
  expected: ExpectedKind,
  catalog: Catalog,
): PatchedType {
  const isCustom = expected.schema.custom !== undefined;
  const { apiVersion, kind } = isCustom ? exactType(document, typeOf(document, refusal)) : typeOf(document, refusal);
  if (isCustom && kind === "") throw refusal(`Object 'Kind' is missing in '${describe()}'`);
  if (isCustom && isObject(document) && document.apiVersion === null) throw refusal(nullVersion);
  const named = apiVersion === "" ? expected : parseGroupVersion(apiVersion);
  if (named === undefined) throw refusal(`unexpected GroupVersion string: ${apiVersion}`);
  const given = { group: named.group, version: named.version, kind: kind === "" ? expected.kind : kind };
  const isInternal = apiVersion === "" && !isCustom && expected.isHub !== true;
  const problem = isInternal
    ? internalKindProblem(given, expected, catalog)
    : kindProblem(given, expected, catalog)?.why;
  if (problem !== undefined && !isCustom) throw refusal(problem);
  const isForeign = isCustom && (given.kind !== expected.kind || given.group !== expected.group);
  return { isInternal, isCustom, isForeign, lacksVersion: isCustom && apiVersion === "" };
}

function typeOf(document: unknown, refusal: (why: string) => ApiError): TypeMeta {
  try {
    return typeMetaOf(isObject(document) ? inOrder(document) : document);
  } catch (error) {
    if (error instanceof TypeMetaError) throw refusal(error.message);
    throw error;
  }
}

/** As upstream has written it: where a name is there in several cases, the last one counts. */
const inOrder = (document: Record<string, unknown>): object =>
  Object.fromEntries(sortedKeys(document).map((key) => [key, document[key]]));

/** @throws ApiError 500, as upstream has it */
export function refuseWithoutVersion(): never {
  throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
}

/** Such a type knows none of the fields; what is left has no name. @param document with what is written always */
export function asInternal(document: object): Decoded {
  const unknown = sortedKeys(document as Record<string, unknown>).filter(
    (name) => name !== "kind" && name !== "apiVersion",
  );
  return { object: {}, problems: unknown.map((name) => `unknown field ${quoteGo(name)}`) };
}
