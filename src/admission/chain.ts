/** Runs admission plugins in order. See docs/architecture.md, "Request path". */
import { type Clock, systemClock } from "../apimachinery/clock.ts";
import type { AdmissionAttributes } from "../registry/admission-attributes.ts";
import type { Admission } from "../registry/contract.ts";
import type { AdmissionObserver, AdmissionPlugin, AdmissionType, Observe } from "./contract.ts";
import { traced } from "./trace.ts";

/** Receives the duration of each plugin and of each whole step, measured by `clock`. */
interface ChainObserver extends AdmissionObserver {
  readonly clock: Clock;
}

const noObserver: ChainObserver = { plugin: () => () => {}, step: () => () => {}, clock: systemClock };

/**
 * Combines plugins into an admission chain.
 *
 * @param plugins run in this order within each step; the mutating ones run a second time if one of
 *   them requests it
 * @param rules run after the plugins, once
 */
export function createAdmission(
  plugins: readonly AdmissionPlugin[],
  rules: readonly AdmissionPlugin[] = [],
  observer = noObserver,
): Admission {
  const stepsOf = (
    from: readonly AdmissionPlugin[],
    verb: "mutate" | "authorize" | "validate",
    observe: (name: string) => Observe,
  ): Step[] =>
    from.flatMap((plugin) => {
      const run = plugin[verb]?.bind(plugin);
      const step = { plugin: plugin.name, phase: verb === "mutate" ? "mutating" : "validating" } as const;
      return run === undefined ? [] : [{ run: traced(step, run), observe: observe(plugin.name) }];
    });
  const chain = (type: AdmissionType, verb: "mutate" | "validate"): Run => {
    const observe = (name: string): Observe => observer.plugin(name, type);
    const both: Steps = { steps: stepsOf(plugins, verb, observe), last: stepsOf(rules, verb, observe) };
    const all = [...both.steps, ...both.last];
    const run: Run =
      verb === "mutate"
        ? (attributes) => runTwice(both, attributes, observer.clock)
        : (attributes) => runFrom(all, 0, attributes, observer.clock);
    const whole: Step = { run, observe: observer.step(type) };
    return (attributes) => observed(whole, attributes, observer.clock);
  };
  const authorizing = stepsOf([...plugins, ...rules], "authorize", () => () => {});
  return {
    mutate: chain("admit", "mutate"),
    authorize: (attributes) => runFrom(authorizing, 0, attributes, observer.clock),
    validate: chain("validate", "validate"),
    removed: removedBy([...plugins, ...rules]),
  };
}

/** @returns a promise only when a plugin waits */
function removedBy(plugins: readonly AdmissionPlugin[]): Admission["removed"] {
  const calls = plugins.flatMap((plugin) => plugin.removed?.bind(plugin) ?? []);
  return (resource, object, registry) => {
    const pending = calls.map((call) => call(resource, object, registry)).filter((one) => one !== undefined);
    return pending.length === 0 ? undefined : Promise.all(pending).then(() => {});
  };
}

type Run = (attributes: AdmissionAttributes) => void | Promise<void>;

interface Step {
  readonly run: Run;
  readonly observe: Observe;
}

interface Steps {
  /** Run again if one of them requests it. */
  readonly steps: readonly Step[];
  /** Run once. */
  readonly last: readonly Step[];
}

// Most calls of plugins do nothing. Functions that such a call passes through contain no closures,
// because V8 allocates the variables of closures when the function starts.

/**
 * Runs the steps a second time if a plugin changed the object after others had seen it. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/reinvocation.go.
 */
function runTwice(both: Steps, attributes: AdmissionAttributes, clock: Clock): void | Promise<void> {
  const pending = runFrom(both.steps, 0, attributes, clock);
  return pending === undefined ? runAgain(both, attributes, clock) : runAgainLater(pending, both, attributes, clock);
}

async function runAgainLater(
  pending: Promise<void>,
  both: Steps,
  attributes: AdmissionAttributes,
  clock: Clock,
): Promise<void> {
  await pending;
  await runAgain(both, attributes, clock);
}

function runAgain({ steps, last }: Steps, attributes: AdmissionAttributes, clock: Clock): void | Promise<void> {
  const { reinvocation } = attributes;
  if (reinvocation?.isRequested !== true) return runFrom(last, 0, attributes, clock);
  reinvocation.isSecondRun = true;
  const pending = runFrom(steps, 0, attributes, clock);
  return pending === undefined
    ? runFrom(last, 0, attributes, clock)
    : runLater(pending, { steps: last, from: 0 }, attributes, clock);
}

interface Rest {
  readonly steps: readonly Step[];
  readonly from: number;
}

async function runLater(
  pending: Promise<void>,
  { steps, from }: Rest,
  attributes: AdmissionAttributes,
  clock: Clock,
): Promise<void> {
  await pending;
  await runFrom(steps, from, attributes, clock);
}

/** Stays synchronous until a plugin returns a promise. */
function runFrom(
  steps: readonly Step[],
  start: number,
  attributes: AdmissionAttributes,
  clock: Clock,
): void | Promise<void> {
  for (let at = start; at < steps.length; at++) {
    const pending = observed(steps[at] as Step, attributes, clock);
    if (pending !== undefined) return runLater(pending, { steps, from: at + 1 }, attributes, clock);
  }
}

/** A synchronous call is reported with a duration of zero, so that it does not read the clock. */
function observed(step: Step, attributes: AdmissionAttributes, clock: Clock): void | Promise<void> {
  let pending: void | Promise<void>;
  try {
    pending = step.run(attributes);
  } catch (error) {
    step.observe(attributes.operation, true, 0);
    throw error;
  }
  if (pending !== undefined) return observedLater(pending, step, attributes, clock);
  step.observe(attributes.operation, false, 0);
}

async function observedLater(
  pending: Promise<void>,
  { observe }: Step,
  { operation }: AdmissionAttributes,
  clock: Clock,
): Promise<void> {
  const since = clock.now();
  let isRejected = true;
  try {
    await pending;
    isRejected = false;
  } finally {
    observe(operation, isRejected, (clock.now() - since) / 1000);
  }
}
