/**
 * Rejects, annotates and warns. Source: `EvaluatePod` in
 * k8s.io/pod-security-admission@v0.36.0/admission/admission.go.
 */
import { type ApiError, forbidden } from "../../../apimachinery/errors.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { evaluatePod, type FailedCheck, formatDetails } from "../../../lib/pod-security/evaluate.ts";
import { formatLevelVersion, type LevelVersion } from "../../../lib/pod-security/levels.ts";
import type { Pod } from "../../../lib/pod-security/pod.ts";
import type { Mode } from "../../../lib/pod-security/policy.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import { annotatePodSecurity } from "./annotate.ts";
import type { Evaluation, PodSecurity } from "./contract.ts";
import { explainFailures } from "./explain-failures.ts";
import { labelErrors } from "./label-errors.ts";

type Evaluator = Pick<PodSecurity, "observer" | "minorMax">;

/** @throws ApiError 403 if the pod violates the enforced standard */
export function evaluateModes(
  { observer, minorMax }: Evaluator,
  attributes: AdmissionAttributes,
  { pod, kind, parsed: { policy, problems }, enforces }: Evaluation,
): void {
  if (problems.length > 0) {
    annotatePodSecurity(attributes, "error", `Failed to parse policy: ${labelErrors(problems).text}`);
    observer.failed(false, attributes);
  }
  const failedBy = evaluator(pod, minorMax);
  const deny = (mode: Mode): void => observer.evaluated("deny", policy[mode], mode, attributes);
  const [enforced, audited, warned] = [
    enforces ? failedBy(policy.enforce) : [],
    failedBy(policy.audit),
    failedBy(policy.warn),
  ];
  if (attributes.trace !== undefined)
    explainFailures(attributes, kind, policy, { enforce: enforced, audit: audited, warn: warned });
  if (enforces) annotatePodSecurity(attributes, "enforce-policy", formatLevelVersion(policy.enforce));
  if (enforced.length > 0) deny("enforce");
  else if (enforces) observer.evaluated("allow", policy.enforce, "enforce", attributes);
  if (audited.length > 0) {
    annotatePodSecurity(attributes, "audit-violations", `would violate ${violated(policy.audit, audited)}`);
    deny("audit");
  }
  if (enforced.length > 0) throw violation(attributes, `violates ${violated(policy.enforce, enforced)}`);
  if (warned.length === 0) return;
  attributes.warnings.push(`would violate ${violated(policy.warn, warned)}`);
  deny("warn");
}

/** Evaluates each standard once. */
function evaluator(pod: Pod, minorMax: number | undefined): (standard: LevelVersion) => readonly FailedCheck[] {
  const results = new Map<string, readonly FailedCheck[]>();
  return (standard) => {
    const key = formatLevelVersion(standard);
    const failed = results.get(key) ?? evaluatePod(standard, pod, minorMax);
    results.set(key, failed);
    return failed;
  };
}

function violated(standard: LevelVersion, failed: readonly FailedCheck[]): string {
  return `PodSecurity ${quoteGo(formatLevelVersion(standard))}: ${formatDetails(failed)}`;
}

/** Unlike the errors of other plugins, it has the name of the request alone. */
function violation({ target, name }: AdmissionAttributes, why: string): ApiError {
  const { group, resource } = target.resource.definition;
  return forbidden({ group, resource }, name, why);
}
