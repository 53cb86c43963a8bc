/** The parameter `timeout`: how long the client will wait, which no watch looks at. Source: upstream's WithRequestDeadline */
import type { Clock } from "../../apimachinery/clock.ts";
import { badRequest } from "../../apimachinery/errors.ts";
import { DurationError, parseDuration } from "../../lib/duration/duration.ts";
import type { Filter, RequestContext } from "../contract.ts";
import { isLongRunning } from "../request-info.ts";
import { requestTimedOut } from "../request-timed-out.ts";

export interface RequestTiming {
  readonly clock: Clock;
  /** How long any request may take; a longer timeout changes nothing. */
  readonly timeoutMs: number;
  /** Answers a request that took longer. */
  readonly expire: (context: RequestContext) => void;
  /** Told of one that is refused, because its time was over at once. */
  readonly late?: (context: RequestContext) => void;
}

/** Zero and less is as none at all. What is under way when the time is over may still be done. @throws ApiError 400, 504 */
export function timeoutParameterFilter({ clock, timeoutMs, expire, late }: RequestTiming): Filter {
  return (context) => {
    const { info, exchange, receivedAt } = context;
    const text = info.query.get("timeout") ?? "";
    if (text === "" || isLongRunning(info)) return;
    const wanted = readTimeoutMs(text);
    if (wanted <= 0 || wanted >= timeoutMs) return;
    const left = wanted - (clock.now() - receivedAt);
    if (left < 1) {
      late?.(context);
      throw requestTimedOut();
    }
    const cancel = clock.after(left, () => {
      if (!context.exchange.answered) expire(context);
    });
    exchange.onClose(cancel);
  };
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
