/**
 * The boundary around a request: whatever its code throws ends this request alone. The promise of
 * http/serve.ts covers what the handlers await; `guarded` covers callbacks of timers, streams and
 * subscribers.
 */

import type { Exchange } from "./exchange.ts";
import type { RequestStage } from "./stages.ts";

/** The parts of an exchange that end its request. */
export type FailingExchange = Pick<Exchange, "fail" | "entered">;

/**
 * Runs a callback of a request.
 *
 * @returns its result; undefined if it has thrown, which has ended the request
 */
export function runGuarded<Result>(
  exchange: FailingExchange,
  stage: RequestStage,
  run: () => Result,
): Result | undefined {
  try {
    exchange.entered?.(stage);
    return run();
  } catch (error) {
    exchange.fail(error);
    return undefined;
  }
}

/** Wraps a callback of a request: what it throws ends the request. */
export function guarded<Parameters extends readonly unknown[]>(
  exchange: FailingExchange,
  stage: RequestStage,
  run: (...parameters: Parameters) => unknown,
): (...parameters: Parameters) => void {
  return (...parameters) => void runGuarded(exchange, stage, () => run(...parameters));
}
