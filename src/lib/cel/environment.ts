/** An environment: what expressions may name, call and write. It is never changed; extending it makes another. */
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
import { macroKey, parse } from "./parser.ts";
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

export interface Extension extends Partial<Library> {
  /** Object types; what the environment knew of them before is asked too. */
  readonly types?: TypeResolver;
}

export interface Environment {
  /** What is declared again takes the place of what was; overloads are added to functions that are there. */
  extend(...extensions: readonly Extension[]): Environment;
  /** @throws CelSyntaxError */
  parse(text: string): Ast;
  /** @throws CelSyntaxError */
  check(ast: Ast): CheckedAst;
  /** Parses and checks. @throws CelSyntaxError */
  compile(text: string): CheckedAst;
  /** What can be planned although it was not checked: types are found out at run time, names of nothing fail then. */
  unchecked(ast: Ast): CheckedAst;
  /** @throws CelSyntaxError when a constant in it cannot be made, such as `duration("x")` */
  plan(checked: CheckedAst, options?: { readonly locateFailures?: boolean }): Program;
  /** Worst case and best case. @param hints sizes of what variables hold; what is not known may be of any size */
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

/** The language without extensions: standard macros and functions. */
export function standardEnvironment(): Environment {
  const nothing: Declared = {
    variables: new Map(),
    functions: new Map(),
    macros: new Map(),
    validators: [],
    types: noTypes,
    features: { optionalSyntax: false, crossTypeNumericComparisons: false, presenceTestCost: 1, foldConstants: false },
  };
  return environmentOf(
    extended(nothing, { variables: typeVariables, functions: standardFunctions, macros: standardMacros }),
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
    types: types === undefined ? before.types : eitherOf(types, before.types),
  };
}

/** Overloads of a function that is declared already come after those it has. */
function withFunction(
  functions: ReadonlyMap<string, FunctionDeclaration>,
  added: FunctionDeclaration,
): ReadonlyMap<string, FunctionDeclaration> {
  const before = functions.get(added.name);
  const ids = new Set(added.overloads.map((overload) => overload.id));
  const kept = before?.overloads.filter((overload) => !ids.has(overload.id)) ?? [];
  return new Map([...functions, [added.name, { ...before, ...added, overloads: [...kept, ...added.overloads] }]]);
}

function eitherOf(first: TypeResolver, second: TypeResolver): TypeResolver {
  const of = (name: string): TypeResolver => (first.hasType(name) ? first : second);
  return {
    hasType: (name) => first.hasType(name) || second.hasType(name),
    isNameable: (name) => of(name).isNameable(name),
    fieldType: (name, field) => of(name).fieldType(name, field),
    create: (name, fields) => of(name).create(name, fields),
  };
}
