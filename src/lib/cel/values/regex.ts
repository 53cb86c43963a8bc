/** Regular expressions with RE2's meaning and bounds: none takes longer than its length times the text's. */
import { RE2JS, RE2JSSyntaxException } from "re2js";
import { type CelFailure, fail } from "./failure.ts";

const compiled = new Map<string, RE2JS | CelFailure>();
const compiledMax = 500;

/** @returns the expression, or a failure with Go's words */
export function compileRegex(pattern: string): RE2JS | CelFailure {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const regex = compile(pattern);
  if (compiled.size >= compiledMax) compiled.delete(compiled.keys().next().value as string);
  compiled.set(pattern, regex);
  return regex;
}

function compile(pattern: string): RE2JS | CelFailure {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return fail(error.message);
    throw error;
  }
}
