/** Questions that are objects, such as a TokenReview: the answer is an object of the same kind. Source: apiserver's util/webhook, apimachinery's codecs. */
import { formatGroupVersion } from "../apimachinery/object.ts";
import { conform, DecodeError } from "../lib/schema/decode.ts";
import type { Struct } from "../lib/schema/schema.ts";
import { decodeAnswer } from "./answer.ts";
import { type WebhookAnswer, WebhookError } from "./contract.ts";

export interface ReviewKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: Struct;
}

/**
 * @returns the object, its fields of the schema's types; unknown ones are gone
 * @throws WebhookError of kind `status`, or `malformed` for another kind and for fields of other types
 */
export function decodeReview(
  answer: WebhookAnswer,
  { group, version, kind, schema }: ReviewKind,
): Record<string, unknown> {
  const expected = { apiVersion: formatGroupVersion(group, version), kind };
  const { typeMeta, value } = decodeAnswer(answer, expected);
  if (typeMeta.apiVersion !== expected.apiVersion || typeMeta.kind !== kind) {
    const given = `${typeMeta.apiVersion.split("/").at(-1)}.${typeMeta.kind}`;
    throw new WebhookError("malformed", `converting (${given}) to (${version}.${kind}): unknown conversion`);
  }
  try {
    return conform(value ?? {}, schema).object;
  } catch (error) {
    if (error instanceof DecodeError) throw new WebhookError("malformed", error.message);
    throw error;
  }
}
