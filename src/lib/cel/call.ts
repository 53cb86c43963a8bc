/** Calls: which overload takes the values, and what it costs. */
import type { FunctionDeclaration, OverloadDeclaration, RuntimeCost } from "./declarations.ts";
import { type Otherwise, operatorOf } from "./operators.ts";
import type { Step } from "./program.ts";
import { CelFailure, fail, noSuchOverload } from "./values/failure.ts";
import { matcherOf, typeNameOf } from "./values/type-names.ts";
import type { CelValue, Result } from "./values/value.ts";

type Evaluate = (...args: readonly Result[]) => Result;

/** An overload that asks its arguments' types first. */
interface Candidate {
  readonly evaluate: Evaluate;
  readonly matchers: readonly (((value: unknown) => boolean) | undefined)[];
}

/**
 * @param overloads those that the checker found to fit; costs are the overload's when it is the only one
 * @param stopsEarly whether it ends, uncharged, at the first argument that failed, as calls of three arguments do
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
  if (args.length === 2 && !stopsEarly && !takesAnyNumber(declaration.name, overloads)) {
    const [left, right] = args as [Step, Step];
    const apply = binaryCall(candidates, cost, none);
    return (
      operatorOf(declaration.name, overloads)?.(left, right, apply) ?? ((run) => apply(run, left(run), right(run)))
    );
  }
  return strictCall(candidates, args, cost, none);
}

/** What upstream calls with its arguments as a list: functions, but no operators, of which several overloads fit, and `format()`. */
function takesAnyNumber(name: string, overloads: readonly OverloadDeclaration[]): boolean {
  return overloads.length > 1 ? /^[a-z]/i.test(name) : overloads[0]?.id === "string_format";
}

/**
 * What the arguments alone say is charged before the call, so that what would take too long is never begun; what the result says, after it.
 * @returns undefined when it is to be charged after the call
 */
function knownBefore(cost: RuntimeCost | undefined): RuntimeCost | undefined {
  return cost !== undefined && cost.length < 2 ? cost : undefined;
}

type NoOverload = (values: readonly CelValue[]) => CelFailure;

function unaryCall(candidates: readonly Candidate[], arg: Step, cost: RuntimeCost | undefined, none: NoOverload): Step {
  const before = knownBefore(cost);
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

/** Both sides are looked at, and charged, even if the first failed: as upstream does. */
function binaryCall(candidates: readonly Candidate[], cost: RuntimeCost | undefined, none: NoOverload): Otherwise {
  const before = knownBefore(cost);
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

/** With no argument, or with three or more: at the first that failed it ends, and is charged only if that is the last. */
function strictCall(
  candidates: readonly Candidate[],
  args: readonly Step[],
  cost: RuntimeCost | undefined,
  none: NoOverload,
): Step {
  const before = knownBefore(cost);
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
 * Upstream asks the first value what it can do, and says more when it can do nothing of the kind; the functions of the language itself
 * say least. Source: cel-go's evalUnary, evalBinary and common/stdlib
 */
function noOverload(name: string, values: readonly CelValue[]): CelFailure {
  const types = values.map(typeNameOf);
  const able = operands.get(name);
  if (able !== undefined)
    return able.has(types[0] as string) || receivers.has(types[0] as string)
      ? noSuchOverload()
      : fail(`no such overload: ${name}`);
  return /^[a-z]/i.test(name) && !own.has(name)
    ? fail(`no such overload: ${name}(${types.join(", ")})`)
    : noSuchOverload();
}

/** These are asked themselves, whatever it is about. */
const receivers = new Set(["string", "google.protobuf.Timestamp", "google.protobuf.Duration"]);
const ordered = new Set(["bool", "bytes", "double", "int", "uint"]);
const numbers = new Set(["int", "uint", "double"]);

/** What may stand left of an operator. */
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

/** Functions that say no more than operators do. */
const own = new Set(["startsWith", "endsWith", "contains", "matches", "find", "findAll"]);
