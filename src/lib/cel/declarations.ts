/** What an environment declares. A function is declared once: its name, its overloads' types, what they do and what they cost. */
import type { Expr } from "./ast.ts";
import type { Range } from "./cost/range.ts";
import type { CelType } from "./types.ts";
import { fail } from "./values/failure.ts";
import type { CelValue, Result } from "./values/value.ts";

export interface VariableDeclaration {
  readonly name: string;
  readonly type: CelType;
  /** Of a constant. The identifiers `int`, `string` and so on are such. */
  readonly value?: CelValue;
}

/** Units at run time. Rounded up by whoever computes it; `result` may be a failure. Source: cel-go's ActualCostEstimator */
export type RuntimeCost = (args: readonly Result[], result: Result) => number;

/** An argument as worst-case estimation sees it. */
export interface SizedNode {
  /** From a variable down: field names, `@items`, `@keys`, `@values`; undefined when it does not come from a variable. */
  readonly path: readonly string[] | undefined;
  readonly type: CelType;
  readonly expr: Expr;
  /** What is known of its size from the expression or from hints: of code points, bytes, elements or entries. */
  readonly size: Range | undefined;
}

/** What whoever declares variables knows of the sizes of data. */
export interface SizeHints {
  estimateSize(node: Omit<SizedNode, "size">): Range | undefined;
}

export interface CallToEstimate {
  readonly target: SizedNode | undefined;
  /** Without the target. */
  readonly args: readonly SizedNode[];
  readonly hints: SizeHints;
}

export interface CallEstimate {
  /** Without what the arguments cost. */
  readonly cost: Range;
  /** Of the result, when it is a string, bytes, a list or a map. */
  readonly resultSize?: Range;
}

/** @returns undefined when there is nothing better than one unit. Source: cel-go's EstimateCallCost */
export type CostEstimate = (call: CallToEstimate) => CallEstimate | undefined;

export interface OverloadDeclaration {
  /** Unique over all functions: upstream's name, such as `starts_with_string`. */
  readonly id: string;
  /** `x.f(y)`; `parameters[0]` is then the receiver. */
  readonly member: boolean;
  readonly parameters: readonly CelType[];
  readonly result: CelType;
  /** Called although arguments failed; it gets the failures. */
  readonly nonStrict?: boolean;
  /** Called with values of whatever types: it looks at them itself. */
  readonly unguarded?: boolean;
  /** Called with as many values as there are parameters, the receiver first, each of the parameter's type at run time. */
  readonly evaluate: (...args: never[]) => Result;
  /** Counted when the checker found this overload to be the only one that fits; one unit otherwise, and where it is left out. */
  readonly cost?: RuntimeCost;
  readonly estimate?: CostEstimate;
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly OverloadDeclaration[];
  /** Costs of all overloads alike, whichever is called; those of the overloads do not count then. */
  readonly cost?: RuntimeCost;
  readonly estimate?: CostEstimate;
}

/** What fields messages have. */
export interface TypeResolver {
  /** Whether there is an object type of this name. */
  hasType(name: string): boolean;
  /** Whether expressions may write its name. Types that are called after their place in a schema have names for messages only. */
  isNameable(name: string): boolean;
  /** @returns the type of a field, undefined when the object type has no such field */
  fieldType(typeName: string, field: string): CelType | undefined;
  /** Makes `Name{field: value}`. @returns a failure when it cannot be made */
  create(typeName: string, fields: ReadonlyMap<string, CelValue>): Result;
}

export const noTypes: TypeResolver = {
  hasType: () => false,
  isNameable: () => false,
  fieldType: () => undefined,
  create: (typeName) => fail(`unknown type: ${typeName}`),
};

/** What may be switched on; off unless said otherwise. */
export interface Features {
  /** `a.?b`, `a[?b]`, `[?a]`, `{?k: v}`. */
  readonly optionalSyntax: boolean;
  /** `1 < 2.0`. */
  readonly crossTypeNumericComparisons: boolean;
  /** What `has()` costs, at run time and in estimates: one unit, or none. */
  readonly presenceTestCost: 0 | 1;
  /** Literals of constants are made once and cost nothing at run time. Source: cel-go's OptOptimize */
  readonly foldConstants: boolean;
}

/** A function with a fixed number of arguments that is expanded before checking. */
export interface Macro {
  readonly name: string;
  /** Called as `range.name(…)`. */
  readonly receiver: boolean;
  readonly arity: number;
  /** @returns undefined when it is an ordinary call after all */
  readonly expand: MacroExpander;
}

export type MacroExpander = (build: MacroBuilder, target: Expr | undefined, args: readonly Expr[]) => Expr | undefined;

/** Makes expressions that stand where the macro stands. */
export interface MacroBuilder {
  constant(value: CelValue): Expr;
  identifier(name: string): Expr;
  call(name: string, ...args: Expr[]): Expr;
  memberCall(name: string, target: Expr, ...args: Expr[]): Expr;
  list(...elements: Expr[]): Expr;
  map(...entries: [key: Expr, value: Expr][]): Expr;
  presence(operand: Expr, field: string): Expr;
  comprehension(parts: ComprehensionParts): Expr;
  /** Complains, at the place of an argument. */
  complain(at: Expr, message: string): undefined;
}

export interface ComprehensionParts {
  readonly variable: string;
  readonly variable2?: string;
  readonly range: Expr;
  readonly accumulator?: string;
  readonly init: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}
