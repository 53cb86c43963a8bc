/**
 * Comprehensions as loops. What a macro expands to is recognized by its shape, so that `all`, `exists`, `map` and `filter` loop without making
 * a list or asking a condition for each element; the units are those of the expansion. Source: cel-go's evalFold and runtimecost.go
 */
import { accumulatorName, type Comprehension, type Expr, isConstant } from "./ast.ts";
import type { Run, Step } from "./program.ts";
import { find } from "./values/access.ts";
import { ArrayList } from "./values/containers.ts";
import { CelFailure, fail, noSuchOverload } from "./values/failure.ts";
import { goTypeNameOf } from "./values/type-names.ts";
import { CelList, CelMap, type CelValue, type Result } from "./values/value.ts";

/** Where the variables of a comprehension are among the locals. */
export interface FoldVariables {
  readonly first: number;
  /** -1 with one variable. */
  readonly second: number;
}

/** @returns whether to go on with the next element */
type Turn = (run: Run) => boolean;

/** Binds the variables to one element after the other. @returns a failure when there is nothing to go over */
function eachElement(run: Run, over: CelValue, { first, second }: FoldVariables, turn: Turn): CelFailure | undefined {
  const { locals } = run;
  if (over instanceof CelList) {
    for (let at = 0; at < over.size; at++) {
      locals[first] = second === -1 ? over.at(at) : at;
      if (second !== -1) locals[second] = over.at(at);
      run.iterate();
      if (!turn(run)) return undefined;
    }
    return undefined;
  }
  if (!(over instanceof CelMap)) return notIterable(over, second !== -1);
  for (const key of over.keys()) {
    locals[first] = key;
    if (second !== -1) locals[second] = find(over, key) as CelValue;
    run.iterate();
    if (!turn(run)) return undefined;
  }
  return undefined;
}

function notIterable(over: CelValue, twoVariables: boolean): CelFailure {
  const name = goTypeNameOf(over);
  return fail(twoVariables ? `unsupported comprehension range type: ${name}` : `got '${name}', expected iterable type`);
}

export interface FoldParts extends FoldVariables {
  readonly accumulator: number;
  readonly range: Step;
  readonly init: Step;
  readonly condition: Step;
  readonly step: Step;
  readonly result: Step;
}

/** Any comprehension. */
export function fold(parts: FoldParts): Step {
  const { accumulator, range, init, condition, step, result } = parts;
  const turn: Turn = (run) => {
    if (condition(run) === false) return false;
    run.locals[accumulator] = step(run);
    return true;
  };
  return (run) => {
    const over = range(run);
    if (over instanceof CelFailure) return over;
    run.locals[accumulator] = init(run);
    return eachElement(run, over, parts, turn) ?? result(run);
  };
}

export interface QuantifierParts extends FoldVariables {
  readonly range: Step;
  readonly predicate: Step;
  /** What ends the loop: false of `all`, true of `exists`. */
  readonly decisive: boolean;
}

/** @returns the parts of `all` or `exists`, or undefined */
export function quantifierOf(expr: Comprehension): { predicate: Expr; decisive: boolean } | undefined {
  const { init, condition, step, result } = expr;
  if (
    !isAccumulator(result) ||
    step.kind !== "call" ||
    condition.kind !== "call" ||
    condition.name !== "@not_strictly_false"
  )
    return undefined;
  const [tested] = condition.args as [Expr];
  const [accumulated, predicate] = step.args as [Expr, Expr];
  if (accumulated === undefined || !isAccumulator(accumulated)) return undefined;
  if (step.name === "_&&_" && isConstant(init, true) && isAccumulator(tested)) return { predicate, decisive: false };
  const negated = tested.kind === "call" && tested.name === "!_" && isAccumulator(tested.args[0] as Expr);
  return step.name === "_||_" && isConstant(init, false) && negated ? { predicate, decisive: true } : undefined;
}

function isAccumulator(expr: Expr): boolean {
  return expr.kind === "identifier" && expr.name === accumulatorName;
}

/** `all` and `exists`. Whether the loop has ended is asked, and charged, when there is a next element. */
export function quantifier(parts: QuantifierParts): Step {
  const { range, predicate, decisive, first, second } = parts;
  const asking = decisive ? 3 : 2;
  /** What the accumulator is after an element. */
  const next = (before: Result, run: Run): Result => {
    run.charge(1);
    const value = predicate(run);
    if (value === !decisive) return before;
    if (value === decisive || before instanceof CelFailure) return value === decisive ? value : before;
    return value instanceof CelFailure ? value : noSuchOverload();
  };
  return (run) => {
    const over = range(run);
    if (over instanceof CelFailure) return over;
    let accumulator: Result = !decisive;
    if (second === -1 && over instanceof CelList) {
      const size = over.size;
      for (let at = 0; at < size; at++) {
        run.iterate();
        run.charge(asking);
        if (accumulator === decisive) break;
        run.locals[first] = over.at(at);
        accumulator = next(accumulator, run);
      }
    } else {
      const failure = eachElement(run, over, parts, () => {
        run.charge(asking);
        if (accumulator === decisive) return false;
        accumulator = next(accumulator, run);
        return true;
      });
      if (failure !== undefined) return failure;
    }
    run.charge(1);
    return accumulator;
  };
}

export interface GrowingListParts extends FoldVariables {
  readonly range: Step;
  /** Undefined: all elements. */
  readonly predicate: Step | undefined;
  readonly element: Step;
  /** Units of the list of one element: none for a constant. */
  readonly listUnits: number;
}

/** @returns the parts of `map` or `filter`, or undefined */
export function growingListOf(
  expr: Comprehension,
): { predicate: Expr | undefined; sum: Expr; list: Expr; element: Expr } | undefined {
  const { init, condition, step, result } = expr;
  if (
    !isAccumulator(result) ||
    !isConstant(condition, true) ||
    init.kind !== "list" ||
    init.elements.length > 0 ||
    step.kind !== "call"
  )
    return undefined;
  const conditional = step.name === "_?_:_";
  if (conditional && !isAccumulator(step.args[2] as Expr)) return undefined;
  const sum = conditional ? (step.args[1] as Expr) : step;
  if (sum.kind !== "call" || sum.name !== "_+_") return undefined;
  const [accumulated, list] = sum.args as [Expr, Expr];
  if (
    !isAccumulator(accumulated) ||
    list.kind !== "list" ||
    list.elements.length !== 1 ||
    list.optionalIndices.size > 0
  )
    return undefined;
  return { predicate: conditional ? step.args[0] : undefined, sum, list, element: list.elements[0] as Expr };
}

/** `map` and `filter`. After a failure all elements are looked at all the same. */
export function growingList(parts: GrowingListParts): Step {
  const { range, predicate, element, listUnits } = parts;
  return (run) => {
    const over = range(run);
    if (over instanceof CelFailure) return over;
    const items: CelValue[] = [];
    let failed: CelFailure | undefined;
    const nothing = eachElement(run, over, parts, () => {
      const chosen = predicate === undefined ? true : predicate(run);
      if (chosen === false) return true;
      if (chosen !== true) {
        failed = chosen instanceof CelFailure ? chosen : noSuchOverload();
        return true;
      }
      run.charge(1);
      const value = element(run);
      run.charge(listUnits + 1);
      if (!(value instanceof CelFailure)) items.push(value);
      else failed ??= value;
      return true;
    });
    if (nothing !== undefined) return nothing;
    run.charge(1);
    return failed ?? new ArrayList(items);
  };
}
