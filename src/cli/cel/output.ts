/** What the subcommands of `coxswain cel` share: where they print, and their exit code for expressions with errors. */

export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** An expression has errors, or its evaluation failed. */
export const exitWrong = 1;
