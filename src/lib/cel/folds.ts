/**
 * Comprehensions as loops. The expansions of `all`, `exists`, `map` and `filter` are recognized by
 * their shape and become specialized loops; they charge the units of the expansion.
 * Source: cel-go, evalFold in interpreter/interpretable.go, and interpreter/runtimecost.go
 */
import { accumulatorName, type Comprehension, type Expr, isConstant } from "./ast.ts";
import type { Run, Step } from "./program.ts";
import { find } from "./values/access.ts";
import { ArrayList } from "./values/containers.ts";
import { CelFailure, fail, noSuchOverload } from "./values/failure.ts";
import { goTypeNameOf } from "./values/type-names.ts";
import { CelList, CelMap, type CelValue, type Result } from "./values/value.ts";

/** The slots of a comprehension's variables in `Run.locals`. */
export interface FoldVariables {
  readonly first: number;
  /** -1 if there is only one variable. */
  readonly second: number;
}

/** @returns whether to continue with the next element */
type Body = (run: Run) => boolean;

/** Runs the body with each element. @returns a failure if the value cannot be iterated */
function eachElement(run: Run, over: CelValue, { first, second }: FoldVariables, body: Body): CelFailure | undefined {
  const { locals } = run;
  if (over instanceof CelList) {
    for (let at = 0; at < over.size; at++) {
      locals[first] = second === -1 ? over.at(at) : at;
      if (second !== -1) locals[second] = over.at(at);
      run.iterate();
      if (!body(run)) return undefined;
    }
    return undefined;
  }
  if (!(over instanceof CelMap)) return notIterable(over, second !== -1);
  for (const key of over.keys()) {
    locals[first] = key;
    if (second !== -1) locals[second] = find(over, key) as CelValue;
    run.iterate();
    if (!body(run)) return undefined;
  }
  return undefined;
}

function notIterable(over: CelValue, twoVariables: boolean): CelFailure {
  const name = goTypeNameOf(over);
  return fail(twoVariables ? `unsupported comprehension range type: ${name}` : `got '${name}', expected iterable type`);
}

/** The planned parts of a comprehension. */
interface FoldParts extends FoldVariables {
  readonly accumulator: number;
  readonly range: Step;
  readonly init: Step;
  readonly condition: Step;
  readonly step: Step;
  readonly result: Step;
}

/** The loop of any comprehension. */
export function fold(parts: FoldParts): Step {
  const { accumulator, range, init, condition, step, result } = parts;
  const body: Body = (run) => {
    if (condition(run) === false) return false;
    run.locals[accumulator] = step(run);
    return true;
  };
  return (run) => {
    const over = range(run);
    if (over instanceof CelFailure) return over;
    run.locals[accumulator] = init(run);
    return eachElement(run, over, parts, body) ?? result(run);
  };
}

/** The planned parts of `all` or `exists`. */
interface QuantifierParts extends FoldVariables {
  readonly range: Step;
  readonly predicate: Step;
  /** The value that ends the loop: false for `all`, true for `exists`. */
  readonly decisive: boolean;
}

/** @returns the parts of `all` or `exists`, or undefined for other comprehensions */
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

/**
 * The loop of `all` and `exists`. The loop condition is evaluated, and charged, before each
 * element.
 */
export function quantifier(parts: QuantifierParts): Step {
  const { range, predicate, decisive, first, second } = parts;
  const conditionUnits = decisive ? 3 : 2;
  /** Returns the accumulator after an element. */
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
        run.charge(conditionUnits);
        if (accumulator === decisive) break;
        run.locals[first] = over.at(at);
        accumulator = next(accumulator, run);
      }
    } else {
      const failure = eachElement(run, over, parts, () => {
        run.charge(conditionUnits);
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

/** The planned parts of `map` or `filter`. */
interface GrowingListParts extends FoldVariables {
  readonly range: Step;
  /** Undefined selects all elements. */
  readonly predicate: Step | undefined;
  readonly element: Step;
  /** Units of the one-element list that each iteration appends; 0 if it is a constant. */
  readonly listUnits: number;
}

/** @returns the parts of `map` or `filter`, or undefined for other comprehensions */
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

/** The loop of `map` and `filter`. A failure does not end the loop. */
export function growingList(parts: GrowingListParts): Step {
  const { range, predicate, element, listUnits } = parts;
  return (run) => {
    const over = range(run);
    if (over instanceof CelFailure) return over;
    const items: CelValue[] = [];
    let failed: CelFailure | undefined;
    const notIterated = eachElement(run, over, parts, () => {
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
    if (notIterated !== undefined) return notIterated;
    run.charge(1);
    return failed ?? new ArrayList(items);
  };
}
