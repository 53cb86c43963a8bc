/** One expression of a policy or a configuration. Source: k8s.io/apiserver pkg/admission/plugin/cel/compile.go */
import {
  CelSyntaxError,
  type CelType,
  type CheckedAst,
  type Environment,
  formatType,
  type Program,
  sameType,
} from "../lib/cel/index.ts";

export type Compiled =
  | { readonly text: string; readonly program: Program; readonly checked: CheckedAst; readonly error?: undefined }
  | { readonly text: string; readonly error: string; readonly program?: undefined; readonly checked?: undefined };

/**
 * @param returns the types that its value may have; none: any
 * @returns `error` in upstream's words, such as `compilation failed: …` and `must evaluate to bool but got int`
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

/** What the parser and the checker say; undefined when they have no complaint. */
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

/** As types are called at run time, where the checker has shorter names. */
export function longName(type: CelType): string {
  if (type.kind === "null" || type.kind === "timestamp" || type.kind === "duration") return type.name;
  return type.parameters.length === 0 || type.kind === "wrapper"
    ? formatType(type)
    : `${type.name}(${type.parameters.map(longName).join(", ")})`;
}
