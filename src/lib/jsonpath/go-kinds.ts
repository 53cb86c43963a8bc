/** Kinds of values that Go distinguishes and JSON does not. Source: https://pkg.go.dev/reflect#Kind. */

/** One byte of a string: a wildcard on a string returns its bytes. */
export class TextByte {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** A number in the template. Its notation determines whether it is a float. */
export class NumberLiteral {
  readonly value: number;
  readonly isFloat: boolean;
  constructor(value: number, isFloat: boolean) {
    this.value = value;
    this.isFloat = isFloat;
  }
}
