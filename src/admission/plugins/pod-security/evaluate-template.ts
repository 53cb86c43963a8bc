/** Evaluates the pod of a request. The checks are loaded when the first namespace needs them. */
import { type PodTemplateKind, podOf } from "../../../lib/pod-security/pod-templates.ts";
import type { ParsedPolicy } from "../../../lib/pod-security/policy.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { PodSecurity } from "./contract.ts";
import type { evaluateModes } from "./evaluate-modes.ts";
import { isExemptRuntimeClass } from "./exemptions.ts";

interface Options {
  readonly kind: PodTemplateKind;
  readonly parsed: ParsedPolicy;
  readonly enforces: boolean;
}

/** @throws ApiError 403 if the pod violates the enforced standard */
export async function evaluateTemplate(
  plugin: PodSecurity,
  attributes: AdmissionAttributes,
  { kind, parsed, enforces }: Options,
): Promise<void> {
  const pod = podOf(attributes.object ?? {}, kind);
  if (pod === undefined || isExemptRuntimeClass(plugin, attributes, pod.spec.runtimeClassName)) return;
  await plugin.evaluate(attributes, { kind, parsed, enforces, pod });
}

/** Returns a function that loads the checks at its first call. */
export function lazyEvaluation(evaluator: Pick<PodSecurity, "observer" | "minorMax">): PodSecurity["evaluate"] {
  let evaluate: typeof evaluateModes | undefined;
  return async (attributes, evaluation) => {
    evaluate ??= (await import("./evaluate-modes.ts")).evaluateModes;
    evaluate(evaluator, attributes, evaluation);
  };
}
