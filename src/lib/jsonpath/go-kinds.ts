/** Values that JSON does not have, and Go tells from those it has. */

/** One byte of a text: texts are walked through, too. */
export class TextByte {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** A number of the template: its kind is told by how it is written. */
export class NumberLiteral {
  readonly value: number;
  readonly isFloat: boolean;
  constructor(value: number, isFloat: boolean) {
    this.value = value;
    this.isFloat = isFloat;
  }
}
