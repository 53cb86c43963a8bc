/** Reports violated checks, with fields and allowed values, for an explanation. */
import type { FailedCheck } from "../../../lib/pod-security/evaluate.ts";
import { formatField } from "../../../lib/pod-security/format-field.ts";
import { formatLevelVersion } from "../../../lib/pod-security/levels.ts";
import type { PodTemplateKind } from "../../../lib/pod-security/pod-templates.ts";
import type { Mode, Policy } from "../../../lib/pod-security/policy.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";

/**
 * Adds a step for each violated check of each standard. Clients see it if they can get the
 * namespace, whose labels it shows.
 *
 * @param failures by mode
 */
export function explainFailures(
  { namespace, trace }: AdmissionAttributes,
  kind: PodTemplateKind,
  policy: Policy,
  failures: Readonly<Record<Mode, readonly FailedCheck[]>>,
): void {
  const objects = [{ group: "", version: "v1", resource: "namespaces", namespace: "", name: namespace }];
  for (const [standard, modes] of modesByStandard(policy, failures)) {
    const outcome = modes.includes("enforce") ? "rejected" : "allowed";
    for (const { id, reason, fields } of failures[modes[0] as Mode]) {
      const problems = fields.map((field) => formatField(kind, field)).join("; ");
      const message = `${modes.join(", ")} ${standard}: ${reason}: ${problems}`;
      trace?.add({ plugin: "PodSecurity", phase: "validating", part: id, objects, outcome, message, seconds: 0 });
    }
  }
}

/** A rejected request gets no warnings. */
function modesByStandard(
  policy: Policy,
  failures: Readonly<Record<Mode, readonly FailedCheck[]>>,
): ReadonlyMap<string, Mode[]> {
  const modes: readonly Mode[] = failures.enforce.length > 0 ? ["enforce", "audit"] : ["audit", "warn"];
  return Map.groupBy(
    modes.filter((mode) => failures[mode].length > 0),
    (mode) => formatLevelVersion(policy[mode]),
  );
}
