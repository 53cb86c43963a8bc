/** Patches one object (PATCH): an update whose new object is computed from the current one. */
import { type ApiError, invalid, notFound } from "../apimachinery/errors.ts";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import { formatGroupVersion, type KubeObject } from "../apimachinery/object.ts";
import type { Catalog, Resolved } from "../catalog/contract.ts";
import { conform, type Decoded, DecodeError, decodeJson } from "../lib/schema/decode.ts";
import { encodeObject } from "../lib/schema/encode.ts";
import { checkCustomType, type ExpectedKind, isReportedWithoutSchema, strictError } from "./body-kind.ts";
import type { FieldValidation, RegistryContext, WriteRequest, Written } from "./contract.ts";
import { expectedKind, toStorageVersion, withMetadata } from "./decode-body.ts";
import type { Patched, Patcher } from "./patch/contract.ts";
import { asInternal, type PatchedType, readPatchedType, throwMissingVersion } from "./patch/patched-type.ts";
import { checkNames } from "./prepare.ts";
import { storedResource } from "./resource-names.ts";
import { update } from "./update.ts";

/** A patch of any type. */
export interface PatchRequest extends WriteRequest {
  readonly patcher: Patcher;
  readonly fieldValidation: FieldValidation;
  /** A resourceVersion, bare or quoted, that the object must have. */
  readonly ifMatch?: string | undefined;
}

/**
 * Patches one object.
 * @throws ApiError 400, 403 (admission), 404, 409, 413, 422
 */
export function patch(registry: RegistryContext, request: PatchRequest): Promise<Written> {
  const { target } = request;
  return update(registry, {
    ...request,
    isPatch: true,
    async next(current, _old, pause) {
      if (current === undefined) throw notFound(storedResource(target.resource), request.name);
      if (pause !== undefined) {
        request.patcher.read?.();
        await pause();
      }
      const patching = { ...request, pause };
      const patched = await patchTree(
        registry.catalog,
        patching,
        () => atVersion(current(), target),
        expectedKind(target),
      );
      checkNames(patched, request); // Before defaults, which may read the name.
      await pause?.();
      return toStorageVersion(patched, target);
    },
  });
}

type PatchTreeRequest = Pick<PatchRequest, "patcher" | "fieldValidation" | "warnings" | "pause">;

/**
 * Applies the patch and validates the form of the result.
 * @param current returns a new copy at the expected version, at each call
 * @throws ApiError 400, 413, 422; 500 for a custom object without a version
 */
export async function patchTree(
  catalog: Catalog,
  request: PatchTreeRequest,
  current: () => KubeObject,
  expected: ExpectedKind,
): Promise<KubeObject> {
  const apply = (): Patched => request.patcher.apply({ current: current(), schema: expected.schema });
  // Decoding changes the document, and its text is expensive: an error that needs it patches again.
  let described: string | undefined;
  const describe = (): string => {
    described ??= apply().describe();
    return described;
  };
  const invalidPatchError = (why: string): ApiError => invalidPatch(describe(), why);
  const patched = apply();
  await request.pause?.();
  const patchedType = request.patcher.keepsType
    ? undefined
    : readPatchedType({ document: patched.document, describe, invalidPatchError }, expected, catalog);
  const decoded =
    patchedType?.isInternal === true
      ? asInternal(JSON.parse(describe()) as object)
      : await conformPatched(request, { patched, apply, describe }, expected);
  if (request.fieldValidation !== "Ignore") {
    const problems = [...patched.problems, ...unknownFields(decoded, patchedType, expected, describe)];
    if (problems.length > 0 && request.fieldValidation === "Strict") throw invalidPatchError(strictError(problems));
    request.warnings.push(...problems);
  }
  if (patchedType?.lacksVersion === true) throwMissingVersion();
  const object = withMetadata(decoded.object);
  if (patchedType?.isCustom === true) checkCustomType(object, expected);
  object.kind = expected.kind;
  object.apiVersion = formatGroupVersion(expected.group, expected.version);
  return object;
}

/** In upstream's order: as in the text that it decodes, otherwise by name. */
function unknownFields(
  { problems }: Decoded,
  patchedType: PatchedType | undefined,
  { schema }: ExpectedKind,
  describe: () => string,
): readonly string[] {
  if (problems.length === 0 || patchedType?.lacksVersion === true) return [];
  if (patchedType?.isForeign === true) return problems.filter(isReportedWithoutSchema).sort();
  if (patchedType === undefined || patchedType.isCustom) return problems.sort();
  return patchedType.isInternal ? problems : decodeJson(Buffer.from(describe()), schema).problems;
}

/** Upstream's converter reports all; its JSON decoder 100. */
const converterProblemsMax = 10_000;

interface Patching {
  readonly patched: Patched;
  readonly apply: () => Patched;
  readonly describe: () => string;
}

/** @throws ApiError 422 */
async function conformPatched(
  { pause }: PatchTreeRequest,
  { patched, apply, describe }: Patching,
  expected: ExpectedKind,
): Promise<Decoded> {
  const convertsIntegers = patched.problem !== undefined;
  try {
    if (patched.hasRepeats === true) return decodeJson(Buffer.from(describe()), expected.schema);
    return conform(patched.document, expected.schema, { limit: converterProblemsMax, convertsIntegers });
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
  }
  await pause?.();
  if (patched.problem !== undefined) throw invalidPatch(describe(), misfitOf(apply(), expected));
  const text = Buffer.from(describe());
  await pause?.();
  throw invalidPatch(describe(), misfitOfText(text, expected));
}

/** Why a document does not fit the kind: the first error that upstream's converter finds. */
function misfitOf(patched: Patched, { schema }: ExpectedKind): string {
  return patched.problem?.() ?? messageOf(() => conform(patched.document, schema, { convertsIntegers: true }));
}

/** The first error in the text that upstream decodes. */
function misfitOfText(text: Buffer, { schema }: ExpectedKind): string {
  return messageOf(() => decodeJson(text, schema));
}

function messageOf(decode: () => unknown): string {
  try {
    decode();
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
  throw new TypeError("what did not fit fits");
}

/** Upstream's error about a patched document does not name a kind. */
function invalidPatch(value: string, why: string): ApiError {
  const errors = new FieldErrors();
  errors.invalid("patch", value, why);
  const invalidPatchError = invalid("", "", "", errors.causes);
  invalidPatchError.status.messageWithoutObjects = `"" is invalid: patch: Invalid value: ${why}`;
  return invalidPatchError;
}

/**
 * The object at the request's version.
 * @param object in the storage version; must not be used afterwards
 */
export function atVersion(object: KubeObject, { resource, version }: Resolved): KubeObject {
  const { resourceVersion } = object.metadata;
  let shown = object;
  if (version.conversion !== undefined) {
    // Through JSON, so that a patch can address fields that are always written.
    shown = decodeJson(encodeObject(version.conversion.fromStorage(object), version.schema).json, version.schema)
      .object as KubeObject;
    if (resourceVersion !== undefined) shown.metadata.resourceVersion = resourceVersion;
  }
  shown.kind = resource.definition.kind;
  shown.apiVersion = formatGroupVersion(resource.definition.group, version.version);
  return shown;
}
