/** Format strings that are written down are right for the list that is written down beside them. Source: cel-go's ext/formatting.go */
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

export const formatStrings: Validator = ({ expr, checked }, complain) => {
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
    if ("ends" in piece) return complain(expr, "unexpected end of string");
    const argument = elements[used];
    if (argument === undefined) return complain(expr, `index ${used} out of range`);
    if ("wrong" in piece) return complain(expr, piece.wrong);
    used++;
    const bad = unfit(checked, piece.clause.verb, argument);
    if (bad !== undefined)
      return complain(bad, `error during formatting: ${notFormattable[piece.clause.verb](typeOf(checked, bad).name)}`);
  }
  if (elements.length > used)
    complain(expr, `too many arguments supplied to string.format (expected ${used}, got ${elements.length})`);
};

function typeOf(checked: CheckedAst, expr: Expr): CelType {
  return checked.types.get(expr.id) ?? dynType;
}

/** @returns the argument, or the part of it, that has no such form */
function unfit(checked: CheckedAst, verb: Verb, argument: Expr): Expr | undefined {
  if (verb === "s") return unfitText(checked, argument);
  return isOneOf(checked, argument, kindsOf[verb]) ? undefined : argument;
}

/** Lists and maps that are written down are looked into. */
function unfitText(checked: CheckedAst, argument: Expr): Expr | undefined {
  if (!isOneOf(checked, argument, textKinds)) return argument;
  const parts =
    argument.kind === "list"
      ? argument.elements
      : argument.kind === "map"
        ? argument.entries.flatMap(({ key, value }) => [key, value])
        : [];
  for (const part of parts) {
    const bad = unfitText(checked, part);
    if (bad !== undefined) return bad;
  }
  return undefined;
}

function isOneOf(checked: CheckedAst, expr: Expr, kinds: readonly TypeKind[]): boolean {
  const { kind } = typeOf(checked, expr);
  return kind === "dyn" || kinds.includes(kind);
}
