/** Environments: the variables, functions, macros and syntax of expressions. Source: cel-go, cel/env.go. */
import type { Ast } from "./ast.ts";
import { type CheckedAst, check } from "./checker.ts";
import { estimateCost, noHints } from "./cost/estimate.ts";
import type { Range } from "./cost/range.ts";
import {
  type Features,
  type FunctionDeclaration,
  type Macro,
  noTypes,
  type SizeHints,
  type TypeResolver,
  type VariableDeclaration,
} from "./declarations.ts";
import { crossTypeOrder } from "./functions/standard/logic.ts";
import { standardFunctions } from "./functions/standard/standard.ts";
import type { Library } from "./library.ts";
import { standardMacros } from "./macros.ts";
import { macroKey } from "./node-builder.ts";
import { parse } from "./parser.ts";
import { plan } from "./planner.ts";
import type { Program } from "./program.ts";
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  stringType,
  timestampType,
  typeOf,
  uintType,
} from "./types.ts";
import { unchecked } from "./unchecked.ts";
import { type Validator, validate } from "./validators.ts";
import { CelTypeValue } from "./values/value.ts";

interface Declared {
  readonly variables: ReadonlyMap<string, VariableDeclaration>;
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly macros: ReadonlyMap<string, Macro>;
  readonly validators: readonly Validator[];
  readonly features: Features;
  readonly types: TypeResolver;
}

/** Declarations that are added to an environment. */
export interface Extension extends Partial<Library> {
  /** Object types, added to those of the environment. */
  readonly types?: TypeResolver;
}

/**
 * The variables, functions, macros and syntax of expressions. Immutable.
 *
 * @example
 * ```ts
 * import { type Environment, intType, kubernetesEnvironment } from "coxswain/cel";
 *
 * const base: Environment = kubernetesEnvironment([1, 36]);
 * const environment = base.extend({ variables: [{ name: "x", type: intType }] });
 * const checked = environment.compile("x + 1");
 * console.log(checked.type === intType); // true
 * console.log(environment.estimateCost(checked).max); // 2n
 * ```
 */
export interface Environment {
  /**
   * Returns a new environment. Variables and macros replace those of the same name; overloads are
   * added to existing functions.
   */
  extend(...extensions: readonly Extension[]): Environment;
  /** Parses an expression and expands its macros. @throws CelSyntaxError */
  parse(text: string): Ast;
  /** Checks types and runs the validators. @throws CelSyntaxError */
  check(ast: Ast): CheckedAst;
  /** Parses and checks. @throws CelSyntaxError */
  compile(text: string): CheckedAst;
  /**
   * Prepares an expression for `plan` without checking types: type and name errors occur at run
   * time.
   */
  unchecked(ast: Ast): CheckedAst;
  /**
   * Compiles to a program.
   *
   * @param options `locateFailures` adds `offset` to each `CelError`
   * @throws CelSyntaxError for an invalid constant, such as `duration("x")`
   */
  plan(checked: CheckedAst, options?: { readonly locateFailures?: boolean }): Program;
  /**
   * Returns the minimum and maximum cost of an evaluation, in units.
   *
   * @param hints sizes of the variables' data; without a hint, data has any size
   */
  estimateCost(checked: CheckedAst, hints?: SizeHints): Range;
}

const typeNames: readonly [name: string, type: CelType][] = [
  ["bool", boolType],
  ["bytes", bytesType],
  ["double", doubleType],
  ["int", intType],
  ["list", listType(dynType)],
  ["map", mapType(dynType, dynType)],
  ["null_type", nullType],
  ["string", stringType],
  ["type", typeOf(dynType)],
  ["uint", uintType],
  ["google.protobuf.Timestamp", timestampType],
  ["google.protobuf.Duration", durationType],
];

const typeVariables: readonly VariableDeclaration[] = typeNames.map(([name, type]) => ({
  name,
  type: typeOf(type),
  value: new CelTypeValue(name),
}));

/** Returns the language without extensions: the standard macros and functions of cel-spec. */
export function standardEnvironment(): Environment {
  const empty: Declared = {
    variables: new Map(),
    functions: new Map(),
    macros: new Map(),
    validators: [],
    types: noTypes,
    features: { optionalSyntax: false, crossTypeNumericComparisons: false, presenceTestCost: 1, foldConstants: false },
  };
  return environmentOf(
    extended(empty, { variables: typeVariables, functions: standardFunctions, macros: standardMacros }),
  );
}

function environmentOf(declared: Declared): Environment {
  const { features, types } = declared;
  const parsing = { macros: declared.macros, optionalSyntax: features.optionalSyntax };
  const checking = { variables: declared.variables, functions: declared.functions, types };
  const checked = (ast: Ast): CheckedAst => validate(check(ast, checking), declared.validators);
  return {
    extend: (...extensions) => environmentOf(extensions.reduce(extended, declared)),
    parse: (text) => parse(text, parsing),
    check: checked,
    compile: (text) => checked(parse(text, parsing)),
    unchecked: (ast) => unchecked(ast, checking),
    plan: (checked, options = {}) => plan(checked, { features, types, ...options }),
    estimateCost: (checked, hints = noHints) =>
      estimateCost(checked, { hints, presenceTestCost: features.presenceTestCost }),
  };
}

function extended(before: Declared, extension: Extension): Declared {
  const { variables = [], functions = [], macros = [], validators = [], features = {}, types } = extension;
  const crossType =
    features.crossTypeNumericComparisons === true && !before.features.crossTypeNumericComparisons ? crossTypeOrder : [];
  return {
    variables: new Map([...before.variables, ...variables.map((variable) => [variable.name, variable] as const)]),
    functions: [...crossType, ...functions].reduce(withFunction, before.functions),
    macros: new Map([...before.macros, ...macros.map((macro) => [macroKey(macro), macro] as const)]),
    validators: [...before.validators, ...validators],
    features: { ...before.features, ...features },
    types: types === undefined ? before.types : combined(types, before.types),
  };
}

/** New overloads of an existing function come after its existing ones. */
function withFunction(
  functions: ReadonlyMap<string, FunctionDeclaration>,
  added: FunctionDeclaration,
): ReadonlyMap<string, FunctionDeclaration> {
  const before = functions.get(added.name);
  const ids = new Set(added.overloads.map((overload) => overload.id));
  const kept = before?.overloads.filter((overload) => !ids.has(overload.id)) ?? [];
  return new Map([...functions, [added.name, { ...before, ...added, overloads: [...kept, ...added.overloads] }]]);
}

function combined(first: TypeResolver, second: TypeResolver): TypeResolver {
  const resolverOf = (name: string): TypeResolver => (first.hasType(name) ? first : second);
  return {
    hasType: (name) => first.hasType(name) || second.hasType(name),
    isNameable: (name) => resolverOf(name).isNameable(name),
    fieldType: (name, field) => resolverOf(name).fieldType(name, field),
    create: (name, fields) => resolverOf(name).create(name, fields),
  };
}
