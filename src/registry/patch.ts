/** Patches one object (PATCH): an update whose object is made from the present one. Source: resource-api §4.5, §4.10; apiserver's patch handler. */
import { type ApiError, invalid } from "../api/errors.ts";
import { FieldErrors } from "../api/field-errors.ts";
import { formatGroupVersion, type KubeObject, parseGroupVersion } from "../api/object.ts";
import { encodeSorted } from "../lib/json/encode-any.ts";
import { parseJson } from "../lib/json/parse.ts";
import { conform, type Decoded, DecodeError, decodeJson } from "../lib/schema/decode.ts";
import { encodeObject } from "../lib/schema/encode.ts";
import type { Catalog, Resolved } from "../resource/contract.ts";
import type { FieldValidation, RegistryContext, WriteRequest, Written } from "./contract.ts";
import { checkCustomType, type ExpectedKind, expectedKind, kindProblem, strictError, toStorageVersion, withMetadata } from "./decode-body.ts";
import type { Patched, Patcher } from "./patch/contract.ts";
import { checkNames } from "./preconditions.ts";
import { update } from "./update.ts";

export interface PatchRequest extends WriteRequest {
  readonly patcher: Patcher;
  readonly fieldValidation: FieldValidation;
  /** A resourceVersion, bare or quoted, the object must have. */
  readonly ifMatch?: string | undefined;
}

/** @throws ApiError 400, 403 (admission), 404, 409, 413, 422 */
export function patch(registry: RegistryContext, request: PatchRequest): Promise<Written> {
  const { target, patcher } = request;
  return update(registry, {
    ...request,
    createsMissing: patcher.createsMissing,
    next(current) {
      const patched = patchTree(registry.catalog, request, () => current && atVersion(current(), target), expectedKind(target));
      checkNames(patched, request); // Before defaults, which may read the name.
      return toStorageVersion(patched, target);
    },
  });
}

export type PatchTreeRequest = Pick<PatchRequest, "patcher" | "fieldValidation" | "warnings">;

/**
 * Applies the patch and checks the outcome.
 * @param current a fresh copy at the expected version, at each call; undefined when there is no object
 * @throws ApiError 400, 413, 422
 */
export function patchTree(catalog: Catalog, request: PatchTreeRequest, current: () => KubeObject | undefined, expected: ExpectedKind): KubeObject {
  const apply = (): Patched => request.patcher.apply({ current: current(), schema: expected.schema });
  // Checking changes the document, and telling it is dear: whoever must tell it patches again.
  const describe = (): string => (expected.schema.custom === undefined ? apply().describe() : sortedText(apply().describe()));
  const refusal = (why: string): ApiError => invalidPatch(describe(), why);
  const patched = apply();
  const decoded = conformPatched(patched, expected, catalog, refusal);
  const problems = [...patched.problems, ...decoded.problems.sort()];
  if (problems.length > 0 && request.fieldValidation !== "Ignore") {
    if (request.fieldValidation === "Strict") throw refusal(strictError(problems));
    request.warnings.push(...problems);
  }
  const object = withMetadata(decoded.object);
  object.kind = expected.kind;
  object.apiVersion = formatGroupVersion(expected.group, expected.version);
  return object;
}

function conformPatched({ document, explain }: Patched, expected: ExpectedKind, catalog: Catalog, refusal: (why: string) => ApiError): Decoded {
  let decoded: Decoded;
  try {
    decoded = conform(document, expected.schema);
  } catch (error) {
    if (error instanceof DecodeError) throw refusal(explain(error.message));
    throw error;
  }
  const problem = kindChanged(decoded.object, expected, catalog);
  if (problem !== undefined) {
    if (expected.schema.custom !== undefined) checkCustomType(decoded.object, expected);
    throw refusal(problem);
  }
  return decoded;
}

/** Custom resources are written with all keys sorted. @param text one JSON value */
const sortedText = (text: string): string => encodeSorted(parseJson(Buffer.from(text)).value);

/** A patch may leave out what kind of object it is, not change it. */
function kindChanged({ kind, apiVersion }: Record<string, unknown>, expected: ExpectedKind, catalog: Catalog): string | undefined {
  const named = typeof apiVersion === "string" && apiVersion !== "" ? parseGroupVersion(apiVersion) : expected;
  if (named === undefined) return `unexpected GroupVersion string: ${apiVersion}`;
  const given = { group: named.group, version: named.version, kind: typeof kind === "string" && kind !== "" ? kind : expected.kind };
  return kindProblem(given, expected, catalog)?.why;
}

/** Upstream's error about a patched document names no kind. */
function invalidPatch(value: string, why: string): ApiError {
  const errors = new FieldErrors();
  errors.invalid("patch", value, why);
  const refusal = invalid("", "", "", errors.causes);
  refusal.status.messageWithoutObjects = `"" is invalid: patch: Invalid value: ${why}`;
  return refusal;
}

/** The object as the request's version shows it. @param object in the storage version; used up */
export function atVersion(object: KubeObject, { resource, version }: Resolved): KubeObject {
  const { resourceVersion } = object.metadata;
  let shown = object;
  if (version.conversion !== undefined) {
    // As JSON, so that paths into what is always written are there.
    shown = decodeJson(encodeObject(version.conversion.fromStorage(object), version.schema).json, version.schema).object as KubeObject;
    if (resourceVersion !== undefined) shown.metadata.resourceVersion = resourceVersion;
  }
  shown.kind = resource.definition.kind;
  shown.apiVersion = formatGroupVersion(resource.definition.group, version.version);
  return shown;
}
