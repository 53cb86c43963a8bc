/** Source: IsFullyQualifiedDomainName in k8s.io/apimachinery@v0.36.0/pkg/util/validation/validation.go. */
import { dnsLabelProblems, dnsSubdomainProblems } from "../../lib/names/names.ts";
import type { FieldErrors } from "../field-errors.ts";

/** Checks a name of at least two labels, with an optional dot at the end. */
export function validateDomain(text: string, path: string, errors: FieldErrors): void {
  if (text === "") return errors.required(path);
  const name = text.endsWith(".") ? text.slice(0, -1) : text;
  const problems = dnsSubdomainProblems(name);
  if (problems.length > 0) return errors.invalid(path, name, problems.join(","));
  const labels = name.split(".");
  if (labels.length < 2)
    return errors.invalid(path, name, "should be a domain with at least two segments separated by dots");
  const bad = labels.find((label) => dnsLabelProblems(label).length > 0);
  if (bad !== undefined) errors.invalid(path, bad, dnsLabelProblems(bad).join(","));
}
