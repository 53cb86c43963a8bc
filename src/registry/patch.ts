/** Patches one object (PATCH): an update whose object is made from the present one. Source: resource-api §4.5, §4.10; apiserver's patch handler. */
import { type ApiError, invalid, notFound } from "../apimachinery/errors.ts";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import { formatGroupVersion, type KubeObject } from "../apimachinery/object.ts";
import type { Catalog, Resolved } from "../catalog/contract.ts";
import { conform, type Decoded, DecodeError, decodeJson } from "../lib/schema/decode.ts";
import { encodeObject } from "../lib/schema/encode.ts";
import type { FieldValidation, RegistryContext, WriteRequest, Written } from "./contract.ts";
import {
  checkCustomType,
  type ExpectedKind,
  expectedKind,
  strictError,
  toStorageVersion,
  withMetadata,
} from "./decode-body.ts";
import { isToldOfAny } from "./kind-problem.ts";
import type { Patched, Patcher } from "./patch/contract.ts";
import { asInternal, type PatchedType, readPatchedType, refuseWithoutVersion } from "./patch/patched-type.ts";
import { checkNames } from "./preconditions.ts";
import { storedResource } from "./resource-names.ts";
import { update } from "./update.ts";

export interface PatchRequest extends WriteRequest {
  readonly patcher: Patcher;
  readonly fieldValidation: FieldValidation;
  /** A resourceVersion, bare or quoted, the object must have. */
  readonly ifMatch?: string | undefined;
}

/** @throws ApiError 400, 403 (admission), 404, 409, 413, 422 */
export function patch(registry: RegistryContext, request: PatchRequest): Promise<Written> {
  const { target } = request;
  return update(registry, {
    ...request,
    isPatch: true,
    next(current) {
      if (current === undefined) throw notFound(storedResource(target.resource), request.name);
      const patched = patchTree(registry.catalog, request, () => atVersion(current(), target), expectedKind(target));
      checkNames(patched, request); // Before defaults, which may read the name.
      return toStorageVersion(patched, target);
    },
  });
}

export type PatchTreeRequest = Pick<PatchRequest, "patcher" | "fieldValidation" | "warnings">;

/**
 * Applies the patch and checks the outcome.
 * @param current a fresh copy at the expected version, at each call
 * @throws ApiError 400, 413, 422
 */
export function patchTree(
  catalog: Catalog,
  request: PatchTreeRequest,
  current: () => KubeObject,
  expected: ExpectedKind,
): KubeObject {
  const apply = (): Patched => request.patcher.apply({ current: current(), schema: expected.schema });
  // Checking changes the document, and telling it is dear: whoever must tell it patches again.
  const describe = (): string => apply().describe();
  const refusal = (why: string): ApiError => invalidPatch(describe(), why);
  const patched = apply();
  const says = request.patcher.keepsType
    ? undefined
    : readPatchedType({ document: patched.document, describe, refusal }, expected, catalog);
  const decoded =
    says?.isInternal === true
      ? asInternal(JSON.parse(describe()) as object)
      : conformPatched(patched.document, expected, () => refusal(misfitOf(apply(), expected)));
  if (request.fieldValidation !== "Ignore") {
    const problems = [...patched.problems, ...unknownFields(decoded, says, expected, describe)];
    if (problems.length > 0 && request.fieldValidation === "Strict") throw refusal(strictError(problems));
    request.warnings.push(...problems);
  }
  if (says?.lacksVersion === true) refuseWithoutVersion();
  const object = withMetadata(decoded.object);
  if (says?.isCustom === true) checkCustomType(object, expected);
  object.kind = expected.kind;
  object.apiVersion = formatGroupVersion(expected.group, expected.version);
  return object;
}

/** In upstream's order: of the text that it decodes, or by name where there is none. */
function unknownFields(
  { problems }: Decoded,
  says: PatchedType | undefined,
  { schema }: ExpectedKind,
  describe: () => string,
): readonly string[] {
  if (problems.length === 0 || says?.lacksVersion === true) return [];
  if (says?.isForeign === true) return problems.filter(isToldOfAny).sort();
  if (says === undefined || says.isCustom) return problems.sort();
  return says.isInternal ? problems : decodeJson(Buffer.from(describe()), schema).problems;
}

/** Upstream's converter tells of all; its JSON decoder of 100. */
const converterProblemsMax = 10_000;

function conformPatched(document: unknown, expected: ExpectedKind, refusal: () => ApiError): Decoded {
  try {
    return conform(document, expected.schema, converterProblemsMax);
  } catch (error) {
    if (error instanceof DecodeError) throw refusal();
    throw error;
  }
}

/** Why a document is none of the kind: what comes first in the text that upstream decodes, or what its converter finds. */
function misfitOf(patched: Patched, { schema }: ExpectedKind): string {
  const problem = patched.problem?.();
  if (problem !== undefined) return problem;
  try {
    if (patched.problem === undefined) decodeJson(Buffer.from(patched.describe()), schema);
    else conform(patched.document, schema);
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
  throw new TypeError("what did not fit fits");
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
    shown = decodeJson(encodeObject(version.conversion.fromStorage(object), version.schema).json, version.schema)
      .object as KubeObject;
    if (resourceVersion !== undefined) shown.metadata.resourceVersion = resourceVersion;
  }
  shown.kind = resource.definition.kind;
  shown.apiVersion = formatGroupVersion(resource.definition.group, version.version);
  return shown;
}
