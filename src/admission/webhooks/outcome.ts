/** Decides what follows from the result of a call, and records it. */
import { ApiError, internalError, RequestTimeout } from "../../apimachinery/errors.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { CallNeeds, RejectionCause, Webhook, WebhookType } from "./contract.ts";
import { CallFailure, Denied } from "./denial.ts";

interface Call {
  readonly attributes: AdmissionAttributes;
  readonly type: WebhookType;
  /** Called when the request continues after a failure. */
  readonly failedOpen: () => void;
}

/**
 * Runs a call of a webhook.
 *
 * @returns the result; undefined when the webhook failed and the request continues
 * @throws ApiError when the request is rejected
 */
export async function withOutcome<T>(
  webhook: Webhook,
  { attributes, type, failedOpen }: Call,
  needs: CallNeeds,
  run: () => Promise<T>,
): Promise<T | undefined> {
  const startedAt = needs.elapsed();
  const call = { name: webhook.name, type, operation: attributes.operation };
  const finish = (code: number, rejected: boolean): void =>
    needs.observer.called(call, { seconds: (needs.elapsed() - startedAt) / 1000, code, rejected });
  const reject = (cause: RejectionCause, code: number): void => {
    needs.observer.rejected(call, cause, code);
    finish(code, true);
  };
  try {
    const result = await run();
    finish(200, false);
    return result;
  } catch (error) {
    if (error instanceof CallFailure && webhook.failsOpen) {
      finish(error.code, false);
      needs.logger.warn("Webhook call failed, request continues", fieldsOf(webhook, error));
      if (!error.isCanceled) {
        needs.observer.failedOpen(call);
        failedOpen();
      }
      checkTimeLeft(attributes, error, needs);
      return undefined;
    }
    throw rejectionOf(error, webhook, needs, { type, reject, finish });
  }
}

/** @throws ApiError 504 if the request has no time left, or the client has closed it */
function checkTimeLeft({ lifetime }: AdmissionAttributes, { isCanceled }: CallFailure, { now }: CallNeeds): void {
  if (isCanceled || (lifetime !== undefined && now() >= lifetime.endsAt)) throw new RequestTimeout();
}

function fieldsOf({ configuration }: Webhook, { message }: CallFailure): Record<string, string> {
  return { configuration, error: message };
}

interface Report {
  readonly type: WebhookType;
  readonly reject: (cause: RejectionCause, code: number) => void;
  readonly finish: (code: number, rejected: boolean) => void;
}

/** Other errors are bugs, and remain as they are. */
function rejectionOf(
  error: unknown,
  webhook: Webhook,
  { logger }: CallNeeds,
  { type, reject, finish }: Report,
): unknown {
  if (error instanceof Denied) {
    reject("no_error", error.error.status.code);
    // As upstream, for validating webhooks only.
    if (type === "validating")
      logger.warn("Rejected by webhook", { webhook: webhook.name, error: error.error.message });
    return error.error;
  }
  if (error instanceof CallFailure) {
    if (error.isCanceled) finish(error.code, true);
    else reject("calling_webhook_error", error.code);
    logger.warn("Webhook call failed, request rejected", fieldsOf(webhook, error));
    return internalError(error.message);
  }
  if (error instanceof ApiError) reject("apiserver_internal_error", 0);
  return error;
}
