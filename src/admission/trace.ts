/** Reports what a plugin does to a request, for an explanation. */
import { diffJson } from "../lib/json/diff.ts";
import { cloneJson } from "../lib/json/values.ts";
import type { AdmissionAttributes } from "../registry/admission-attributes.ts";
import type { AdmissionTrace, TraceStep } from "../request/admission-trace.ts";
import type { AdmissionPlugin } from "./contract.ts";

type Run = NonNullable<AdmissionPlugin["validate"]>;

/** Wraps a step of a plugin; only requests with a trace pay for it. */
export function traced({ plugin, phase }: Pick<TraceStep, "plugin" | "phase">, run: Run): Run {
  return (attributes) =>
    attributes.trace === undefined ? run(attributes) : runTraced({ plugin, phase }, run, attributes, attributes.trace);
}

async function runTraced(
  step: Pick<TraceStep, "plugin" | "phase">,
  run: Run,
  attributes: AdmissionAttributes,
  trace: AdmissionTrace,
): Promise<void> {
  const before = cloneJson(attributes.object);
  const since = performance.now();
  const seconds = (): number => (performance.now() - since) / 1000;
  try {
    await run(attributes);
  } catch (error) {
    trace.add({ ...step, outcome: "rejected", message: (error as Error).message, seconds: seconds() });
    throw error;
  }
  const patch = diffJson(before, attributes.object);
  const unchanged = step.phase === "mutating" ? "unchanged" : "allowed";
  trace.add({ ...step, outcome: patch.length > 0 ? "changed" : unchanged, patch, seconds: seconds() });
}
