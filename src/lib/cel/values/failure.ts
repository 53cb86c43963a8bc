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

/** No overload of the function takes values of these types. */
export function noSuchOverload(): CelFailure {
  return new CelFailure("no such overload");
}
