import type { CelValue } from "./value.ts";

/**
 * An error at run time, passed along as a value: no stack is taken, for rules of policies fail often and `||` may absorb it. Whoever
 * evaluates a program gets it as a `CelError`.
 */
export class CelFailure {
  readonly message: string;
  /** Where: the id of the expression, 0 when it is not known. */
  readonly id: number;
  constructor(message: string, id = 0) {
    this.message = message;
    this.id = id;
  }
}

export function fail(message: string): CelFailure {
  return new CelFailure(message);
}

/**
 * A failure in the place of a value, where data does not fit its schema or a variable cannot be evaluated: steps look for failures in
 * whatever values give, though the types of values do not say so, for data of every other kind always fits.
 */
export function failedValue(message: string): CelValue {
  return fail(message) as unknown as CelValue;
}

/** No overload of the function takes values of these types. */
export function noSuchOverload(): CelFailure {
  return new CelFailure("no such overload");
}
