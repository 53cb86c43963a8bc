/** Applies the patch of a mutating webhook. */
import { internalError } from "../../apimachinery/errors.ts";
import { encodeAny, encodeString, sortedKeys } from "../../lib/json/encode-any.ts";
import { goKindOf, JsonSyntaxError, parseEncoded } from "../../lib/json/parse.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { encodePatched, patchNotes } from "../../lib/json-patch/encode-patched.ts";
import { applyJsonPatch, JsonPatchError, type JsonPatchOperation } from "../../lib/json-patch/json-patch.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import { readPatchJson } from "../../registry/patch/read-patch.ts";
import { annotateAudit } from "../annotate.ts";
import { hasNewManagedTime } from "../managed-fields.ts";
import type { Match } from "../matching/contract.ts";
import type { ReviewedObjects, Webhook } from "./contract.ts";
import { CallFailure } from "./denial.ts";
import type { ReviewResponse } from "./review-response.ts";
import type { DispatchNeeds } from "./validating.ts";

interface PatchRequest {
  readonly webhook: Webhook;
  readonly match: Match;
  readonly attributes: AdmissionAttributes;
  readonly reviewed: ReviewedObjects;
  readonly response: ReviewResponse;
  /** The end of the key of the audit annotation. */
  readonly place: string;
}

/**
 * Applies the patch of a response to the object of the request, and sets defaults.
 *
 * @returns whether the object changed
 * @throws CallFailure if the patch cannot be read
 * @throws ApiError 500 if it cannot be applied, or the result is not an object of the kind
 */
export async function applyPatch(request: PatchRequest, { versioned }: DispatchNeeds): Promise<boolean> {
  const { webhook, match, attributes, reviewed, response } = request;
  const { name, configuration } = webhook;
  if (response.patch.length === 0) return false;
  const operations = readOperations(name, response.patch);
  if (operations.length === 0) return false;
  if (reviewed.object === undefined)
    throw internalError(
      `admission webhook ${quoteGo(name)} attempted to modify the object, which is not supported for this operation`,
    );
  if (response.patchType !== "JSONPatch")
    throw new CallFailure(name, `unsupported patch type ${quoteGo(response.patchType)}`, { code: 400 });
  const json = patched(reviewed.object, operations);
  const hadNewTime = attributes.reinvocation?.isReplaced !== true && hasNewManagedTime(attributes);
  const changed = await versioned.replace(attributes, match, json, reviewed.object);
  if (attributes.audit !== undefined) {
    const value = `{"configuration":${encodeString(configuration)},"webhook":${encodeString(name)},"patch":${encodePatch(operations)},"patchType":"JSONPatch"}`;
    annotateAudit(attributes, `patch.webhook.admission.k8s.io/${request.place}`, value, "Request");
  }
  return changed || hadNewTime;
}

/** @throws CallFailure */
function readOperations(webhook: string, patch: Buffer): readonly JsonPatchOperation[] {
  const undecodable = (why: string): CallFailure =>
    new CallFailure(webhook, `received undecodable patch in webhook response: ${why}`);
  const wrongType = (value: unknown, type: string): CallFailure =>
    undecodable(`json: cannot unmarshal ${goKindOf(value)} into Go value of type ${type}`);
  try {
    const value = readPatchJson(patch).value ?? [];
    if (!Array.isArray(value)) throw wrongType(value, "jsonpatch.Patch");
    const wrong = value.find((item) => item !== null && (typeof item !== "object" || Array.isArray(item)));
    if (wrong !== undefined) throw wrongType(wrong, "jsonpatch.Operation");
    return value.map((item) => item ?? {});
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw undecodable(error.message);
    throw error;
  }
}

/** @throws ApiError 500 */
function patched(object: Buffer, operations: readonly JsonPatchOperation[]): Buffer {
  const notes = patchNotes();
  try {
    return Buffer.from(encodePatched(applyJsonPatch(parseEncoded(object), operations, notes), notes));
  } catch (error) {
    if (error instanceof JsonPatchError) throw internalError(error.message);
    throw error;
  }
}

/** As Go encodes the operations: with sorted members. */
function encodePatch(operations: readonly JsonPatchOperation[]): string {
  const encoded = operations.map((operation) => {
    const members = operation as Record<string, unknown>;
    return `{${sortedKeys(members)
      .map((key) => `${encodeString(key)}:${encodeAny(members[key])}`)
      .join(",")}}`;
  });
  return `[${encoded.join(",")}]`;
}
