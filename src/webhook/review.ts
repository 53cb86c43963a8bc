/** Decodes responses that are reviews of the requested kind, such as TokenReview. */
import { formatGroupVersion } from "../apimachinery/object.ts";
import { conform, DecodeError } from "../lib/schema/decode.ts";
import type { Struct } from "../lib/schema/schema.ts";
import { decodeAnswer } from "./answer.ts";
import { type WebhookAnswer, WebhookError } from "./contract.ts";

/** The expected kind of a review, and its schema. */
export interface ReviewKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: Struct;
}

/**
 * Decodes a review.
 *
 * @returns the object with fields of the types in the schema, without unknown fields
 * @throws WebhookError of kind `status`, or `malformed` for another kind or fields of other types
 */
export function decodeReview(
  answer: WebhookAnswer,
  { group, version, kind, schema }: ReviewKind,
): Record<string, unknown> {
  const expected = { apiVersion: formatGroupVersion(group, version), kind };
  const { typeMeta, value } = decodeAnswer(answer, expected);
  if (typeMeta.apiVersion !== expected.apiVersion || typeMeta.kind !== kind) {
    const received = `${typeMeta.apiVersion.split("/").at(-1)}.${typeMeta.kind}`;
    throw new WebhookError("malformed", `converting (${received}) to (${version}.${kind}): unknown conversion`);
  }
  try {
    return conform(value ?? {}, schema).object;
  } catch (error) {
    if (error instanceof DecodeError) throw new WebhookError("malformed", error.message);
    throw error;
  }
}
