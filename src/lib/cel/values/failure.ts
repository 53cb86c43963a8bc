import type { CelValue } from "./value.ts";

/**
 * A run-time error as a value: rules fail often, and `||` can absorb failures, so throwing would be
 * too slow. `Program.evaluate` throws it as a `CelError`.
 */
export class CelFailure {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** Creates a failure. */
export function fail(message: string): CelFailure {
  return new CelFailure(message);
}

/**
 * Creates a failure typed as a value, for data that does not fit its schema or a variable that
 * cannot be evaluated. The program checks every value from data for failures, although the type
 * `CelValue` excludes them.
 */
export function failedValue(message: string): CelValue {
  return fail(message) as unknown as CelValue;
}

/** The failure of a call with values that no overload accepts. */
export function noSuchOverload(): CelFailure {
  return new CelFailure("no such overload");
}
