/** Responses that need nothing of the catalog: their headers, text, and the start of a long one. */
import type { RequestState } from "./context.ts";
import type { AnswerHeaders, BodyStream } from "./exchange.ts";
import { gzipHeaders, gzipThresholdBytes, respondGzipped } from "./gzip.ts";
import { warningHeaders } from "./warning-headers.ts";

/** The headers of every response to an API request, with the warnings so far. */
export function answerHeaders(context: RequestState, contentType?: string): AnswerHeaders {
  const headers: AnswerHeaders = { "audit-id": context.auditId, "cache-control": "no-cache, private" };
  if (contentType !== undefined) headers["content-type"] = contentType;
  if (context.warnings.length > 0) headers.warning = warningHeaders(context.warnings);
  return Object.assign(headers, context.headers);
}

/** Sends a whole response; a long one is compressed asynchronously if the client accepts that. */
export function send(context: RequestState, status: number, contentType: string, body: Buffer): void {
  if (context.explanation !== undefined) return context.explanation.answer(status, contentType, body);
  context.exchange.entered?.("respond");
  const headers = answerHeaders(context, contentType);
  if (context.gzip && body.length > gzipThresholdBytes && headers["content-encoding"] === undefined)
    return respondGzipped(context.exchange, status, headers, body);
  context.exchange.respond(status, headers, body);
}

/**
 * Starts a response in pieces.
 * @param compressed whether the caller writes a gzip member; only if the client accepts compression
 */
export function stream(
  context: RequestState,
  contentType: string,
  { compressed }: { readonly compressed: boolean },
): BodyStream {
  context.exchange.entered?.("respond");
  const headers = answerHeaders(context, contentType);
  return context.exchange.stream(200, compressed ? gzipHeaders(headers) : headers);
}

/** Sends upstream's response for a path without a handler. */
export function pathNotFound(context: RequestState): void {
  sendText(context, 404, "404 page not found");
}

/** Sends a line of text, with a header against content sniffing. */
export function sendText(context: RequestState, status: number, text: string): void {
  const headers = {
    "audit-id": context.auditId,
    "cache-control": "no-cache, private",
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    ...context.headers,
  };
  context.exchange.respond(status, headers, Buffer.from(`${text}\n`));
}
