/**
 * Checks constant format strings against list literals of arguments. Source: cel-go,
 * ext/formatting.go
 */
import type { Expr } from "../../ast.ts";
import type { CheckedAst } from "../../checker.ts";
import { type CelType, dynType, type TypeKind } from "../../types.ts";
import type { Validator } from "../../validators.ts";
import { notFormattable, piecesOf, type Verb } from "./format-clauses.ts";

const kindsOf: Readonly<Record<Exclude<Verb, "s">, readonly TypeKind[]>> = {
  d: ["int", "uint"],
  f: ["double", "string"],
  e: ["double", "string"],
  b: ["int", "uint", "bool"],
  x: ["int", "uint", "string", "bytes"],
  X: ["int", "uint", "string", "bytes"],
  o: ["int", "uint"],
};

const textKinds: readonly TypeKind[] = [
  ...([
    "list",
    "map",
    "int",
    "uint",
    "double",
    "bool",
    "string",
    "timestamp",
    "bytes",
    "duration",
    "type",
    "null",
  ] as const),
];

/** Requires that a constant format string is valid for the literal list of its arguments. */
export const formatStrings: Validator = ({ expr, checked }, report) => {
  if (
    expr.kind !== "call" ||
    expr.name !== "format" ||
    expr.target?.kind !== "constant" ||
    typeof expr.target.value !== "string"
  )
    return;
  const [list] = expr.args;
  if (list?.kind !== "list" || expr.args.length !== 1) return;
  const { elements } = list;
  let used = 0;
  for (const piece of piecesOf(expr.target.value)) {
    if (typeof piece === "string") continue;
    if ("ends" in piece) return report(expr, "unexpected end of string");
    const argument = elements[used];
    if (argument === undefined) return report(expr, `index ${used} out of range`);
    if ("error" in piece) return report(expr, piece.error);
    used++;
    const invalid = findInvalid(checked, piece.clause.verb, argument);
    if (invalid !== undefined)
      return report(
        invalid,
        `error during formatting: ${notFormattable[piece.clause.verb](typeOf(checked, invalid).name)}`,
      );
  }
  if (elements.length > used)
    report(expr, `too many arguments supplied to string.format (expected ${used}, got ${elements.length})`);
};

function typeOf(checked: CheckedAst, expr: Expr): CelType {
  return checked.types.get(expr.id) ?? dynType;
}

/** @returns the argument, or the part of it, that the clause cannot format */
function findInvalid(checked: CheckedAst, verb: Verb, argument: Expr): Expr | undefined {
  if (verb === "s") return findInvalidText(checked, argument);
  return isOneOf(checked, argument, kindsOf[verb]) ? undefined : argument;
}

/** Checks the elements of list and map literals too. */
function findInvalidText(checked: CheckedAst, argument: Expr): Expr | undefined {
  if (!isOneOf(checked, argument, textKinds)) return argument;
  const parts =
    argument.kind === "list"
      ? argument.elements
      : argument.kind === "map"
        ? argument.entries.flatMap(({ key, value }) => [key, value])
        : [];
  for (const part of parts) {
    const invalid = findInvalidText(checked, part);
    if (invalid !== undefined) return invalid;
  }
  return undefined;
}

function isOneOf(checked: CheckedAst, expr: Expr, kinds: readonly TypeKind[]): boolean {
  const { kind } = typeOf(checked, expr);
  return kind === "dyn" || kinds.includes(kind);
}
