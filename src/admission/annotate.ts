/**
 * Audit annotations of admission plugins. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/attributes.go and audit.go.
 */

import { dnsSubdomainProblems } from "../lib/names/names.ts";
import type { AdmissionAttributes } from "../registry/admission-attributes.ts";
import type { AuditLevel } from "../request/audit.ts";
import { auditLevels } from "../request/audit.ts";

/**
 * Adds an annotation to the audit record of a request.
 *
 * @param key a domain and a name, such as `pod-security.kubernetes.io/enforce-policy`; an existing
 *   annotation is not replaced
 * @param level records of a lower level omit the annotation
 * @returns the problem of the key, for keys that come from outside; undefined if the key is valid
 */
export function annotateAudit(
  { audit }: Pick<AdmissionAttributes, "audit">,
  key: string,
  value: string,
  level: AuditLevel = "Metadata",
): string | undefined {
  const problem = keyProblem(key);
  if (problem !== undefined) return problem;
  if (audit !== undefined && auditLevels.indexOf(audit.level) >= auditLevels.indexOf(level)) audit.annotate(key, value);
  return undefined;
}

const example = "'podsecuritypolicy.admission.k8s.io/admit-policy'";
const namePattern = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

function keyProblem(key: string): string | undefined {
  const [domain = "", name, ...rest] = key.split("/");
  if (name === undefined || rest.length > 0)
    return `annotation key has invalid format, the right format is a DNS subdomain prefix and '/' and key name. (e.g. ${example})`;
  const isName = name.length <= 63 && namePattern.test(name);
  if (isName && dnsSubdomainProblems(domain).length === 0) return undefined;
  return `annotation key has invalid format ${key}. A qualified name like ${example} is required.`;
}
