/** A planned expression, and the state of one evaluation. */
import { CelError } from "./errors.ts";
import type { CelType } from "./types.ts";
import { CelFailure } from "./values/failure.ts";
import type { CelValue, Result } from "./values/value.ts";

/** Where variables come from. A `Map` is one; what makes values when they are asked for is another. */
export interface Activation {
  get(name: string): CelValue | undefined;
}

export interface EvaluationOptions {
  /** Units after which the evaluation ends with an error; no limit when left out. */
  readonly costLimit?: number;
  /** Asked now and then while comprehensions run: true ends the evaluation. */
  readonly isInterrupted?: () => boolean;
}

export interface Evaluated {
  readonly value: CelValue;
  /** Units spent. */
  readonly cost: number;
}

export interface Program {
  readonly type: CelType;
  /** @throws CelError when there is no value: the evaluation failed, cost too much, or was interrupted */
  evaluate(activation: Activation, options?: EvaluationOptions): Evaluated;
}

/** One evaluation. */
export class Run {
  readonly activation: Activation;
  /** Variables of comprehensions, by the slot that the planner gave them. */
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

  /** @throws CelError past the limit, and of what is no number: nothing is free by mistake */
  charge(units: number): void {
    this.cost += units;
    if (!(this.cost <= this.#limit)) this.#refuse();
  }

  #refuse(): never {
    throw new CelError("operation cancelled: actual cost limit exceeded", "cost", this.cost);
  }

  /** Called for each element of a comprehension. @throws CelError when nobody waits any longer */
  iterate(): void {
    if (++this.#iterations % interruptCheckFrequency !== 0) return;
    if (this.#isInterrupted?.() === true) throw new CelError("operation interrupted", "interrupted", this.cost);
  }
}

/** Of all expressions without comprehensions. */
const noLocals: Result[] = [];

/** Elements of comprehensions between two questions whether to go on, as upstream has it. */
const interruptCheckFrequency = 100;

/** What an expression is planned to. */
export type Step = (run: Run) => Result;

/** A text longer than the engine can hold, or a value too deep for it, is an error of the evaluation, and not of whoever asked for it. */
function outcomeOf(step: Step, run: Run): Result {
  try {
    return step(run);
  } catch (error) {
    if (error instanceof RangeError)
      throw new CelError(`a value is too large: ${error.message}`, "evaluation", run.cost);
    throw error;
  }
}

/** @param offsets where failures are from, as far as that was looked at */
export function programOf(type: CelType, step: Step, slots: number, offsets: WeakMap<CelFailure, number>): Program {
  return {
    type,
    evaluate: (activation, options = {}) => {
      const run = new Run(activation, slots, options);
      const value = outcomeOf(step, run);
      if (value instanceof CelFailure) throw new CelError(value.message, "evaluation", run.cost, offsets.get(value));
      return { value, cost: run.cost };
    },
  };
}
