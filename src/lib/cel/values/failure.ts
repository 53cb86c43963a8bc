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

/** The failure of a call with values that no overload accepts. */
export function noSuchOverload(): CelFailure {
  return new CelFailure("no such overload");
}
