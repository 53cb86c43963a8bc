/** The exit code of `coxswain cel` if an expression is invalid, or its evaluation failed. */
export const exitInvalid = 1;
