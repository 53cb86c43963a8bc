/** What a write demands of the object as it is now. Source: resource-api §4.5, §3; apimachinery's and apiserver's texts. */
import { type ApiError, badRequest, conflict, invalid, objectModified, plainError } from "../apimachinery/errors.ts";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Resource } from "../catalog/contract.ts";
import { quoteGo } from "../lib/json/quote.ts";
import type { DeletePreconditions, WriteRequest } from "./contract.ts";
import { storedKind, storedResource } from "./resource-names.ts";

/**
 * An object that does not say its namespace gets the request's.
 * @param namespace the request's, empty for what is cluster-wide
 * @throws ApiError 400 when it says another one
 */
export function checkNamespace(object: KubeObject, namespace: string): void {
  const { metadata } = object;
  const own = metadata.namespace ?? "";
  if (own === namespace) return;
  if (namespace === "") {
    delete metadata.namespace;
    return;
  }
  if (own !== "")
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  metadata.namespace = namespace;
}

/** @throws ApiError 400 when the object names itself otherwise than the path does */
export function checkNames(object: KubeObject, { namespace, name }: Pick<WriteRequest, "namespace" | "name">): void {
  checkNamespace(object, namespace);
  const own = object.metadata.name ?? "";
  if (own === "")
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (own !== name) throw badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
}

/** A key as refusals have it: that of a dry run has no prefix. */
export function toldKey(key: string, { dryRun }: Pick<WriteRequest, "dryRun">): string {
  return dryRun ? key.slice("/registry".length) : key;
}

/** @param key as {@link toldKey} has it @param uid the one an update says, empty when it says none @param existingUid empty when the object does not exist @throws ApiError 409 */
export function checkUid(resource: Resource, key: string, name: string, uid: string, existingUid: string): void {
  if (uid === "" || uid === existingUid) return;
  throw preconditionFailed(resource, key, name, `UID in precondition: ${uid}, UID in object meta: ${existingUid}`);
}

/** The same of a version that is demanded to the letter. @throws ApiError 409 */
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
 * The optimistic lock of an update; sets the version where the request leaves it out and may.
 * @param revision of the existing object
 * @throws ApiError 409 when it is another one, 422 when there must be one, 500 when it is no number
 */
export function checkVersion(resource: Resource, next: KubeObject, revision: number): void {
  const wanted = parseResourceVersion(next.metadata.resourceVersion);
  const group = storedResource(resource);
  const name = next.metadata.name ?? "";
  if (wanted === 0n) {
    if (!resource.definition.allowUnconditionalUpdate) {
      const errors = new FieldErrors();
      errors.invalid("metadata.resourceVersion", 0, "must be specified for an update");
      throw invalid(group.group, group.resource, name, errors.causes);
    }
    next.metadata.resourceVersion = String(revision);
  } else if (wanted !== BigInt(revision)) throw conflict(group, name, objectModified);
}

/** @returns 0 when it is not set @throws ApiError 500 with Go's text when it is no unsigned number of 64 bits */
export function parseResourceVersion(text = ""): bigint {
  if (text === "") return 0n;
  if (!/^[0-9]+$/.test(text)) throw plainError(`strconv.ParseUint: parsing ${quoteGo(text)}: invalid syntax`);
  const value = BigInt(text.length > 32 ? text.slice(0, 32) : text);
  if (value > 0xffff_ffff_ffff_ffffn)
    throw plainError(`strconv.ParseUint: parsing ${quoteGo(text)}: value out of range`);
  return value;
}

/** `If-Match`: a resourceVersion, bare or quoted. Undefined demands nothing. @throws ApiError 409 */
export function checkIfMatch(
  resource: Resource,
  name: string,
  ifMatch: string | undefined,
  revision: number | undefined,
): void {
  if (ifMatch === undefined || ifMatch === "*") return;
  const wanted = ifMatch.replace(/^"(.*)"$/, "$1");
  if (revision === undefined || wanted !== String(revision))
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

/** Kinds that upstream deletes by code of their own, in words of their own. */
function isDeletedInSteps({ definition: { group, resource } }: Resource): boolean {
  return (
    (group === "" && resource === "namespaces") ||
    (group === "apiextensions.k8s.io" && resource === "customresourcedefinitions")
  );
}

function checkStepwiseDeletion(resource: Resource, { metadata }: KubeObject, wanted: DeletePreconditions): void {
  const { name = "", uid = "", resourceVersion = "" } = metadata;
  const refusal = (what: string, asked: string, is: string): ApiError =>
    conflict(
      storedResource(resource),
      name,
      `Precondition failed: ${what} in precondition: ${asked}, ${what} in object meta: ${is}`,
    );
  if (wanted.uid !== undefined && wanted.uid !== uid) throw refusal("UID", wanted.uid, uid);
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion) {
    throw refusal("ResourceVersion", wanted.resourceVersion, resourceVersion);
  }
}
