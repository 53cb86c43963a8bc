/** Reports what a plugin does to a request, for an explanation. */
import { diffJson } from "../lib/json/diff.ts";
import { cloneJson } from "../lib/json/values.ts";
import type { AdmissionAttributes } from "../registry/admission-attributes.ts";
import type { AdmissionTrace, TraceStep } from "../request/admission-trace.ts";
import type { AdmissionPlugin } from "./contract.ts";

export type Run = NonNullable<AdmissionPlugin["validate"]>;

/** A plugin, as a trace names it, and what it does. */
export interface TracedPlugin extends Pick<TraceStep, "plugin" | "phase"> {
  readonly run: Run;
}

/** Runs a step of a plugin, and adds what it did. */
export async function runTraced(
  { plugin, phase, run }: TracedPlugin,
  attributes: AdmissionAttributes,
  trace: AdmissionTrace,
): Promise<void> {
  const before = cloneJson(attributes.object);
  const since = performance.now();
  const seconds = (): number => (performance.now() - since) / 1000;
  try {
    await run(attributes);
  } catch (error) {
    trace.add({ plugin, phase, outcome: "rejected", message: (error as Error).message, seconds: seconds() });
    throw error;
  }
  const patch = diffJson(before, attributes.object);
  const unchanged = phase === "mutating" ? "unchanged" : "allowed";
  trace.add({ plugin, phase, outcome: patch.length > 0 ? "changed" : unchanged, patch, seconds: seconds() });
}
