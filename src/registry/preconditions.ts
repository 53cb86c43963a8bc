/** The preconditions of writes on the existing object. */
import { type ApiError, conflict, invalid, objectModified, plainError } from "../apimachinery/errors.ts";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Resource } from "../catalog/contract.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { trimStartOf } from "../lib/text/trim.ts";
import type { DeletePreconditions, WriteRequest } from "./contract.ts";
import { storedKind, storedResource } from "./resource-names.ts";

/** The storage key as errors show it: without the prefix for a dry run. */
export function keyInErrors(key: string, { dryRun }: Pick<WriteRequest, "dryRun">): string {
  return dryRun ? key.slice("/registry".length) : key;
}

/**
 * @param key from {@link keyInErrors}
 * @param uid of the sent object, empty when it has none
 * @param existingUid empty when the object does not exist
 * @throws ApiError 409
 */
export function checkUid(resource: Resource, key: string, name: string, uid: string, existingUid: string): void {
  if (uid === "" || uid === existingUid) return;
  throw preconditionFailed(resource, key, name, `UID in precondition: ${uid}, UID in object meta: ${existingUid}`);
}

/**
 * Checks a resourceVersion for equality as text.
 * @throws ApiError 409
 */
export function checkStoredVersion(
  resource: Resource,
  key: string,
  name: string,
  version: string,
  existing: string,
): void {
  if (version === existing) return;
  throw preconditionFailed(
    resource,
    key,
    name,
    `ResourceVersion in precondition: ${version}, ResourceVersion in object meta: ${existing}`,
  );
}

function preconditionFailed(resource: Resource, key: string, name: string, why: string): ApiError {
  const text = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${why}`;
  return conflict(storedResource(resource), name, text);
}

/**
 * The optimistic lock of an update; sets the resourceVersion if it is absent and the kind allows
 * that.
 * @param revision of the existing object
 * @throws ApiError 409 when it differs, 422 when it is required, 500 when it is not a number
 */
export function checkVersion(resource: Resource, next: KubeObject, revision: number): void {
  const requested = parseResourceVersion(next.metadata.resourceVersion);
  const group = storedResource(resource);
  const name = next.metadata.name ?? "";
  if (requested === 0n) {
    if (!resource.definition.allowUnconditionalUpdate) {
      const errors = new FieldErrors();
      errors.invalid("metadata.resourceVersion", 0, "must be specified for an update");
      throw invalid(group.group, group.resource, name, errors.causes);
    }
    next.metadata.resourceVersion = String(revision);
  } else if (requested !== BigInt(revision)) throw conflict(group, name, objectModified);
}

/**
 * @returns 0 when it is absent
 * @throws ApiError 500 with Go's text when it is not an unsigned 64-bit number
 */
export function parseResourceVersion(text = ""): bigint {
  const value = text === "" ? 0n : findResourceVersion(text);
  if (value !== undefined) return value;
  const why = /^[0-9]+$/.test(text) ? "value out of range" : "invalid syntax";
  throw plainError(`strconv.ParseUint: parsing ${quoteGo(text)}: ${why}`);
}

/** @returns undefined when it is not an unsigned 64-bit number */
export function findResourceVersion(text: string): bigint | undefined {
  const digits = trimStartOf(text, "0");
  if (text === "" || digits.length > 20 || !/^[0-9]*$/.test(digits)) return undefined;
  const value = BigInt(digits);
  return value <= 0xffff_ffff_ffff_ffffn ? value : undefined;
}

/**
 * `If-Match`: a resourceVersion, bare or quoted. Undefined and `*` match every object.
 * @throws ApiError 409
 */
export function checkIfMatch(
  resource: Resource,
  name: string,
  ifMatch: string | undefined,
  revision: number | undefined,
): void {
  if (ifMatch === undefined || ifMatch === "*") return;
  const requested = ifMatch.replace(/^"(.*)"$/, "$1");
  if (revision === undefined || requested !== String(revision))
    throw conflict(storedResource(resource), name, objectModified);
}

/** @throws ApiError 409 with upstream's texts */
export function checkDeletePreconditions(
  resource: Resource,
  object: KubeObject,
  preconditions: DeletePreconditions | undefined,
): void {
  if (preconditions === undefined) return;
  const { name = "", uid = "", resourceVersion = "" } = object.metadata;
  if (isDeletedInSteps(resource)) return checkStepwiseDeletion(resource, object, preconditions);
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    const why = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid})`;
    throw conflict(storedKind(resource), name, `${why}. The object might have been deleted and then recreated`);
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion})`;
    throw conflict(storedKind(resource), name, `${why}. The object might have been modified`);
  }
}

/** Kinds that upstream deletes with separate code, which has different messages. */
function isDeletedInSteps({ definition: { group, resource } }: Resource): boolean {
  return (
    (group === "" && resource === "namespaces") ||
    (group === "apiextensions.k8s.io" && resource === "customresourcedefinitions")
  );
}

function checkStepwiseDeletion(resource: Resource, { metadata }: KubeObject, preconditions: DeletePreconditions): void {
  const { name = "", uid = "", resourceVersion = "" } = metadata;
  const failure = (what: string, requested: string, existing: string): ApiError =>
    conflict(
      storedResource(resource),
      name,
      `Precondition failed: ${what} in precondition: ${requested}, ${what} in object meta: ${existing}`,
    );
  if (preconditions.uid !== undefined && preconditions.uid !== uid) throw failure("UID", preconditions.uid, uid);
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw failure("ResourceVersion", preconditions.resourceVersion, resourceVersion);
  }
}
