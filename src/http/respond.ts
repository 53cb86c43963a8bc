/** Sends responses; the only place where an ApiError becomes a Status. */
import { ApiError, internalError, type Status } from "../apimachinery/errors.ts";
import type { Logger } from "../apimachinery/logger.ts";
import type { RequestAudit, ResponseStatus } from "../audit/contract.ts";
import { indentJson } from "../lib/json/indent.ts";
import { answerOfStorageError } from "../registry/storage-error.ts";
import { isCarriable } from "./carriable.ts";
import type { AnswerHeaders, BodyStream, RequestContext } from "./contract.ts";
import type { Shown } from "./representation/contract.ts";
import { gzipBody, gzipHeaders, gzipThresholdBytes, respondGzipped } from "./representation/gzip.ts";
import { metaObject } from "./representation/meta-object.ts";
import { negotiatePlain, outsideGroups } from "./representation/negotiate.ts";
import { warningHeaders } from "./warning-headers.ts";

/** The headers of every response to an API request, with the warnings so far. */
export function answerHeaders(context: RequestContext, contentType?: string): AnswerHeaders {
  const headers: AnswerHeaders = { "audit-id": context.auditId, "cache-control": "no-cache, private" };
  if (contentType !== undefined) headers["content-type"] = contentType;
  if (context.warnings.length > 0) headers.warning = warningHeaders(context.warnings);
  return Object.assign(headers, context.headers);
}

/** Sends a whole response; a long one is compressed asynchronously if the client accepts that. */
export function send(context: RequestContext, status: number, contentType: string, body: Buffer): void {
  if (context.explanation !== undefined) return context.explanation.answer(status, contentType, body);
  context.exchange.entered?.("respond");
  const headers = answerHeaders(context, contentType);
  if (context.gzip && body.length > gzipThresholdBytes && headers["content-encoding"] === undefined)
    return respondGzipped(context.exchange, status, headers, body);
  context.exchange.respond(status, headers, body);
}

/**
 * Starts a response in pieces.
 * @param compressed whether it is long enough, and the client accepts compression
 */
export function stream(
  context: RequestContext,
  contentType: string,
  { compressed }: { readonly compressed: boolean },
): BodyStream {
  context.exchange.entered?.("respond");
  const headers = answerHeaders(context, contentType);
  if (!compressed) return context.exchange.stream(200, headers);
  const body = context.exchange.stream(200, gzipHeaders(headers));
  return gzipBody(context.exchange, body, { takesSlots: context.turn !== undefined });
}

/** Sends an object in the negotiated form. */
export function sendShown(context: RequestContext, status: number, shown: Shown): void {
  const { encoding } = context.representation;
  context.exchange.entered?.("encode");
  if (context.audit !== undefined) auditShown(context.audit, shown);
  send(context, status, encoding.mediaType, encoding.whole(shown));
}

/** Records a response as JSON. */
function auditShown(audit: RequestAudit, shown: Shown): void {
  const json = (): string => shown.json().toString();
  if (shown.kind === "Status" && shown.apiVersion === "v1")
    audit.responseStatus(boundedStatus(JSON.parse(json()) as StatusBody));
  audit.responseObject(json);
}

/** Records an error, without parts of objects where the audit level excludes them. */
function auditError(audit: RequestAudit, shown: Shown, { messageWithoutObjects: message }: Status): void {
  if (message === undefined || audit.level !== "Metadata") return auditShown(audit, shown);
  const { details: _details, ...rest } = boundedStatus(JSON.parse(shown.json().toString()) as StatusBody);
  audit.responseStatus({ ...rest, message });
}

function boundedStatus({ status, message, reason, details, code }: StatusBody): ResponseStatus {
  return { status, message, reason, details, code } as ResponseStatus;
}

/**
 * Sends a Status.
 * @param status in its wire form
 */
export function sendStatus(context: RequestContext, code: number, status: StatusBody): void {
  sendShown(context, code, metaObject(status));
}

/** Sends indented JSON, regardless of Accept. */
export function sendRawJson(context: RequestContext, code: number, body: object): void {
  send(context, code, "application/json", indentJson(Buffer.from(JSON.stringify(body))));
}

/** Sends upstream's response for a path without a handler. */
export function pathNotFound(context: RequestContext): void {
  sendText(context, 404, "404 page not found");
}

/** Sends a line of text, with a header against content sniffing. */
export function sendText(context: RequestContext, status: number, text: string): void {
  const headers = {
    "audit-id": context.auditId,
    "cache-control": "no-cache, private",
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    ...context.headers,
  };
  context.exchange.respond(status, headers, Buffer.from(`${text}\n`));
}

/** A Status in its wire form. */
export interface StatusBody {
  readonly kind: "Status";
  readonly [field: string]: unknown;
}

/** Converts a Status to its wire form. */
export function statusBody(status: Status): StatusBody {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: status.continue === undefined ? (status.metadata ?? {}) : { continue: status.continue },
    status: status.status ?? "Failure",
    message: status.message,
    ...(status.reason !== undefined && { reason: status.reason }),
    ...(status.details !== undefined && { details: status.details }),
    code: status.code,
  };
}

/** A code of a webhook or a kubelet may be none of HTTP. The message names the server. As upstream, 0 becomes 500. */
function sendable({ exchange: { protocol } }: RequestContext, error: ApiError): ApiError {
  const { code, message } = error.status;
  if (isCarriable(code, protocol)) return error;
  if (code === 0) return new ApiError({ ...error.status, code: 500 });
  return internalError(`${protocol} cannot carry the status code ${code}: ${message}`);
}

/** Whether an error is a bug: neither an answer nor a failure of the store. */
export function isUnexpected(error: unknown): boolean {
  return !(error instanceof ApiError) && answerOfStorageError(error) === undefined;
}

/**
 * Sends an error. Errors of the store are logged. Others except ApiError are bugs: they are logged
 * and answered with a 500. A response that has started, and is not complete, is aborted.
 */
export function sendError(context: RequestContext, error: unknown, logger: Logger): void {
  const expected = error instanceof ApiError ? error : answerOfStorageError(error);
  if (!(error instanceof ApiError))
    logger.error(expected === undefined ? "Request failed" : "The store failed", {
      method: context.exchange.method,
      path: context.info.path,
      verb: context.info.verb,
      error: error instanceof Error ? (expected === undefined ? error.stack : error.message) : String(error),
    });
  if (context.exchange.closed) return;
  if (context.exchange.answered) return context.exchange.abort();
  context.exchange.entered?.("report error");
  const { status } = sendable(
    context,
    expected ?? internalError(error instanceof Error ? error.message : String(error)),
  );
  context.probe?.failed(status);
  const retryAfter = status.details?.retryAfterSeconds;
  if (retryAfter !== undefined && retryAfter > 0) context.headers["retry-after"] = String(retryAfter);
  if (expected === undefined) context.audit?.panicked(status.message);
  const encoding = negotiatePlain(context.resolved === undefined ? outsideGroups(context) : context);
  if (encoding === undefined) return sendRawJson(context, status.code, statusBody(status)); // Nothing acceptable.
  const shown = metaObject(statusBody(status));
  if (context.audit !== undefined) auditError(context.audit, shown, status);
  send(context, status.code, encoding.mediaType, encoding.whole(shown));
}
