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
  const chain = (type: AdmissionType, verb: "mutate" | "validate"): Admission["validate"] => {
    const observe = (name: string): Observe => observer.plugin(name, type);
    const both: Steps = { steps: stepsOf(plugins, verb, observe), last: stepsOf(rules, verb, observe) };
    const all = [...both.steps, ...both.last];
    const run: Run =
      verb === "mutate"
        ? (attributes) => runTwice(both, attributes, observer.clock)
        : (attributes) => runAll(all, attributes, observer.clock);
    const whole: readonly Step[] = [{ run, observe: observer.step(type) }];
    return (attributes) => runAll(whole, attributes, observer.clock);
  };
  const authorizing = stepsOf([...plugins, ...rules], "authorize", () => () => {});
  return {
    mutate: chain("admit", "mutate"),
    authorize: (attributes) => runAll(authorizing, attributes, observer.clock),
    validate: chain("validate", "validate"),
    removed: removedBy([...plugins, ...rules]),
  };
}

function removedBy(plugins: readonly AdmissionPlugin[]): Admission["removed"] {
  const calls = plugins.flatMap((plugin) => plugin.removed?.bind(plugin) ?? []);
  return async (resource, object, registry) => {
    await Promise.all(calls.map((call) => call(resource, object, registry)));
  };
}

type Run = NonNullable<AdmissionPlugin["validate"]>;

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

/**
 * Runs the steps a second time if a plugin changed the object after others had seen it. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/reinvocation.go.
 */
async function runTwice({ steps, last }: Steps, attributes: AdmissionAttributes, clock: Clock): Promise<void> {
  await runAll(steps, attributes, clock);
  const { reinvocation } = attributes;
  if (reinvocation?.isRequested === true) {
    reinvocation.isSecondRun = true;
    await runAll(steps, attributes, clock);
  }
  await runAll(last, attributes, clock);
}

/**
 * Runs steps one after the other. Most calls of plugins do nothing, so this waits only for a step
 * that returns a promise, and reports other steps with a duration of zero, without reading the clock.
 */
async function runAll(steps: readonly Step[], attributes: AdmissionAttributes, clock: Clock): Promise<void> {
  for (const { run, observe } of steps) {
    let since: number | undefined;
    let isRejected = true;
    try {
      const pending = run(attributes);
      if (pending !== undefined) {
        since = clock.now();
        await pending;
      }
      isRejected = false;
    } finally {
      observe(attributes.operation, isRejected, since === undefined ? 0 : (clock.now() - since) / 1000);
    }
  }
}
