/**
 * What is asked of an expression after its types are found to be right. Source: cel-go's cel/validator.go
 */
import { children, type Expr } from "./ast.ts";
import type { CheckedAst } from "./checker.ts";
import { CelSyntaxError, type Issue } from "./errors.ts";
import { type CelType, dynType, formatType, isOptional, sameType } from "./types.ts";
import { CelFailure } from "./values/failure.ts";
import { compileRegex } from "./values/regex.ts";
import type { CelValue } from "./values/value.ts";

/** Complains about expressions that would be accepted otherwise. */
export type Validator = (expr: ValidatedExpr, complain: (at: Expr, message: string) => void) => void;

export interface ValidatedExpr {
  readonly expr: Expr;
  readonly checked: CheckedAst;
  /** Names of the calls around it. */
  readonly within: ReadonlySet<string>;
}

/** @throws CelSyntaxError with all complaints */
export function validate(checked: CheckedAst, validators: readonly Validator[]): CheckedAst {
  if (validators.length === 0) return checked;
  const issues: Issue[] = [];
  const seen = new Set<number>();
  const complain = (at: Expr, message: string): void => {
    issues.push({ offset: at.offset, message });
  };
  const walk = (expr: Expr, within: ReadonlySet<string>): void => {
    if (seen.has(expr.id)) return; // Macros use some expressions twice.
    seen.add(expr.id);
    for (const validator of validators) validator({ expr, checked, within }, complain);
    const below = expr.kind === "call" && !within.has(expr.name) ? new Set([...within, expr.name]) : within;
    for (const child of children(expr)) walk(child, below);
  };
  walk(checked.root, new Set());
  if (issues.length > 0) throw new CelSyntaxError(checked.source, issues);
  return checked;
}

function typeOf(checked: CheckedAst, expr: Expr, isOptionalEntry: boolean): CelType {
  const type = checked.types.get(expr.id) ?? dynType;
  return isOptionalEntry && isOptional(type) ? (type.parameters[0] as CelType) : type;
}

/** All elements of a literal have one type; what `format()` takes may differ. */
export const homogeneousLiterals: Validator = ({ expr, checked, within }, complain) => {
  if (within.has("format")) return;
  const mismatch = (at: Expr, expected: CelType, found: CelType): boolean => {
    if (sameType(expected, found)) return false;
    complain(at, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
    return true;
  };
  if (expr.kind === "list") {
    const types = expr.elements.map((element, index) => typeOf(checked, element, expr.optionalIndices.has(index)));
    expr.elements.some((element, index) => mismatch(element, types[0] as CelType, types[index] as CelType));
  }
  if (expr.kind !== "map") return;
  const types = expr.entries.map(({ key, value, optional }) => [typeOf(checked, key, false), typeOf(checked, value, optional)] as const);
  for (const [index, { key, value }] of expr.entries.entries()) {
    const [[firstKey, firstValue], [keyType, valueType]] = [types[0], types[index]] as [readonly [CelType, CelType], readonly [CelType, CelType]];
    mismatch(key, firstKey, keyType);
    mismatch(value, firstValue, valueType);
  }
};

/** Constants given to `duration()`, `timestamp()` and `matches()` are such. */
export const literalArguments: Validator = ({ expr, checked }, complain) => {
  if (expr.kind !== "call") return;
  const [argument] = expr.args;
  if (argument?.kind !== "constant" || !isRefused(expr.name, argument.value, () => overloadsOf(checked, expr))) return;
  complain(argument, `invalid ${expr.name} argument`);
};

type Evaluate = (value: CelValue) => unknown;

function overloadsOf(checked: CheckedAst, expr: Expr): readonly Evaluate[] {
  const reference = checked.references.get(expr.id);
  return reference?.kind === "call" ? reference.overloads.map((overload) => overload.evaluate as Evaluate) : [];
}

function isRefused(name: string, value: CelValue, overloads: () => readonly Evaluate[]): boolean {
  if (name === "matches") return typeof value === "string" && compileRegex(value) instanceof CelFailure;
  return (name === "duration" || name === "timestamp") && overloads().some((evaluate) => evaluate(value) instanceof CelFailure);
}
