/** Runs plugins in their order. Source: architecture, "The line a request walks". */
import type { Admission, AdmissionAttributes, AdmissionPlugin } from "./contract.ts";

/** @param plugins all that change objects run before all that only look; in the order given */
export function createAdmission(plugins: readonly AdmissionPlugin[]): Admission {
  const mutating = plugins.flatMap((plugin) => (plugin.mutate === undefined ? [] : [plugin.mutate.bind(plugin)]));
  const validating = plugins.flatMap((plugin) => (plugin.validate === undefined ? [] : [plugin.validate.bind(plugin)]));
  return {
    mutate: (attributes) => runFrom(mutating, 0, attributes),
    validate: (attributes) => runFrom(validating, 0, attributes),
  };
}

type Step = (attributes: AdmissionAttributes) => void | Promise<void>;

/** Goes on without yielding until a plugin waits. */
function runFrom(steps: readonly Step[], start: number, attributes: AdmissionAttributes): void | Promise<void> {
  for (let at = start; at < steps.length; at++) {
    const pending = (steps[at] as Step)(attributes);
    if (pending !== undefined) return pending.then(() => runFrom(steps, at + 1, attributes));
  }
}
