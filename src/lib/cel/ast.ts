/** Expressions after parsing and after macros were expanded. */
import type { Source } from "./source.ts";
import type { CelValue } from "./values/value.ts";

interface Node {
  /** Unique within its tree, from 1. */
  readonly id: number;
  /** Where it stands, in UTF-16 units: of an operator, its sign; of a call, its opening parenthesis. */
  readonly offset: number;
}

export interface Constant extends Node {
  readonly kind: "constant";
  readonly value: CelValue;
}

export interface Identifier extends Node {
  readonly kind: "identifier";
  readonly name: string;
}

export interface Select extends Node {
  readonly kind: "select";
  readonly operand: Expr;
  readonly field: string;
  /** `has(operand.field)`. */
  readonly testOnly: boolean;
}

/** Operators are calls too: `_+_`, `_?_:_`, `_[_]`, `@in`, and `_?._`, `_[?_]` of optional syntax. */
export interface Call extends Node {
  readonly kind: "call";
  readonly name: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}

export interface ListLiteral extends Node {
  readonly kind: "list";
  readonly elements: readonly Expr[];
  /** Of those elements that are written `?x`. */
  readonly optionalIndices: ReadonlySet<number>;
}

export interface MapEntry {
  readonly id: number;
  readonly offset: number;
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}

export interface MapLiteral extends Node {
  readonly kind: "map";
  readonly entries: readonly MapEntry[];
}

export interface StructField {
  readonly id: number;
  readonly offset: number;
  readonly name: string;
  readonly value: Expr;
  readonly optional: boolean;
}

export interface StructLiteral extends Node {
  readonly kind: "struct";
  readonly name: string;
  readonly fields: readonly StructField[];
}

/**
 * What macros expand to: `accumulator` starts as `init`; for each element, while `condition` holds, it becomes `step`; `result` is the
 * value. With two variables, the first is the index or key, the second the element or value.
 */
export interface Comprehension extends Node {
  readonly kind: "comprehension";
  readonly variable: string;
  readonly variable2: string | undefined;
  readonly range: Expr;
  readonly accumulator: string;
  readonly init: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

export type Expr = Constant | Identifier | Select | Call | ListLiteral | MapLiteral | StructLiteral | Comprehension;

export interface Ast {
  readonly source: Source;
  readonly root: Expr;
}

/** The accumulator of the macros; no expression can name it. */
export const accumulatorName = "@result";

export function isConstant(expr: Expr, value: CelValue): boolean {
  return expr.kind === "constant" && expr.value === value;
}

/** A comprehension over nothing, as `optMap` makes it: it gives a value a name. */
export function isBinding(expr: Comprehension): boolean {
  const overNothing = expr.range.kind === "list" && expr.range.elements.length === 0;
  return overNothing && isConstant(expr.condition, false) && expr.accumulator !== accumulatorName;
}

/** The expressions directly within this one. */
export function children(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case "constant":
    case "identifier":
      return [];
    case "select":
      return [expr.operand];
    case "call":
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case "list":
      return expr.elements;
    case "map":
      return expr.entries.flatMap((entry) => [entry.key, entry.value]);
    case "struct":
      return expr.fields.map((field) => field.value);
    case "comprehension":
      return [expr.range, expr.init, expr.condition, expr.step, expr.result];
  }
}
