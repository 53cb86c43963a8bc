/** Regular expressions with RE2's meaning and bounds: none takes longer than its length times the text's. */
import { RE2JS, RE2JSSyntaxException } from "re2js";
import { CelFailure, fail } from "./failure.ts";
import { plainPattern } from "./plain-pattern.ts";

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

type Matches = (text: string) => boolean;

const tests = new Map<string, Matches>();

/** @returns what tells whether any part of a text matches, or a failure with Go's words */
export function compileMatches(pattern: string): Matches | CelFailure {
  const known = tests.get(pattern);
  if (known !== undefined) return known;
  const test = matchesOf(pattern);
  if (test instanceof CelFailure) return test;
  if (tests.size >= compiledMax) tests.delete(tests.keys().next().value as string);
  tests.set(pattern, test);
  return test;
}

function matchesOf(pattern: string): Matches | CelFailure {
  const plain = plainPattern(pattern);
  if (plain !== undefined) return (text) => plain.test(text);
  const regex = compileRegex(pattern);
  return regex instanceof CelFailure ? regex : (text) => regex.test(text);
}

function compile(pattern: string): RE2JS | CelFailure {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return fail(error.message);
    throw error;
  }
}
