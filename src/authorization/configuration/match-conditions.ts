/**
 * The match conditions of a webhook: CEL over the review, compiled when the configuration is
 * parsed.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authorization/cel/matcher.go,
 * pkg/apis/apiserver/validation/validation.go.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { type ReviewSpec, reviewExpressions, reviewValue } from "../../cel-environment/index.ts";
import { boolType } from "../../lib/cel/index.ts";
import { joinErrors } from "../../lib/json/quote.ts";

/** `error`: at least one condition has an evaluation error, and none is false. */
export type Match = { readonly matches: boolean; readonly error?: undefined } | { readonly error: string };

/** Compiled match conditions. */
export interface MatchConditions {
  readonly texts: readonly string[];
  evaluate(spec: ReviewSpec): Match;
}

/** Source: k8s.io/apiserver@v0.36.0/pkg/apis/apiserver/validation/validation.go. */
const conditionsMax = 64;

/**
 * Compiles the conditions and adds a field error for each invalid one.
 *
 * @param path the field path of the list, for errors
 * @returns undefined when no condition is valid
 */
export function compileMatchConditions(
  texts: readonly string[],
  path: string,
  errors: FieldErrors,
): MatchConditions | undefined {
  if (texts.length > conditionsMax) {
    errors.tooMany(path, texts.length, conditionsMax);
    return undefined;
  }
  const expressions = reviewExpressions();
  const seen = new Set<string>();
  const compiled = texts.flatMap((text, index) => {
    const at = `${path}[${index}].expression`;
    const found = expressions.compile(text, [boolType]);
    if (text.trim() === "") errors.required(at);
    else if (seen.has(text)) errors.duplicate(at, text);
    else if (found.error !== undefined) errors.invalid(at, text, found.error);
    else {
      seen.add(text);
      return [found];
    }
    seen.add(text);
    return [];
  });
  if (compiled.length === 0) return undefined;
  const evaluate = (spec: ReviewSpec): Match => {
    const value = reviewValue(spec);
    const problems: string[] = [];
    for (const condition of compiled) {
      const result = expressions.evaluate(condition, value);
      if (result.error !== undefined) problems.push(`cel evaluation error: ${result.error}`);
      else if (result.value !== true) return { matches: false };
    }
    if (problems.length === 0) return { matches: true };
    return { error: joinErrors(problems) };
  };
  return { texts, evaluate };
}
