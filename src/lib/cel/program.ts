/** A planned expression, and the state of one evaluation. Source: cel-go, cel/program.go. */
import { CelError } from "./errors.ts";
import type { CelType } from "./types.ts";
import { CelFailure } from "./values/failure.ts";
import type { CelValue, Result } from "./values/value.ts";

/** The values of variables: a `Map`, or an object that computes values on demand. */
export interface Activation {
  /** @returns undefined for a variable without a value, whose use fails */
  get(name: string): CelValue | undefined;
}

/** Limits of one evaluation. */
export interface EvaluationOptions {
  /** An evaluation that costs more units ends with a `CelError`. Default: no limit. */
  readonly costLimit?: number;
  /** Called regularly while comprehensions run; true ends the evaluation with a `CelError`. */
  readonly isInterrupted?: () => boolean;
}

/** The outcome of a successful evaluation. */
export interface Evaluated {
  readonly value: CelValue;
  /** Units spent. */
  readonly cost: number;
}

/**
 * A compiled expression, ready to be evaluated any number of times.
 *
 * @example
 * ```ts
 * import { CelError, kubernetesEnvironment, type Program } from "coxswain/cel";
 *
 * const environment = kubernetesEnvironment([1, 36]);
 * const program: Program = environment.plan(environment.compile("[1, 2, 3].map(x, x * 2).size()"));
 * try {
 *   program.evaluate(new Map(), { costLimit: 5 });
 * } catch (error) {
 *   if (error instanceof CelError) console.log(error.reason); // cost
 * }
 * ```
 */
export interface Program {
  /** Of the value. */
  readonly type: CelType;
  /** @throws CelError if the evaluation fails, exceeds the cost limit, or is interrupted */
  evaluate(activation: Activation, options?: EvaluationOptions): Evaluated;
}

/** The state of one evaluation. */
export class Run {
  readonly activation: Activation;
  /** Variables of comprehensions, by the slot that the planner assigned. */
  readonly locals: Result[];
  cost = 0;
  readonly #limit: number;
  readonly #isInterrupted: (() => boolean) | undefined;
  #iterations = 0;

  constructor(activation: Activation, slots: number, options: EvaluationOptions) {
    this.activation = activation;
    this.locals = slots === 0 ? noLocals : new Array(slots).fill(null);
    this.#limit = options.costLimit ?? Number.POSITIVE_INFINITY;
    this.#isInterrupted = options.isInterrupted;
  }

  /** @throws CelError above the limit, and for NaN, so that a wrong cost function is not free */
  charge(units: number): void {
    this.cost += units;
    if (!(this.cost <= this.#limit)) this.#failOnCost();
  }

  #failOnCost(): never {
    throw new CelError("operation cancelled: actual cost limit exceeded", "cost", this.cost);
  }

  /**
   * Called for each element of a comprehension.
   *
   * @throws CelError if the evaluation is interrupted
   */
  iterate(): void {
    if (++this.#iterations % interruptCheckFrequency !== 0) return;
    if (this.#isInterrupted?.() === true) throw new CelError("operation interrupted", "interrupted", this.cost);
  }
}

/** Shared by all expressions without comprehensions. */
const noLocals: Result[] = [];

/**
 * Elements between two calls of `isInterrupted`. Upstream's CheckFrequency is 100, but an element can
 * take 0.1 s.
 */
const interruptCheckFrequency = 10;

/** A closure that evaluates an expression. */
export type Step = (run: Run) => Result;

/** A string that V8 cannot hold, or a value too deep for the stack, fails the evaluation. */
function resultOf(step: Step, run: Run): Result {
  try {
    return step(run);
  } catch (error) {
    if (error instanceof RangeError)
      throw new CelError(`a value is too large: ${error.message}`, "evaluation", run.cost);
    throw error;
  }
}

/** @param offsets positions of failures, filled by programs planned with `locateFailures` */
export function programOf(type: CelType, step: Step, slots: number, offsets: WeakMap<CelFailure, number>): Program {
  return {
    type,
    evaluate: (activation, options = {}) => {
      const run = new Run(activation, slots, options);
      const value = resultOf(step, run);
      if (value instanceof CelFailure) throw new CelError(value.message, "evaluation", run.cost, offsets.get(value));
      return { value, cost: run.cost };
    },
  };
}
