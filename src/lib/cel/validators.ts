/** Checks of an expression after type checking. Source: cel-go, cel/validator.go */
import { children, type Expr } from "./ast.ts";
import type { CheckedAst } from "./checker.ts";
import { CelSyntaxError } from "./errors.ts";
import type { Issue } from "./source.ts";
import { type CelType, dynType, formatType, isOptional, sameType } from "./types.ts";
import { CelFailure } from "./values/failure.ts";
import { compileRegex } from "./values/regex.ts";
import type { CelValue } from "./values/value.ts";

/** Reports errors of a well-typed expression. Called for each of its nodes. */
export type Validator = (expr: ValidatedExpr, report: (at: Expr, message: string) => void) => void;

/** A node of the syntax tree and its context. */
export interface ValidatedExpr {
  readonly expr: Expr;
  /** The whole expression. */
  readonly checked: CheckedAst;
  /** Names of the enclosing calls, the outermost first. */
  readonly within: readonly string[];
}

/** Runs all validators. @throws CelSyntaxError with all errors */
export function validate(checked: CheckedAst, validators: readonly Validator[]): CheckedAst {
  if (validators.length === 0) return checked;
  const issues: Issue[] = [];
  const seen = new Set<number>();
  const report = (at: Expr, message: string): void => {
    issues.push({ offset: at.offset, message });
  };
  const within: string[] = [];
  const walk = (expr: Expr): void => {
    if (seen.has(expr.id)) return; // Macros use some expressions twice.
    seen.add(expr.id);
    for (const validator of validators) validator({ expr, checked, within }, report);
    if (expr.kind === "call") within.push(expr.name);
    for (const child of children(expr)) walk(child);
    if (expr.kind === "call") within.pop();
  };
  walk(checked.root);
  if (issues.length > 0) throw new CelSyntaxError(checked.source, issues);
  return checked;
}

function typeOf(checked: CheckedAst, expr: Expr, isOptionalEntry: boolean): CelType {
  const type = checked.types.get(expr.id) ?? dynType;
  return isOptionalEntry && isOptional(type) ? (type.parameters[0] as CelType) : type;
}

/** Requires that all elements of a literal have one type, except in arguments of `format()`. */
export const homogeneousLiterals: Validator = ({ expr, checked, within }, report) => {
  if ((expr.kind !== "list" && expr.kind !== "map") || within.includes("format")) return;
  const differs = (at: Expr, expected: CelType, found: CelType): boolean => {
    if (sameType(expected, found)) return false;
    report(at, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
    return true;
  };
  if (expr.kind === "list") {
    const [first, ...others] = expr.elements.map((element, index) => ({
      element,
      type: typeOf(checked, element, expr.optionalIndices.has(index)),
    }));
    if (first !== undefined) others.some(({ element, type }) => differs(element, first.type, type));
    return;
  }
  const entries = expr.entries.map(({ key, value, optional }) => ({
    key,
    value,
    keyType: typeOf(checked, key, false),
    valueType: typeOf(checked, value, optional),
  }));
  const [first, ...others] = entries;
  if (first === undefined) return;
  for (const { key, value, keyType, valueType } of others) {
    differs(key, first.keyType, keyType);
    differs(value, first.valueType, valueType);
  }
};

/** Requires valid constants in calls of `duration()`, `timestamp()` and `matches()`. */
export const literalArguments: Validator = ({ expr, checked }, report) => {
  if (expr.kind !== "call") return;
  const [argument] = expr.args;
  if (argument?.kind !== "constant" || !isInvalid(expr.name, argument.value, () => overloadsOf(checked, expr))) return;
  report(argument, `invalid ${expr.name} argument`);
};

type Evaluate = (value: CelValue) => unknown;

function overloadsOf(checked: CheckedAst, expr: Expr): readonly Evaluate[] {
  const reference = checked.references.get(expr.id);
  return reference?.kind === "call" ? reference.overloads.map((overload) => overload.evaluate as Evaluate) : [];
}

function isInvalid(name: string, value: CelValue, overloads: () => readonly Evaluate[]): boolean {
  if (name === "matches") return typeof value === "string" && compileRegex(value) instanceof CelFailure;
  return (
    (name === "duration" || name === "timestamp") &&
    overloads().some((evaluate) => evaluate(value) instanceof CelFailure)
  );
}
