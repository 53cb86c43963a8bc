/**
 * The macros. They expand to the same expressions as in cel-go, because costs are counted on those.
 */
import { accumulatorName, type Expr } from "./ast.ts";
import type { ComprehensionParts, Macro, MacroBuilder, MacroExpander } from "./declarations.ts";

type Build = MacroBuilder;

function accumulator(build: Build): Expr {
  return build.identifier(accumulatorName);
}

/** @returns the name of a variable, or undefined after an error */
function variableName(build: Build, arg: Expr, message: string): string | undefined {
  if (arg.kind !== "identifier" || arg.name === "") return build.reportError(arg, message);
  if (arg.name === accumulatorName || arg.name === "__result__")
    return build.reportError(arg, "iteration variable overwrites accumulator variable");
  return arg.name;
}

/** @returns the names of the macro's one or two variables, or undefined after an error */
function variables(
  build: Build,
  args: readonly Expr[],
  count: number,
  message: string,
): { variable: string; variable2?: string } | undefined {
  const variable = variableName(build, args[0] as Expr, message);
  if (count === 1) return variable === undefined ? undefined : { variable };
  const variable2 = variableName(build, args[1] as Expr, message);
  if (variable === undefined || variable2 === undefined) return undefined;
  if (variable === variable2) return build.reportError(args[1] as Expr, `duplicate variable name: ${variable}`);
  return { variable, variable2 };
}

type Quantifier = (build: Build, predicate: Expr) => Pick<ComprehensionParts, "init" | "condition" | "step" | "result">;

const all: Quantifier = (build, predicate) => ({
  init: build.constant(true),
  condition: build.call("@not_strictly_false", accumulator(build)),
  step: build.call("_&&_", accumulator(build), predicate),
  result: accumulator(build),
});

const exists: Quantifier = (build, predicate) => ({
  init: build.constant(false),
  condition: build.call("@not_strictly_false", build.call("!_", accumulator(build))),
  step: build.call("_||_", accumulator(build), predicate),
  result: accumulator(build),
});

const existsOne: Quantifier = (build, predicate) => ({
  init: build.constant(0),
  condition: build.constant(true),
  step: build.call("_?_:_", predicate, build.call("_+_", accumulator(build), build.constant(1)), accumulator(build)),
  result: build.call("_==_", accumulator(build), build.constant(1)),
});

function quantifier(parts: Quantifier, count: 1 | 2): MacroExpander {
  return (build, target, args) => {
    const names = variables(build, args, count, "argument must be a simple name");
    if (names === undefined) return undefined;
    return build.comprehension({ ...names, range: target as Expr, ...parts(build, args[count] as Expr) });
  };
}

/** `map`, `filter` and `transformList`: each iteration appends one element to a list. */
function growingList(
  build: Build,
  names: { variable: string; variable2?: string },
  range: Expr,
  predicate: Expr | undefined,
  element: Expr,
): Expr {
  const grown = build.call("_+_", accumulator(build), build.list(element));
  const step = predicate === undefined ? grown : build.call("_?_:_", predicate, grown, accumulator(build));
  return build.comprehension({
    ...names,
    range,
    init: build.list(),
    condition: build.constant(true),
    step,
    result: accumulator(build),
  });
}

const map: MacroExpander = (build, target, args) => {
  const names = variables(build, args, 1, "argument is not an identifier");
  if (names === undefined) return undefined;
  const predicate = args.length === 3 ? args[1] : undefined;
  return growingList(build, names, target as Expr, predicate, args.at(-1) as Expr);
};

const filter: MacroExpander = (build, target, args) => {
  const names = variables(build, args, 1, "argument is not an identifier");
  if (names === undefined) return undefined;
  return growingList(build, names, target as Expr, args[1] as Expr, build.identifier(names.variable));
};

const has: MacroExpander = (build, _target, args) => {
  const arg = args[0] as Expr;
  if (arg.kind === "select") return build.presence(arg.operand, arg.field);
  return build.reportError(arg, "invalid argument to has() macro");
};

const transformList: MacroExpander = (build, target, args) => {
  const names = variables(build, args, 2, "argument must be a simple name");
  if (names === undefined) return undefined;
  const predicate = args.length === 4 ? args[2] : undefined;
  return growingList(build, names, target as Expr, predicate, args.at(-1) as Expr);
};

/** @param insert returns an expression that adds the last argument to the accumulated map */
function transformToMap(insert: (build: Build, variable: string, value: Expr) => Expr): MacroExpander {
  return (build, target, args) => {
    const names = variables(build, args, 2, "argument must be a simple name");
    if (names === undefined) return undefined;
    const inserted = insert(build, names.variable, args.at(-1) as Expr);
    const step = args.length === 4 ? build.call("_?_:_", args[2] as Expr, inserted, accumulator(build)) : inserted;
    const parts = {
      ...names,
      range: target as Expr,
      init: build.map(),
      condition: build.constant(true),
      step,
      result: accumulator(build),
    };
    return build.comprehension(parts);
  };
}

const transformMap = transformToMap((build, key, value) =>
  build.call("cel.@mapInsert", accumulator(build), build.identifier(key), value),
);
const transformMapEntry = transformToMap((build, _key, entry) =>
  build.call("cel.@mapInsert", accumulator(build), entry),
);

/**
 * `x.sortBy(v, key)`: an empty comprehension binds the list, which is sorted by the list of keys.
 */
const sortBy: MacroExpander = (build, target, args) => {
  const list = target as Expr;
  if (list.kind === "constant" || list.kind === "map" || list.kind === "struct")
    return build.reportError(
      list,
      "sortBy can only be applied to a list, identifier, comprehension, call or select expression",
    );
  const bound = "@__sortBy_input__";
  const keys = map(build, build.identifier(bound), args);
  if (keys === undefined) return undefined;
  return build.comprehension({
    variable: "#unused",
    range: build.list(),
    accumulator: bound,
    init: list,
    condition: build.constant(false),
    step: build.identifier(bound),
    result: build.memberCall("@sortByAssociatedKeys", build.identifier(bound), keys),
  });
};

/** `x.optMap(v, f)`: an empty comprehension binds the variable. */
function optional(wrap: (build: Build, value: Expr) => Expr): MacroExpander {
  return (build, target, args) => {
    const name = variableName(build, args[0] as Expr, "optMap() variable name must be a simple identifier");
    if (name === undefined) return undefined;
    const bound = build.comprehension({
      variable: "#unused",
      range: build.list(),
      accumulator: name,
      init: build.memberCall("value", target as Expr),
      condition: build.constant(false),
      step: build.identifier(name),
      result: args[1] as Expr,
    });
    return build.call(
      "_?_:_",
      build.memberCall("hasValue", target as Expr),
      wrap(build, bound),
      build.call("optional.none"),
    );
  };
}

function receiver(name: string, arity: number, expand: MacroExpander): Macro {
  return { name, receiver: true, arity, expand };
}

/** The macros of every version. */
export const standardMacros: readonly Macro[] = [
  { name: "has", receiver: false, arity: 1, expand: has },
  receiver("all", 2, quantifier(all, 1)),
  receiver("exists", 2, quantifier(exists, 1)),
  receiver("exists_one", 2, quantifier(existsOne, 1)),
  receiver("map", 2, map),
  receiver("map", 3, map),
  receiver("filter", 2, filter),
];

/** Comprehensions with two variables. Source: cel-go, ext.TwoVarComprehensions */
export const twoVariableMacros: readonly Macro[] = [
  receiver("all", 3, quantifier(all, 2)),
  receiver("exists", 3, quantifier(exists, 2)),
  receiver("existsOne", 3, quantifier(existsOne, 2)),
  receiver("exists_one", 3, quantifier(existsOne, 2)),
  receiver("transformList", 3, transformList),
  receiver("transformList", 4, transformList),
  receiver("transformMap", 3, transformMap),
  receiver("transformMap", 4, transformMap),
  receiver("transformMapEntry", 3, transformMapEntry),
  receiver("transformMapEntry", 4, transformMapEntry),
];

/** The macro of cel-go's ext.Lists, since its version 2. */
export const listMacros: readonly Macro[] = [receiver("sortBy", 2, sortBy)];

/** The macros of optional types. */
export const optionalMacros: readonly Macro[] = [
  receiver(
    "optMap",
    2,
    optional((build, value) => build.call("optional.of", value)),
  ),
  receiver(
    "optFlatMap",
    2,
    optional((_build, value) => value),
  ),
];
