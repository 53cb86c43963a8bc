/** Function calls: overload dispatch and costs. */
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
 * @param overloads the overloads that fit; the cost of a single one applies
 * @param stopsEarly ends uncharged at the first failed argument, as calls with three arguments do
 */
export function planCall(
  declaration: FunctionDeclaration,
  overloads: readonly OverloadDeclaration[],
  args: readonly Step[],
  stopsEarly = false,
): Step {
  const candidates = overloads.map(
    (overload): Candidate => ({
      evaluate: overload.evaluate as Evaluate,
      matchers: overload.unguarded === true ? [] : overload.parameters.map(matcherOf),
    }),
  );
  const cost = declaration.cost ?? (overloads.length === 1 ? overloads[0]?.cost : undefined);
  const nonStrict = overloads.some((overload) => overload.nonStrict === true);
  const none = (values: readonly CelValue[]): CelFailure => noOverload(declaration.name, values);
  if (nonStrict) return lenientCall(candidates, args, cost, none);
  if (args.length === 1) return unaryCall(candidates, args[0] as Step, cost, none);
  if (args.length === 2 && !stopsEarly && !isVariadic(declaration.name, overloads)) {
    const [left, right] = args as [Step, Step];
    const apply = binaryCall(candidates, cost, none);
    return (
      operatorOf(declaration.name, overloads)?.(left, right, apply) ?? ((run) => apply(run, left(run), right(run)))
    );
  }
  return strictCall(candidates, args, cost, none);
}

/**
 * Whether cel-go calls the function with a list of arguments: functions with several matching
 * overloads, except operators, and `format()`.
 */
function isVariadic(name: string, overloads: readonly OverloadDeclaration[]): boolean {
  return overloads.length > 1 ? /^[a-z]/i.test(name) : overloads[0]?.id === "string_format";
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

/**
 * Returns cel-go's message, which depends on whether the type of the first value implements the
 * operator, and is short for functions that values implement themselves.
 * Source: cel-go, evalUnary and evalBinary in interpreter/interpretable.go, and common/stdlib
 */
function noOverload(name: string, values: readonly CelValue[]): CelFailure {
  const types = values.map(typeNameOf);
  const operandTypes = operands.get(name);
  if (operandTypes !== undefined)
    return operandTypes.has(types[0] as string) || receivers.has(types[0] as string)
      ? noSuchOverload()
      : fail(`no such overload: ${name}`);
  return /^[a-z]/i.test(name) && !shortMessages.has(name)
    ? fail(`no such overload: ${name}(${types.join(", ")})`)
    : noSuchOverload();
}

/** Types that receive all member calls themselves. */
const receivers = new Set(["string", "google.protobuf.Timestamp", "google.protobuf.Duration"]);
const ordered = new Set(["bool", "bytes", "double", "int", "uint"]);
const numbers = new Set(["int", "uint", "double"]);

/** The types that implement an operator as its first operand. */
const operands = new Map<string, ReadonlySet<string>>([
  ["_+_", new Set([...numbers, "bytes", "list"])],
  ["_-_", numbers],
  ["_*_", numbers],
  ["_/_", numbers],
  ["_%_", new Set(["int", "uint"])],
  ["-_", new Set(["bool", "int", "double"])],
  ["_<_", ordered],
  ["_<=_", ordered],
  ["_>_", ordered],
  ["_>=_", ordered],
  ["size", new Set(["bytes", "list", "map"])],
]);

/** Functions with the short message of operators. */
const shortMessages = new Set(["startsWith", "endsWith", "contains", "matches", "find", "findAll"]);
