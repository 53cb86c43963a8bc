/** Exit codes of `coxswain cel`. */

/** An expression is invalid, or its evaluation failed. */
export const exitInvalid = 1;

/** The command line or an input file is invalid. */
export const exitUsage = 2;
