/** Runs plugins in their order. Source: architecture, "The line a request walks". */
import { type Clock, systemClock } from "../apimachinery/clock.ts";
import type {
  Admission,
  AdmissionAttributes,
  AdmissionObserver,
  AdmissionPlugin,
  AdmissionType,
  Observe,
} from "./contract.ts";

/** Told how long each plugin takes, and all together, and by which clock. */
export interface ObservedBy extends AdmissionObserver {
  readonly clock: Clock;
}

const nobody: ObservedBy = { plugin: () => () => {}, step: () => () => {}, clock: systemClock };

/** @param plugins all that change objects run before all that only look; in the order given */
export function createAdmission(plugins: readonly AdmissionPlugin[], observer = nobody): Admission {
  const stepsOf = (verb: "mutate" | "authorize" | "validate", observe: (name: string) => Observe): Step[] =>
    plugins.flatMap((plugin) => {
      const run = plugin[verb]?.bind(plugin);
      return run === undefined ? [] : [{ run, observe: observe(plugin.name) }];
    });
  const chain = (type: AdmissionType, verb: "mutate" | "validate"): Run => {
    const steps = stepsOf(verb, (name) => observer.plugin(name, type));
    const whole: Step = {
      run: (attributes) => runFrom(steps, 0, attributes, observer.clock),
      observe: observer.step(type),
    };
    return (attributes) => observed(whole, attributes, observer.clock);
  };
  const authorizing = stepsOf("authorize", () => () => {});
  return {
    mutate: chain("admit", "mutate"),
    authorize: (attributes) => runFrom(authorizing, 0, attributes, observer.clock),
    validate: chain("validate", "validate"),
  };
}

type Run = (attributes: AdmissionAttributes) => void | Promise<void>;

interface Step {
  readonly run: Run;
  readonly observe: Observe;
}

/** Goes on without yielding until a plugin waits. */
function runFrom(
  steps: readonly Step[],
  start: number,
  attributes: AdmissionAttributes,
  clock: Clock,
): void | Promise<void> {
  for (let at = start; at < steps.length; at++) {
    const pending = observed(steps[at] as Step, attributes, clock);
    if (pending !== undefined) return pending.then(() => runFrom(steps, at + 1, attributes, clock));
  }
}

/** What waits for nothing is not worth a look at the clock. */
function observed({ run, observe }: Step, attributes: AdmissionAttributes, clock: Clock): void | Promise<void> {
  const { operation } = attributes;
  let pending: void | Promise<void>;
  try {
    pending = run(attributes);
  } catch (error) {
    observe(operation, true, 0);
    throw error;
  }
  if (pending === undefined) return observe(operation, false, 0);
  const since = clock.now();
  return pending.then(
    () => observe(operation, false, (clock.now() - since) / 1000),
    (error: unknown) => {
      observe(operation, true, (clock.now() - since) / 1000);
      throw error;
    },
  );
}
