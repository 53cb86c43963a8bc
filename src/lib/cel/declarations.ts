/**
 * Declarations of an environment. A function declaration has types, implementation and costs
 * together.
 */
import type { Expr } from "./ast.ts";
import type { Range } from "./cost/range.ts";
import type { CelType } from "./types.ts";
import { fail } from "./values/failure.ts";
import type { CelValue, Result } from "./values/value.ts";

/** A variable that expressions can use. */
export interface VariableDeclaration {
  readonly name: string;
  readonly type: CelType;
  /** Set for a constant, such as the type identifiers `int` and `string`. */
  readonly value?: CelValue;
}

/**
 * The units that a call costs at run time, rounded up. The result, and with a failed argument any
 * value, can be a failure. Source: cel-go, ActualCostEstimator
 */
export type RuntimeCost = (args: readonly Result[], result: Result) => number;

/** An expression and its size, for cost estimates. */
export interface SizedNode {
  /**
   * A variable, then field names, `@items`, `@keys` or `@values`; undefined for an expression that
   * does not start at a variable.
   */
  readonly path: readonly string[] | undefined;
  readonly type: CelType;
  readonly expr: Expr;
  /** In code points, bytes, elements or entries; undefined if unknown. */
  readonly size: Range | undefined;
}

/** Sizes of the data in variables. */
export interface SizeHints {
  /** @returns undefined if the size is unknown */
  estimateSize(node: Omit<SizedNode, "size">): Range | undefined;
}

/** A call whose cost is estimated. */
export interface CallToEstimate {
  /** The receiver of a member call. */
  readonly target: SizedNode | undefined;
  /** Without the target. */
  readonly args: readonly SizedNode[];
  /** Those of the whole estimate. */
  readonly hints: SizeHints;
}

/** The estimated cost of a call, and the size of its result. */
export interface CallEstimate {
  /** Without the costs of the arguments. */
  readonly cost: Range;
  /** For a string, bytes, a list or a map. */
  readonly resultSize?: Range;
}

/** Estimates a call. @returns undefined for one unit. Source: cel-go, EstimateCallCost */
export type CostEstimate = (call: CallToEstimate) => CallEstimate | undefined;

/** One signature of a function, with implementation and costs. */
export interface OverloadDeclaration {
  /** cel-go's identifier, such as `starts_with_string`. Unique over all functions. */
  readonly id: string;
  /** Called as `x.f(y)`; `parameters[0]` is the receiver. */
  readonly member: boolean;
  /** A type parameter is any type, the same one wherever it is used. */
  readonly parameters: readonly CelType[];
  readonly result: CelType;
  /** The call is made even if arguments failed; `evaluate` receives the failures. */
  readonly nonStrict?: boolean;
  /**
   * Receives one value per parameter, the receiver first, each of the parameter's type. Without it,
   * `FunctionDeclaration.evaluate` is called.
   */
  readonly evaluate?: (...args: never[]) => Result;
  /** Used if this is the only overload that fits the argument types. Default: the function's cost, or one unit. */
  readonly cost?: RuntimeCost;
  /** Default: one unit. */
  readonly estimate?: CostEstimate;
}

/** A function or operator. */
export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly OverloadDeclaration[];
  /**
   * The implementation of all overloads. It receives values of any type: with an argument of a type
   * that is known at run time only, the checker's overload does not determine the types of the values.
   * Source: cel-go, SingletonUnaryBinding and SingletonBinaryBinding in common/decls
   */
  readonly evaluate?: (...args: never[]) => Result;
  /** The cost of overloads without an own cost, and of a call that several overloads fit. */
  readonly cost?: RuntimeCost;
  /** The estimate for every overload; replaces those of the overloads. */
  readonly estimate?: CostEstimate;
}

/** The object types of an environment. */
export interface TypeResolver {
  /** Whether there is an object type of this name. */
  hasType(name: string): boolean;
  /**
   * Whether expressions can contain the name. The names of types that are derived from a position
   * in a schema occur in messages only.
   */
  isNameable(name: string): boolean;
  /** @returns the type of a field; undefined if the object type has no such field */
  fieldType(typeName: string, field: string): CelType | undefined;
  /** Creates `Name{field: value}`. @returns a failure for values that do not fit */
  create(typeName: string, fields: ReadonlyMap<string, CelValue>): Result;
}

/** A resolver without object types. */
export const noTypes: TypeResolver = {
  hasType: () => false,
  isNameable: () => false,
  fieldType: () => undefined,
  create: (typeName) => fail(`unknown type: ${typeName}`),
};

/** Language features. All are off in `standardEnvironment()`, where `has()` costs one unit. */
export interface Features {
  /** `a.?b`, `a[?b]`, `[?a]`, `{?k: v}`. */
  readonly optionalSyntax: boolean;
  /** `1 < 2.0`. */
  readonly crossTypeNumericComparisons: boolean;
  /** The units that `has()` costs, at run time and in estimates. */
  readonly presenceTestCost: 0 | 1;
  /**
   * Literals of constants are evaluated when planned and are free at run time. Source: cel-go,
   * OptOptimize
   */
  readonly foldConstants: boolean;
}

/** A function with a fixed number of arguments that is expanded before checking. */
export interface Macro {
  readonly name: string;
  /** Called as `range.name(…)`. */
  readonly receiver: boolean;
  readonly arity: number;
  readonly expand: MacroExpander;
}

/**
 * Expands a macro.
 *
 * @returns undefined after `reportError`, or to keep the call as an ordinary one
 */
export type MacroExpander = (build: MacroBuilder, target: Expr | undefined, args: readonly Expr[]) => Expr | undefined;

/** Creates expressions at the position of the macro. */
export interface MacroBuilder {
  constant(value: CelValue): Expr;
  identifier(name: string): Expr;
  /** `name(args)`, or an operator by its name, such as `_+_`. */
  call(name: string, ...args: Expr[]): Expr;
  /** `target.name(args)`. */
  memberCall(name: string, target: Expr, ...args: Expr[]): Expr;
  list(...elements: Expr[]): Expr;
  map(...entries: [key: Expr, value: Expr][]): Expr;
  /** `has(operand.field)`. */
  presence(operand: Expr, field: string): Expr;
  comprehension(parts: ComprehensionParts): Expr;
  /** Reports a syntax error at the position of an argument. */
  reportError(at: Expr, message: string): undefined;
}

/** The parts of a `Comprehension`; the accumulator is `accumulatorName` by default. */
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
