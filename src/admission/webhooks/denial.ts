/**
 * The errors of webhooks that reject a request. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/webhook/errors/statuserror.go.
 */
import { ApiError, badRequest, type Status } from "../../apimachinery/errors.ts";
import { quoteGo } from "../../lib/json/quote.ts";

/** A Status as a webhook sends it. */
export interface SentStatus {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: Status["details"];
  readonly code?: number;
}

/** Returns the error with the Status of the webhook, whose name precedes the message. */
export function denial(webhook: string, sent: SentStatus = {}): ApiError {
  const { message = "", reason = "", details, code = 0, status = "", metadata } = sent;
  const deniedBy = `admission webhook ${quoteGo(webhook)} denied the request`;
  const explanation = message || reason;
  return new ApiError({
    code: code < 400 ? 400 : code,
    message: explanation === "" ? `${deniedBy} without explanation` : `${deniedBy}: ${explanation}`,
    ...(reason !== "" && { reason }),
    ...(details !== undefined && { details }),
    ...(status !== "" && status !== "Success" && { status }),
    ...(metadata !== undefined && { metadata }),
  });
}

/** Returns the error for a dry run that a webhook does not support. */
export function dryRunUnsupported(webhook: string): ApiError {
  return badRequest(`admission webhook ${quoteGo(webhook)} does not support dry run`);
}

/** The webhook could not be called, or its response is not valid. Such failures can be ignored. */
export class CallFailure extends Error {
  /** The HTTP status code for metrics. */
  readonly code: number;
  /** Whether the client has closed the request, which metrics do not count. */
  readonly isCanceled: boolean;
  constructor(webhook: string, why: string, { code = 503, isCanceled = false } = {}) {
    super(`failed calling webhook ${quoteGo(webhook)}: ${why}`);
    this.code = code;
    this.isCanceled = isCanceled;
  }
}

/** The webhook rejected the request. */
export class Denied extends Error {
  readonly error: ApiError;
  constructor(error: ApiError) {
    super(error.message);
    this.error = error;
  }
}
