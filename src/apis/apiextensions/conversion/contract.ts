/** What is told of conversions by webhook, for metrics. */

/** What went wrong: upstream's `conversion_webhook_…_failure`. */
export type ConversionFailure = "call" | "malformed_response" | "partial_response" | "invalid_converted_object";

export interface ConversionObserver {
  /** A call of a webhook. @param failure undefined when it went well */
  called(failure: ConversionFailure | undefined, milliseconds: number): void;
  /** All of a conversion. @param definition its name @param from versions without their group */
  converted(definition: string, from: string, to: string, succeeded: boolean, milliseconds: number): void;
}

export const noObserver: ConversionObserver = { called() {}, converted() {} };
