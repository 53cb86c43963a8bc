/** Sends errors and Statuses; the only place where an ApiError becomes a Status. */
import { ApiError, internalError, RequestTimeout, type Status } from "../apimachinery/errors.ts";
import type { Logger } from "../apimachinery/logger.ts";
import { type StatusBody, statusBody } from "../apimachinery/status-body.ts";
import { indentJson } from "../lib/json/indent.ts";
import { answerOfStorageError } from "../registry/storage-error.ts";
import { send } from "../request/answer.ts";
import type { RequestAudit } from "../request/audit.ts";
import { isCarriable } from "../request/carriable.ts";
import type { RequestContext } from "./contract.ts";
import type { Shown } from "./representation/contract.ts";
import { metaObject } from "./representation/meta-object.ts";
import { negotiatePlain, outsideGroups } from "./representation/negotiate.ts";
import { auditShown, boundedStatus, sendShown } from "./representation/object.ts";

/** Records an error, without parts of objects where the audit level excludes them. */
function auditError(audit: RequestAudit, shown: Shown, { messageWithoutObjects: message }: Status): void {
  if (message === undefined || audit.level !== "Metadata") return auditShown(audit, shown);
  const { details: _details, ...rest } = boundedStatus(JSON.parse(shown.json().toString()) as StatusBody);
  audit.responseStatus({ ...rest, message });
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

/** Sends the error as text, regardless of Accept, and without the kind of a Status: so does upstream, and client-go knows it by that. */
function sendTimeout(context: RequestContext, { status }: RequestTimeout): void {
  const { kind: _kind, apiVersion: _apiVersion, ...fields } = statusBody(status);
  send(context, status.code, "text/plain; charset=utf-8", Buffer.from(`${JSON.stringify(fields)}\n`));
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
  if (error instanceof RequestTimeout) return sendTimeout(context, error);
  const retryAfter = status.details?.retryAfterSeconds;
  if (retryAfter !== undefined && retryAfter > 0) context.headers["retry-after"] = String(retryAfter);
  if (expected === undefined) context.audit?.panicked(status.message);
  const encoding = negotiatePlain(context.resolved === undefined ? outsideGroups(context) : context);
  if (encoding === undefined) return sendRawJson(context, status.code, statusBody(status)); // Nothing acceptable.
  const shown = metaObject(statusBody(status));
  if (context.audit !== undefined) auditError(context.audit, shown, status);
  send(context, status.code, encoding.mediaType, encoding.whole(shown));
}
