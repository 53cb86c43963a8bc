/**
 * Regular expressions with the semantics of RE2. Matching takes time linear in pattern and
 * text. Source: https://github.com/google/re2/wiki/Syntax.
 */
import { RE2JS, RE2JSSyntaxException } from "re2js";
import { CelFailure, fail } from "./failure.ts";
import { plainPattern } from "./plain-pattern.ts";

const compiled = new Map<string, RE2JS | CelFailure>();
const compiledMax = 500;

/**
 * Compiles a pattern; results are cached.
 *
 * @returns a failure with Go's message for an invalid pattern
 */
export function compileRegex(pattern: string): RE2JS | CelFailure {
  const cached = compiled.get(pattern);
  if (cached !== undefined) return cached;
  const regex = compile(pattern);
  if (compiled.size >= compiledMax) compiled.delete(compiled.keys().next().value as string);
  compiled.set(pattern, regex);
  return regex;
}

type Matches = (text: string) => boolean;

const tests = new Map<string, Matches>();

/**
 * Compiles a pattern to a test whether any part of a text matches; results are cached.
 *
 * @returns a failure with Go's message for an invalid pattern
 */
export function compileMatches(pattern: string): Matches | CelFailure {
  const cached = tests.get(pattern);
  if (cached !== undefined) return cached;
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
