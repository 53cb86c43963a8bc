/** The answer to requests that flow control rejects. */
import { plainError } from "../apimachinery/errors.ts";
import { sendText } from "../request/answer.ts";
import type { RequestState } from "../request/context.ts";
import type { RequestKind } from "./contract.ts";

const text = "Too many requests, please try again later.";
const readOnlyVerbs: ReadonlySet<string> = new Set(["get", "list", "watch"]);

/** The limit that counts the request. */
export function kindOf({ info: { verb } }: RequestState): RequestKind {
  return readOnlyVerbs.has(verb) ? "readOnly" : "mutating";
}

/**
 * Answers 429 with upstream's text; the error only ends the request flow. Source:
 * k8s.io/apiserver@v0.36.0/pkg/server/filters/priority-and-fairness.go (`tooManyRequests`).
 */
export function rejectRequest(context: RequestState, retryAfterSeconds: number): Error {
  context.headers["retry-after"] = String(retryAfterSeconds);
  sendText(context, 429, text);
  return plainError(text);
}
