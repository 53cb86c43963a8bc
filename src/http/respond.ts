/** Turns outcomes into answers; the one place where an ApiError becomes a Status. */
import { ApiError, internalError, type Status } from "../apimachinery/errors.ts";
import type { Logger } from "../apimachinery/logger.ts";
import type { RequestAudit, ResponseStatus } from "../audit/contract.ts";
import { indentJson } from "../lib/json/indent.ts";
import type { AnswerHeaders, BodyStream, RequestContext } from "./contract.ts";
import type { Shown } from "./representation/contract.ts";
import { gzipBody, gzipHeaders, gzipThresholdBytes, respondGzipped } from "./representation/gzip.ts";
import { metaObject } from "./representation/meta-object.ts";
import { negotiatePlain, outsideGroups } from "./representation/negotiate.ts";
import { warningHeaders } from "./warning-headers.ts";

/** The headers of every answer to an API request. Warnings collected so far are included. */
export function answerHeaders(context: RequestContext, contentType?: string): AnswerHeaders {
  const headers: AnswerHeaders = { "audit-id": context.auditId, "cache-control": "no-cache, private" };
  if (contentType !== undefined) headers["content-type"] = contentType;
  if (context.warnings.length > 0) headers.warning = warningHeaders(context.warnings);
  return Object.assign(headers, context.headers);
}

/** The whole answer at once; a long one a little later, compressed, when the client wants that. */
export function send(context: RequestContext, status: number, contentType: string, body: Buffer): void {
  const headers = answerHeaders(context, contentType);
  if (context.gzip && body.length > gzipThresholdBytes && headers["content-encoding"] === undefined)
    return respondGzipped(context.exchange, status, headers, body);
  context.exchange.respond(status, headers, body);
}

/** An answer in pieces. @param compressed whether it is long enough for that, and the client wants it */
export function stream(
  context: RequestContext,
  contentType: string,
  { compressed }: { readonly compressed: boolean },
): BodyStream {
  const headers = answerHeaders(context, contentType);
  if (!compressed) return context.exchange.stream(200, headers);
  return gzipBody(context.exchange, context.exchange.stream(200, gzipHeaders(headers)));
}

/** In the form that was asked for. */
export function sendShown(context: RequestContext, status: number, shown: Shown): void {
  const { encoding } = context.representation;
  if (context.audit !== undefined) auditShown(context.audit, shown);
  send(context, status, encoding.mediaType, encoding.whole(shown));
}

/** Records an answer, whatever form it is sent in. */
function auditShown(audit: RequestAudit, shown: Shown): void {
  const json = (): string => shown.json().toString();
  if (shown.kind === "Status" && shown.apiVersion === "v1")
    audit.responseStatus(boundedStatus(JSON.parse(json()) as StatusBody));
  audit.responseObject(json);
}

/** Where objects are not recorded, nothing of them is. */
function auditRefusal(audit: RequestAudit, shown: Shown, { messageWithoutObjects: message }: Status): void {
  if (message === undefined || audit.level !== "Metadata") return auditShown(audit, shown);
  const { details: _details, ...rest } = boundedStatus(JSON.parse(shown.json().toString()) as StatusBody);
  audit.responseStatus({ ...rest, message });
}

function boundedStatus({ status, message, reason, details, code }: StatusBody): ResponseStatus {
  return { status, message, reason, details, code } as ResponseStatus;
}

/** That something was done. @param status as the wire has it */
export function sendStatus(context: RequestContext, code: number, status: StatusBody): void {
  sendShown(context, code, metaObject(status));
}

/** Whatever Accept says; indented. */
export function sendRawJson(context: RequestContext, code: number, body: object): void {
  send(context, code, "application/json", indentJson(Buffer.from(JSON.stringify(body))));
}

/** Upstream's answer for a path that nothing is registered for. */
export function pathNotFound(context: RequestContext): void {
  sendText(context, 404, "404 page not found");
}

/** A line of text, which no browser may take for anything else. */
export function sendText(context: RequestContext, status: number, text: string): void {
  const headers = {
    "audit-id": context.auditId,
    "cache-control": "no-cache, private",
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
  };
  context.exchange.respond(status, headers, Buffer.from(`${text}\n`));
}

export interface StatusBody {
  readonly kind: "Status";
  readonly [field: string]: unknown;
}

/** A Status as the wire has it. */
export function statusBody(status: Status): StatusBody {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: status.continue === undefined ? {} : { continue: status.continue },
    status: "Failure",
    message: status.message,
    ...(status.reason !== undefined && { reason: status.reason }),
    ...(status.details !== undefined && { details: status.details }),
    code: status.code,
  };
}

/** Answers with what went wrong; anything but an ApiError is a mistake of ours: logged, and a 500. */
export function sendError(context: RequestContext, error: unknown, logger: Logger): void {
  if (!(error instanceof ApiError))
    logger.error("request failed", {
      path: context.info.path,
      verb: context.info.verb,
      error: error instanceof Error ? error.stack : String(error),
    });
  if (context.exchange.answered || context.exchange.closed) return;
  const { status } =
    error instanceof ApiError ? error : internalError(error instanceof Error ? error.message : String(error));
  const retryAfter = status.details?.retryAfterSeconds;
  if (retryAfter !== undefined) context.headers["retry-after"] = String(retryAfter);
  if (!(error instanceof ApiError)) context.audit?.panicked(status.message);
  const encoding = negotiatePlain(context.resolved === undefined ? outsideGroups(context) : context);
  if (encoding === undefined) return sendRawJson(context, status.code, statusBody(status)); // There is no form in which to say so.
  const shown = metaObject(statusBody(status));
  if (context.audit !== undefined) auditRefusal(context.audit, shown, status);
  send(context, status.code, encoding.mediaType, encoding.whole(shown));
}
