/** What the commands of `coxswain cel` share. */

/** The exit code if an expression is invalid, or its evaluation failed. */
export const exitInvalid = 1;

/** An error in one expression. */
export interface Problem {
  /** The path in the object, such as `spec.validations[0].expression`. */
  readonly field: string;
  /** May have several lines, with a caret under the position. */
  readonly message: string;
}

/** The result of checking one object. */
export interface Checked {
  /** Number of expressions in the object. */
  readonly expressions: number;
  readonly problems: readonly Problem[];
}
