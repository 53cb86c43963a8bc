/** Converts the failures of calls to WebhookErrors with Go's messages. */
import { quoteGo } from "../lib/json/quote.ts";
import { streamError } from "./connect.ts";
import { WebhookError } from "./contract.ts";
import { UnfinishedAnswer } from "./exchange.ts";

/**
 * Converts the failure of a request. Internal errors remain unchanged.
 *
 * @param url of the request, or of its redirect
 */
export function callFailure(error: unknown, url: string): unknown {
  if (error instanceof UnfinishedAnswer) return unfinished(error.cause as Error);
  const failure = error instanceof WebhookError ? error : streamError(error as NodeJS.ErrnoException);
  if (failure === undefined) return error;
  return failure.kind === "tooLarge"
    ? failure
    : new WebhookError(failure.kind, `Post ${quoteGo(url)}: ${failure.message}`);
}

function unfinished(cause: Error): WebhookError {
  const failure = cause instanceof WebhookError ? cause : streamError(cause);
  const { kind, message } = failure ?? new WebhookError("closed", "unexpected EOF");
  const text = message === "EOF" ? "unexpected EOF" : message;
  return new WebhookError(kind, `unexpected error when reading response body. Please retry. Original error: ${text}`);
}
