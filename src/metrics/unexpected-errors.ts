/** Errors that are bugs: each one is counted, and ends only the work in which it occurs. */
import { type Logger, stackOf } from "../apimachinery/logger.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { measured } from "./vectors.ts";

export const unexpectedRows = {
  errors: {
    name: "coxswain_unexpected_errors_total",
    type: "counter",
    stability: undefined,
    help: "Errors that are bugs of the server; each ended only the request, timer or subscription in which it occurred.",
    labels: ["part"],
  },
} as const satisfies MetricRows;

/** Where an unexpected error occurred. */
type FailingPart = "request" | "timer" | "subscriber";

/** Receives the unexpected errors of a server. Its functions do not throw, if the logger does not. */
export interface UnexpectedErrors {
  /** Counts an error of a request, which the request flow logs. */
  ofRequest(): void;
  /** Logs and counts an error of a timer: it has ended, and what it repeats goes on. */
  ofTimer(error: unknown): void;
  /** Logs and counts an error of a subscriber of a watch cache, whose subscription has ended. */
  ofSubscriber(error: unknown): void;
  /** @returns the current metrics */
  collect(): Metric[];
}

/** @returns counters at zero */
export function unexpectedErrors(logger: Logger): UnexpectedErrors {
  const counts: Record<FailingPart, number> = { request: 0, timer: 0, subscriber: 0 };
  const report = (part: FailingPart, message: string, error: unknown): void => {
    counts[part]++;
    logger.error(message, { error: stackOf(error) });
  };
  return {
    ofRequest: () => void counts.request++,
    ofTimer: (error) => report("timer", "A timer failed", error),
    ofSubscriber: (error) => report("subscriber", "A subscriber of a watch cache failed", error),
    collect: () => [
      measured(
        unexpectedRows.errors,
        Object.entries(counts).map(([part, count]) => [[part], count]),
      ),
    ],
  };
}
