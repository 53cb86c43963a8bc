/** Decodes responses that are reviews of the requested kind, such as TokenReview. */
import { formatGroupVersion } from "../apimachinery/object.ts";
import type { TypeMeta } from "../lib/json/parse.ts";
import { quoteGo } from "../lib/json/quote.ts";
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
  /** The name of upstream's scheme, if that has no other kinds of the group. */
  readonly scheme?: string;
}

/**
 * Decodes a review.
 *
 * @returns the object with fields of the types in the schema, without unknown fields
 * @throws WebhookError of kind `status`, or `malformed` for another kind or fields of other types
 */
export function decodeReview(
  answer: WebhookAnswer,
  { group, version, kind, schema, scheme }: ReviewKind,
): Record<string, unknown> {
  const expected = { apiVersion: formatGroupVersion(group, version), kind };
  const { typeMeta, value } = decodeAnswer(answer, expected);
  if (typeMeta.apiVersion !== expected.apiVersion || typeMeta.kind !== kind) {
    if (scheme !== undefined && typeMeta.apiVersion.startsWith(`${group}/`))
      throw new WebhookError("malformed", unknownKind(typeMeta, scheme));
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

function unknownKind({ apiVersion, kind }: TypeMeta, scheme: string): string {
  return `no kind ${quoteGo(kind)} is registered for version ${quoteGo(apiVersion)} in scheme ${quoteGo(scheme)}`;
}
