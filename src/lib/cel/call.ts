/** Function calls: overload dispatch and costs. Source: cel-go, interpreter/interpretable.go. */
import type { FunctionDeclaration, OverloadDeclaration, RuntimeCost } from "./declarations.ts";
import { type BinaryDispatch, operatorOf } from "./operators.ts";
import type { Step } from "./program.ts";
import { CelFailure, fail, noSuchOverload } from "./values/failure.ts";
import { matcherOf, typeNameOf } from "./values/type-names.ts";
import type { CelValue, Result } from "./values/value.ts";

type Evaluate = (...args: readonly Result[]) => Result;

/** An overload with run-time type checks of its arguments. */
interface Candidate {
  readonly evaluate: Evaluate;
  readonly matchers: readonly (((value: unknown) => boolean) | undefined)[];
}

/**
 * Plans a call.
 *
 * @param overloads the overloads that fit; the cost of a single one applies before the function's
 * @param stopsEarly ends uncharged at the first failed argument, as calls with three arguments do
 */
export function planCall(
  declaration: FunctionDeclaration,
  overloads: readonly OverloadDeclaration[],
  args: readonly Step[],
  stopsEarly = false,
): Step {
  const candidates = candidatesOf(declaration, overloads, { guarded: stopsEarly });
  const cost = (overloads.length === 1 ? overloads[0]?.cost : undefined) ?? declaration.cost;
  const nonStrict = overloads.some((overload) => overload.nonStrict === true);
  const none: NoOverload = stopsEarly ? noSuchOverload : (values) => noOverload(declaration.name, values);
  if (nonStrict) return lenientCall(candidates, args, cost, none);
  if (args.length === 1) return unaryCall(candidates, args[0] as Step, cost, none);
  if (args.length === 2 && !stopsEarly && !isVariadic(declaration, overloads)) {
    const [left, right] = args as [Step, Step];
    const apply = binaryCall(candidates, cost, none);
    return operatorOf(declaration.name)?.(left, right, apply) ?? ((run) => apply(run, left(run), right(run)));
  }
  return strictCall(candidates, args, cost, none);
}

/**
 * Returns the overloads that can be called. An implementation that a function's overloads share
 * receives values of any type.
 *
 * @param options `guarded`: the values must have the types of the overload all the same
 */
function candidatesOf(
  { evaluate: shared }: FunctionDeclaration,
  overloads: readonly OverloadDeclaration[],
  { guarded }: { readonly guarded: boolean },
): Candidate[] {
  const own = guarded ? overloads : overloads.filter((overload) => overload.evaluate !== undefined);
  const candidates = own.map(
    (overload): Candidate => ({
      evaluate: (overload.evaluate ?? shared) as Evaluate,
      matchers: overload.parameters.map(matcherOf),
    }),
  );
  return guarded || shared === undefined ? candidates : [...candidates, { evaluate: shared as Evaluate, matchers: [] }];
}

/**
 * Whether cel-go calls the function with a list of arguments: functions with several matching
 * overloads that have their own implementations, and `format()`.
 */
function isVariadic(declaration: FunctionDeclaration, overloads: readonly OverloadDeclaration[]): boolean {
  return overloads.length > 1 ? declaration.evaluate === undefined : overloads[0]?.id === "string_format";
}

/**
 * A cost that depends on the arguments only is charged before the call, so that a call above the
 * limit never starts.
 *
 * @returns undefined for a cost that depends on the result and is charged after the call
 */
function costBeforeCall(cost: RuntimeCost | undefined): RuntimeCost | undefined {
  return cost !== undefined && cost.length < 2 ? cost : undefined;
}

type NoOverload = (values: readonly CelValue[]) => CelFailure;

function unaryCall(candidates: readonly Candidate[], arg: Step, cost: RuntimeCost | undefined, none: NoOverload): Step {
  const before = costBeforeCall(cost);
  return (run) => {
    const value = arg(run);
    if (before !== undefined) run.charge(before([value], value));
    const result = value instanceof CelFailure ? value : dispatchUnary(candidates, value, none);
    if (before === undefined) run.charge(cost === undefined ? 1 : cost([value], result));
    return result;
  };
}

function dispatchUnary(candidates: readonly Candidate[], value: CelValue, none: NoOverload): Result {
  for (let at = 0; at < candidates.length; at++) {
    const { evaluate, matchers } = candidates[at] as Candidate;
    const matches = matchers[0];
    if (matches === undefined || matches(value)) return evaluate(value);
  }
  return none([value]);
}

/**
 * As in cel-go, the second argument is evaluated, and the call charged, even if the first failed.
 */
function binaryCall(candidates: readonly Candidate[], cost: RuntimeCost | undefined, none: NoOverload): BinaryDispatch {
  const before = costBeforeCall(cost);
  return (run, one, other) => {
    if (before !== undefined) run.charge(before([one, other], other));
    const result =
      one instanceof CelFailure
        ? one
        : other instanceof CelFailure
          ? other
          : dispatchBinary(candidates, one, other, none);
    if (before === undefined) run.charge(cost === undefined ? 1 : cost([one, other], result));
    return result;
  };
}

function dispatchBinary(candidates: readonly Candidate[], one: CelValue, other: CelValue, none: NoOverload): Result {
  for (let at = 0; at < candidates.length; at++) {
    const { evaluate, matchers } = candidates[at] as Candidate;
    const first = matchers[0];
    const second = matchers[1];
    if ((first === undefined || first(one)) && (second === undefined || second(other))) return evaluate(one, other);
  }
  return none([one, other]);
}

/**
 * A call with no argument, or with three or more. It ends at the first failed argument, and is
 * charged only if that is the last one.
 */
function strictCall(
  candidates: readonly Candidate[],
  args: readonly Step[],
  cost: RuntimeCost | undefined,
  none: NoOverload,
): Step {
  const before = costBeforeCall(cost);
  return (run) => {
    const values: CelValue[] = [];
    for (const arg of args) {
      const value = arg(run);
      if (value instanceof CelFailure) {
        if (values.length === args.length - 1) run.charge(cost === undefined ? 1 : cost([...values, value], value));
        return value;
      }
      values.push(value);
    }
    if (before !== undefined) run.charge(before(values, null));
    const result = dispatch(candidates, values) ?? none(values);
    if (before === undefined) run.charge(cost === undefined ? 1 : cost(values, result));
    return result;
  };
}

function lenientCall(
  candidates: readonly Candidate[],
  args: readonly Step[],
  cost: RuntimeCost | undefined,
  none: NoOverload,
): Step {
  return (run) => {
    const values = args.map((arg) => arg(run));
    const result = dispatch(candidates, values) ?? none(values as CelValue[]);
    run.charge(cost === undefined ? 1 : cost(values, result));
    return result;
  };
}

function dispatch(candidates: readonly Candidate[], values: readonly Result[]): Result | undefined {
  const found = candidates.find(({ matchers }) =>
    matchers.every(
      (matches, index) => matches === undefined || values[index] instanceof CelFailure || matches(values[index]),
    ),
  );
  return found?.evaluate(...values);
}

/** Returns cel-go's message, which is short for operators and functions that values implement themselves. */
function noOverload(name: string, values: readonly CelValue[]): CelFailure {
  return /^[a-z]/i.test(name) && !shortMessages.has(name)
    ? fail(`no such overload: ${name}(${values.map(typeNameOf).join(", ")})`)
    : noSuchOverload();
}

/** Functions with the short message of operators. */
const shortMessages = new Set(["startsWith", "endsWith", "contains"]);
