/**
 * Server-side apply: a PATCH whose body is the part of an object that one manager owns. See
 * KEP-555.
 */
import { conflict, plainError } from "../apimachinery/errors.ts";
import type { KubeObject, ObjectMeta } from "../apimachinery/object.ts";
import type { Resolved } from "../catalog/contract.ts";
import { cloneJson } from "../lib/json/values.ts";
import { setEntries } from "../lib/managed-fields/entries.ts";
import { conform, DecodeError, OwnDecoderError } from "../lib/schema/decode.ts";
import type { Struct } from "../lib/schema/schema.ts";
import type { FieldValidation, RegistryContext, WriteRequest, Written } from "./contract.ts";
import { expectedKind, toStorageVersion, withMetadata } from "./decode-body.ts";
import { type AppliedKind, describeKind, describeObject, mergeIntent } from "./managed-fields/apply-intent.ts";
import { type Conversions, withConversions } from "./managed-fields/conversions.ts";
import { mergeContext } from "./managed-fields/merge-context.ts";
import { requestVersion, resetFields } from "./managed-fields/track.ts";
import {
  type ApplyBody,
  checkStrictErrors,
  readApplyBody,
  readApplyBodyInSteps,
  readCborApplyBody,
} from "./patch/read-apply.ts";
import { atVersion } from "./patch.ts";
import { checkNames } from "./prepare.ts";
import { storedResource } from "./resource-names.ts";
import { type UpdateRequest, update } from "./update.ts";

/** A server-side apply. */
export interface ApplyRequest extends WriteRequest, Pick<UpdateRequest, "checkCreate"> {
  readonly body: Buffer;
  /** Whether the body is CBOR; otherwise it is YAML, of which JSON is a subset. */
  readonly isCbor?: boolean;
  readonly force: boolean;
  readonly fieldValidation: FieldValidation;
  /** A resourceVersion, bare or quoted, that the object must have. */
  readonly ifMatch?: string | undefined;
}

/**
 * Applies the body over the stored object, which is created when it does not exist.
 * @throws ApiError 400, 403 (admission), 409, 422, 500
 */
export function apply(registry: RegistryContext, request: ApplyRequest): Promise<Written> {
  const { target, subresource } = request;
  const resets = resetFields(target.resource, subresource);
  const applied = (conversions: Conversions | undefined): AppliedKind => {
    const { kind, schema } = expectedKind(target);
    return {
      apiVersion: requestVersion(target),
      kind,
      schema,
      context: mergeContext({ target, subresource, resets }, conversions),
    };
  };
  return update(registry, {
    ...request,
    isPatch: true,
    createsMissing: true,
    tracksManagers: false,
    async next(current, old, pause) {
      const isSliced = pause !== undefined && request.isCbor !== true;
      const body = isSliced ? await readApplyBodyInSteps(request.body, pause) : readBody(request);
      await pause?.();
      const live = current && old && currentAtVersion(target, current, old);
      const { kind, merged } = await withConversions(target, (conversions) =>
        mergeBody(registry, request, applied(conversions), live, body),
      );
      await pause?.();
      const object = conformBody(request, kind, merged, body);
      await pause?.();
      if (current === undefined) checkNew(request, object.metadata);
      checkNames(object, request);
      return toStorageVersion(object, target);
    },
  });
}

/**
 * The object at the request's version, for reading only: decoding it a second time is expensive.
 */
function currentAtVersion(target: Resolved, current: () => KubeObject, old: KubeObject): KubeObject {
  return atVersion(target.version.conversion === undefined ? { ...old } : current(), target);
}

type ApplyBodyRequest = Pick<
  ApplyRequest,
  "body" | "isCbor" | "force" | "fieldManager" | "fieldValidation" | "subresource" | "warnings"
>;

/**
 * Merges the body of an apply into an object, and records the manager's fields.
 * @param live at the kind's version; not changed
 * @returns the merged object, which shares nothing with `live`
 * @throws ApiError 400, 409, 500
 */
export function applyBody(
  registry: RegistryContext,
  request: ApplyBodyRequest,
  kind: AppliedKind,
  live: KubeObject | undefined,
): KubeObject {
  const body = readBody(request);
  return conformBody(request, kind, mergeBody(registry, request, kind, live, body).merged, body);
}

function readBody({ body, isCbor }: ApplyBodyRequest): ApplyBody {
  return isCbor ? readCborApplyBody(body) : readApplyBody(body);
}

/** Does not change the body, so that it can be merged again. */
function mergeBody(
  registry: RegistryContext,
  { fieldManager: manager, force, subresource }: ApplyBodyRequest,
  kind: AppliedKind,
  live: KubeObject | undefined,
  { value }: ApplyBody,
): { readonly kind: AppliedKind; readonly merged: KubeObject } {
  return { kind, merged: mergeIntent(kind, live, { value, manager, force, subresource, now: registry.clock.now() }) };
}

function conformBody(request: ApplyBodyRequest, kind: AppliedKind, merged: KubeObject, body: ApplyBody): KubeObject {
  const object = conformToKind(merged, kind, body.value as unknown as KubeObject);
  checkStrictErrors(body, request.fieldValidation, request.warnings);
  return object;
}

/**
 * The merged object as one of its kind, sharing nothing with the live one. Managed fields are not
 * decoded again.
 */
function conformToKind(merged: KubeObject, kind: AppliedKind, intent: KubeObject): KubeObject {
  const { managedFields } = merged.metadata;
  delete merged.metadata.managedFields;
  try {
    const object = conformToSchema(cloneJson(merged), kind.schema);
    setEntries(object, managedFields);
    return object;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const what = `failed to convert new object (${describeObject(kind, intent.metadata)}) to proper version`;
    throw plainError(
      `${what}: unable to convert unstructured object to ${describeKind(kind)}: ${conversionProblem(error)}`,
    );
  }
}

/** Upstream's text: it does not decode the merged object, but sets each Go field from its value. */
function conversionProblem(error: DecodeError): string {
  const { message } = error;
  if (error instanceof OwnDecoderError) return message.replace(/Go struct field \S+ of/, "Go value of");
  if (message.startsWith("illegal base64")) return `error decoding from json: ${message}`;
  const type = message.startsWith("json: cannot unmarshal number ") ? / of type (int32|int64)$/.exec(message) : null;
  return type === null ? message : `cannot convert float64 to ${type[1]}`;
}

/** @throws DecodeError */
function conformToSchema(merged: KubeObject, schema: Struct): KubeObject {
  if (schema.custom === undefined) return withMetadata(conform(merged, schema, { convertsIntegers: true }).object);
  schema.custom.complete(merged);
  return merged;
}

/** @throws ApiError 409 when the intent names the uid of an object that does not exist */
function checkNew({ target, name }: ApplyRequest, { uid = "" }: ObjectMeta): void {
  if (uid === "") return;
  throw conflict(
    storedResource(target.resource),
    name,
    `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
  );
}
