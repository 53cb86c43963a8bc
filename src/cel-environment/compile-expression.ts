/**
 * Compiles one expression of a policy or a configuration.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/plugin/cel/compile.go
 */
import {
  CelSyntaxError,
  type CelType,
  type CheckedAst,
  type Environment,
  formatType,
  type Program,
  sameType,
} from "../lib/cel/index.ts";

/** A compiled expression, or the error. */
export type Compiled =
  | { readonly text: string; readonly program: Program; readonly checked: CheckedAst; readonly error?: undefined }
  | { readonly text: string; readonly error: string; readonly program?: undefined; readonly checked?: undefined };

/**
 * Compiles an expression.
 *
 * @param returns allowed result types; empty allows any
 * @returns an `error` such as `compilation failed: …` or `must evaluate to bool but got int`
 */
export function compileExpression(environment: Environment, text: string, returns: readonly CelType[] = []): Compiled {
  let checked: CheckedAst;
  try {
    checked = environment.compile(text);
  } catch (error) {
    if (error instanceof CelSyntaxError) return { text, error: `compilation failed: ${error.message}` };
    throw error;
  }
  if (returns.length > 0 && !returns.some((type) => sameType(type, checked.type)))
    return { text, error: mismatch(returns, checked.type) };
  try {
    return { text, program: environment.plan(checked), checked };
  } catch (error) {
    if (error instanceof CelSyntaxError) return { text, error: `program instantiation failed: ${error.message}` };
    throw error;
  }
}

/** @returns the errors of the parser and the checker, or undefined */
export function issuesOf(environment: Environment, text: string): string | undefined {
  try {
    environment.compile(text);
    return undefined;
  } catch (error) {
    if (error instanceof CelSyntaxError) return error.message;
    throw error;
  }
}

function mismatch(returns: readonly CelType[], found: CelType): string {
  const names = returns.map(longName);
  return `must evaluate to ${names.length === 1 ? names[0] : `one of [${names.join(" ")}]`} but got ${longName(found)}`;
}

/** Formats a type with run-time names such as `google.protobuf.Timestamp`. */
export function longName(type: CelType): string {
  if (type.kind === "null" || type.kind === "timestamp" || type.kind === "duration") return type.name;
  return type.parameters.length === 0 || type.kind === "wrapper"
    ? formatType(type)
    : `${type.name}(${type.parameters.map(longName).join(", ")})`;
}
