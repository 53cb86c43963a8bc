import { labelPrefix } from "../../../lib/pod-security/policy.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import { annotateAudit } from "../../annotate.ts";

/** Adds an audit annotation of the plugin. */
export function annotatePodSecurity(
  attributes: AdmissionAttributes,
  name: "audit-violations" | "enforce-policy" | "error" | "exempt",
  value: string,
): void {
  annotateAudit(attributes, labelPrefix + name, value);
}
