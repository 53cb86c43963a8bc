/**
 * The `timeout` parameter, which watches ignore. Source: WithRequestDeadline in
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/filters/request_deadline.go.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import { type ApiError, badRequest, RequestTimeout, timeout } from "../../apimachinery/errors.ts";
import { DurationError, parseDuration } from "../../lib/duration/duration.ts";
import type { Filter } from "../../request/context.ts";
import { isLongRunning } from "../../request/request-info.ts";
import type { RequestContext } from "../contract.ts";

/** The verbs that have upstream's limit for writes. */
export const writes: ReadonlySet<string> = new Set(["create", "update", "patch", "delete", "deletecollection"]);

/** Options of the timeout filter. */
interface RequestTiming {
  readonly clock: Clock;
  /** The limit of all requests; longer timeouts have no effect. */
  readonly timeoutMs: number;
  /** Answers a request beyond its limit. */
  readonly expire: (context: RequestContext, error: ApiError) => void;
  /** Called for a request that is rejected because its timeout has elapsed already. */
  readonly late?: (context: RequestContext) => void;
}

/**
 * Creates the filter. A timeout of zero or less is ignored; a write in progress may still complete.
 * The filter throws ApiError 400, 504.
 */
export function timeoutParameterFilter({ clock, timeoutMs, expire, late }: RequestTiming): Filter<RequestContext> {
  return (context) => {
    const { info, exchange, receivedAt } = context;
    if (!hasTimeLimit(context)) return;
    context.endsAt = receivedAt + timeoutMs;
    const text = info.query.get("timeout") ?? "";
    if (text === "") return;
    const requestedMs = readTimeoutMs(text);
    if (requestedMs <= 0 || requestedMs >= timeoutMs) return;
    context.endsAt = receivedAt + requestedMs;
    const left = requestedMs - (clock.now() - receivedAt);
    if (left < 1) {
      late?.(context);
      throw new RequestTimeout();
    }
    const cancel = clock.after(left, () => {
      if (!context.exchange.answered) expire(context, new RequestTimeout());
    });
    exchange.onClose(cancel);
  };
}

/** Whether a request is answered with an error when it takes too long. */
export function hasTimeLimit({ info, hasNoTimeLimit }: RequestContext): boolean {
  return !isLongRunning(info) && hasNoTimeLimit === undefined;
}

function readTimeoutMs(text: string): number {
  try {
    return Number(parseDuration(text)) / 1e6;
  } catch (error) {
    if (error instanceof DurationError)
      throw badRequest(`invalid timeout specified in the request URL - ${error.message}`);
    throw error;
  }
}

/**
 * The error for a request that the server itself limits. A write that waits for the store has another text (`FinishRequest` in
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/handlers/finisher).
 */
export function requestTimedOut(verb: string): ApiError {
  if (writes.has(verb)) return timeout("request did not complete within requested timeout - context deadline exceeded");
  return new RequestTimeout();
}
