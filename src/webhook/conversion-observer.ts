/** Observes conversions by webhook, for metrics. */

/**
 * The part of the label `failure_type` of `apiserver_conversion_webhook_request_total` that varies.
 */
export type ConversionFailure = "call" | "malformed_response" | "partial_response" | "invalid_converted_object";

/** Receives the results of conversions. */
export interface ConversionObserver {
  /**
   * Called after each call of a webhook.
   *
   * @param failure undefined if the call succeeded
   */
  called(failure: ConversionFailure | undefined, milliseconds: number): void;
  /**
   * Called after each conversion.
   *
   * @param definition the name of the definition
   * @param from version without its group
   * @param to version without its group
   */
  converted(definition: string, from: string, to: string, succeeded: boolean, milliseconds: number): void;
}

/** Ignores all results. */
export const noObserver: ConversionObserver = { called() {}, converted() {} };
