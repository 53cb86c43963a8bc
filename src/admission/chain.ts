/** Runs admission plugins in order. See docs/architecture.md, "Request path". */
import { type Clock, systemClock } from "../apimachinery/clock.ts";
import type { AdmissionAttributes } from "../registry/admission-attributes.ts";
import type { Admission } from "../registry/contract.ts";
import type { AdmissionObserver, AdmissionPlugin, AdmissionType, PluginsObserver } from "./contract.ts";
import { runTraced, type TracedPlugin } from "./trace.ts";

/** Receives the duration of each plugin and of each whole step, measured by `clock`. */
interface ChainObserver extends AdmissionObserver {
  readonly clock: Clock;
}

const unobserved: PluginsObserver = { accepted() {}, timed() {}, rejected() {} };
const noObserver: ChainObserver = { plugins: () => unobserved, step: () => () => {}, clock: systemClock };

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
  const { clock } = observer;
  const chain = (type: AdmissionType, verb: "mutate" | "validate"): Admission["validate"] => {
    const first = stepsOf(plugins, verb);
    const last = stepsOf(rules, verb);
    const observe = observer.plugins(
      [...first, ...last].map(({ plugin }) => plugin),
      type,
    );
    const observeStep = observer.step(type);
    const runFirst: Part = { steps: first, offset: 0, observe, clock };
    const runLast: Part = { steps: last, offset: first.length, observe, clock };
    return async (attributes) => {
      const since = clock.now();
      let isRejected = true;
      try {
        await runAll(runFirst, attributes);
        if (verb === "mutate" && isRequestedAgain(attributes)) await runAll(runFirst, attributes);
        if (last.length > 0) await runAll(runLast, attributes);
        isRejected = false;
      } finally {
        observeStep(attributes.operation, isRejected, (clock.now() - since) / 1000);
      }
    };
  };
  const authorizing = stepsOf([...plugins, ...rules], "authorize");
  return {
    mutate: chain("admit", "mutate"),
    authorize: (attributes) => runAll({ steps: authorizing, offset: 0, observe: unobserved, clock }, attributes),
    validate: chain("validate", "validate"),
    removed: removedBy([...plugins, ...rules]),
  };
}

function stepsOf(from: readonly AdmissionPlugin[], verb: "mutate" | "authorize" | "validate"): TracedPlugin[] {
  return from.flatMap((plugin) => {
    const run = plugin[verb]?.bind(plugin);
    const phase = verb === "mutate" ? "mutating" : "validating";
    return run === undefined ? [] : [{ plugin: plugin.name, phase, run }];
  });
}

function removedBy(plugins: readonly AdmissionPlugin[]): Admission["removed"] {
  const calls = plugins.flatMap((plugin) => plugin.removed?.bind(plugin) ?? []);
  return async (resource, object, registry) => {
    await Promise.all(calls.map((call) => call(resource, object, registry)));
  };
}

interface Part {
  readonly steps: readonly TracedPlugin[];
  /** The number of the first step for the observer. */
  readonly offset: number;
  readonly observe: PluginsObserver;
  readonly clock: Clock;
}

/**
 * Whether the steps run a second time, because a plugin changed the object after others had seen it. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/reinvocation.go.
 */
function isRequestedAgain({ reinvocation }: AdmissionAttributes): boolean {
  if (reinvocation?.isRequested !== true) return false;
  reinvocation.isSecondRun = true;
  return true;
}

/**
 * Runs steps one after the other. Most calls of plugins do nothing, so this waits only for a step that returns a promise,
 * reads the clock only then, and reports the others together.
 */
async function runAll({ steps, offset, observe, clock }: Part, attributes: AdmissionAttributes): Promise<void> {
  const { operation, trace } = attributes;
  let at = 0;
  let since: number | undefined;
  try {
    for (; at < steps.length; at++) {
      const step = steps[at] as TracedPlugin;
      const pending = trace === undefined ? step.run(attributes) : runTraced(step, attributes, trace);
      if (pending === undefined) continue;
      since = clock.now();
      await pending;
      observe.timed(offset + at, operation, (clock.now() - since) / 1000);
      since = undefined;
    }
  } catch (error) {
    observe.rejected(offset + at, operation, since === undefined ? 0 : (clock.now() - since) / 1000);
    throw error;
  } finally {
    observe.accepted(operation, offset, offset + at);
  }
}
