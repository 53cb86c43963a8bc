/**
 * The syntax tree of an expression, after parsing and macro expansion. Source: cel-spec,
 * proto/cel/expr/syntax.proto.
 */
import type { Source } from "./source.ts";
import type { CelValue } from "./values/value.ts";

/** What all nodes of the syntax tree have. */
export interface Node {
  /** Unique within the tree, starting at 1. */
  readonly id: number;
  /** In UTF-16 units: of an operator, its sign; of a call, the opening parenthesis. */
  readonly offset: number;
}

/** A literal. */
export interface Constant extends Node {
  readonly kind: "constant";
  readonly value: CelValue;
}

/** The name of a variable or a type. */
export interface Identifier extends Node {
  readonly kind: "identifier";
  readonly name: string;
}

/** `operand.field`. */
export interface Select extends Node {
  readonly kind: "select";
  readonly operand: Expr;
  readonly field: string;
  /** True for `has(operand.field)`. */
  readonly testOnly: boolean;
}

/**
 * A function call or an operator: `_+_`, `_?_:_`, `_[_]`, `@in`, and `_?._`, `_[?_]` of optional
 * syntax.
 */
export interface Call extends Node {
  readonly kind: "call";
  /** Of a function, as in `math.greatest`; of an operator, as above. */
  readonly name: string;
  /** The `x` of `x.f(y)`; undefined for `f(y)`. */
  readonly target: Expr | undefined;
  /** Without the target. */
  readonly args: readonly Expr[];
}

/** `[a, ?b]`. */
export interface ListLiteral extends Node {
  readonly kind: "list";
  readonly elements: readonly Expr[];
  /** Indices of the elements that are written `?x`. */
  readonly optionalIndices: ReadonlySet<number>;
}

/** `key: value` in a map literal. */
export interface MapEntry {
  readonly id: number;
  readonly offset: number;
  readonly key: Expr;
  readonly value: Expr;
  /** Written `?key: value`. */
  readonly optional: boolean;
}

/** `{key: value}`. */
export interface MapLiteral extends Node {
  readonly kind: "map";
  /** In the order of the text. */
  readonly entries: readonly MapEntry[];
}

/** `name: value` in a message literal. */
export interface StructField {
  readonly id: number;
  readonly offset: number;
  readonly name: string;
  readonly value: Expr;
  /** Written `?name: value`. */
  readonly optional: boolean;
}

/** `Name{field: value}`. */
export interface StructLiteral extends Node {
  readonly kind: "struct";
  /** Of the type, qualified as it is written. */
  readonly name: string;
  readonly fields: readonly StructField[];
}

/**
 * The expansion of `all`, `map` and other macros: `accumulator` starts as `init`; for each element,
 * while `condition` is true, it becomes `step`; the value is `result`. With two variables, the
 * first is the index or key, the second the element or value.
 */
export interface Comprehension extends Node {
  readonly kind: "comprehension";
  readonly variable: string;
  /** Undefined for a comprehension with one variable. */
  readonly variable2: string | undefined;
  /** A list or a map. */
  readonly range: Expr;
  readonly accumulator: string;
  readonly init: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

/** A node of the syntax tree. */
export type Expr = Constant | Identifier | Select | Call | ListLiteral | MapLiteral | StructLiteral | Comprehension;

/** A parsed expression. */
export interface Ast {
  readonly source: Source;
  readonly root: Expr;
}

/** The accumulator variable of the macros. An expression cannot contain this name. */
export const accumulatorName = "@result";

export function isConstant(expr: Expr, value: CelValue): boolean {
  return expr.kind === "constant" && expr.value === value;
}

/** Whether a comprehension only binds a value to a name: its range is empty, as in `optMap`. */
export function isBinding(expr: Comprehension): boolean {
  const isEmpty = expr.range.kind === "list" && expr.range.elements.length === 0;
  return isEmpty && isConstant(expr.condition, false) && expr.accumulator !== accumulatorName;
}

/** Returns the direct subexpressions. */
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
