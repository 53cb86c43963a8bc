/**
 * Planned expressions: names, fields and indices, whose costs depend on where they are. Source: cel-go,
 * interpreter/runtimecost.go
 */
import type { Step } from "./program.ts";
import { chainNone, endOfChain, isUnwrapped, selectField } from "./values/access.ts";
import { CelFailure, fail } from "./values/failure.ts";
import { CelOptional, type CelValue, type Result } from "./values/value.ts";

/** A planned expression. */
export interface Planned {
  readonly step: Step;
  /** For a name, and a field or index: `step` without the unit for the name itself. */
  readonly bare?: Step;
  /** For a field or an index: `bare` for the next selection of the chain. */
  readonly link?: Step;
  /** Set for `?:`, and its fields and indices: there is no name that costs a unit. */
  readonly nameless?: true;
  /** Set if the value is constant; evaluating it is free. */
  readonly constant?: { readonly value: CelValue };
}

/** A constant. */
export function constant(value: CelValue): Planned {
  return { step: () => value, constant: { value } };
}

/** A name, which costs a unit, except where only its value is read. */
export function named(bare: Step): Planned {
  const step: Step = (run) => {
    const value = bare(run);
    run.charge(1);
    return value;
  };
  return { step, bare };
}

// Variables and fields are the most frequent expressions: one closure each, not two nested ones.

/** A variable of a comprehension. */
export function local(slot: number): Planned {
  const step: Step = (run) => {
    run.charge(1);
    return run.locals[slot] as Result;
  };
  return { step, bare: (run) => run.locals[slot] as Result };
}

/** A value that a macro binds to a name. */
export interface Bound {
  readonly init: Step;
  /** The slot of a flag: whether `init` has been evaluated. */
  readonly isEvaluated: number;
}

/** A variable whose value is evaluated at the first use. */
export function lazyLocal(slot: number, { init, isEvaluated }: Bound): Planned {
  return named((run) => {
    if (run.locals[isEvaluated] === false) {
      run.locals[slot] = init(run);
      run.locals[isEvaluated] = true;
    }
    return run.locals[slot] as Result;
  });
}

/** A variable of the environment. */
export function variable(name: string): Planned {
  const missing = fail(`no such attribute(s): ${name}`);
  const step: Step = (run) => {
    run.charge(1);
    const bound = run.activation.get(name);
    return bound === undefined ? missing : bound;
  };
  const bare: Step = (run) => {
    const bound = run.activation.get(name);
    return bound === undefined ? missing : bound;
  };
  return { step, bare };
}

/** An optional selection that finds no value is free. */
export function selectionUnits(
  from: Result,
  result: Result,
  { optional, inChain }: { readonly optional: boolean; readonly inChain: boolean },
): 0 | 1 {
  const isFound = !(result === chainNone || result instanceof CelFailure);
  if (isFound) return 1;
  return optional || (from instanceof CelOptional && isUnwrapped(from, inChain)) ? 0 : 1;
}

/** A field of a value. */
export function selected(operand: Step, field: string, inChain: boolean): Planned {
  const units = { optional: false, inChain };
  const link: Step = (run) => {
    const value = operand(run);
    if (value instanceof CelFailure) return value;
    const result = selectField(value, field, inChain);
    run.charge(selectionUnits(value, result, units));
    return result;
  };
  const step: Step = (run) => {
    const value = operand(run);
    const result = value instanceof CelFailure ? value : selectField(value, field, inChain);
    run.charge(value instanceof CelFailure ? 1 : 1 + selectionUnits(value, result, units));
    return endOfChain(result);
  };
  return { step, bare: (run) => endOfChain(link(run)), link };
}

/** A selection by an index, and the link of its chain. */
export function inOneChain(link: Step): Planned {
  return { ...named((run) => endOfChain(link(run))), link };
}

/** A selection from `?:`. */
export function nameless({ step, bare = step, link }: Planned): Planned {
  return { step: bare, bare, link, nameless: true };
}

/** The value that the next selection of a chain selects from. */
export function linkOf(planned: Planned): Step {
  return planned.link ?? bareOf(planned);
}

/** The step of an expression without the unit for its name. */
export function bareOf(planned: Planned): Step {
  return planned.bare ?? planned.step;
}
