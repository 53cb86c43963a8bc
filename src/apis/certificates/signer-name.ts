/**
 * Validates the names of signers, such as `example.com/name`, and the annotations for them.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/names.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/apis/certificates/validation/validation.go
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { dnsLabelProblems, dnsSubdomainProblems, qualifiedNameProblems } from "../../lib/names/names.ts";

const domainBytesMax = 253;
const nameBytesMax = 571;

/** Adds an error for a name that is not a domain and a path. */
export function validateSignerName(name: string, path: string, errors: FieldErrors): void {
  if (name === "") return errors.required(path);
  const [domain = "", local = "", ...more] = name.split("/", 3);
  if (!name.includes("/") || more.length > 0) {
    return errors.invalid(
      path,
      name,
      "must be a fully qualified domain and path of the form 'example.com/signer-name'",
    );
  }
  if (Buffer.byteLength(domain) > domainBytesMax) errors.tooLong(path, domainBytesMax);
  validateLabels(domain, dnsLabelProblems, path, errors);
  if (!domain.includes("."))
    errors.invalid(path, domain, "should be a domain with at least two segments separated by dots");
  validateLabels(local, dnsSubdomainProblems, path, errors);
  if (Buffer.byteLength(name) > nameBytesMax) errors.tooLong(path, nameBytesMax);
}

/** Adds all errors of the first invalid label. */
function validateLabels(
  text: string,
  problemsOf: (label: string) => string[],
  path: string,
  errors: FieldErrors,
): void {
  const wrong = text.split(".").find((label) => problemsOf(label).length > 0);
  if (wrong === undefined) return;
  for (const problem of problemsOf(wrong)) errors.invalid(path, text, `validating label ${quoteGo(wrong)}: ${problem}`);
}

/** Whether the signer's domain is reserved for Kubernetes. */
export function isKubernetesSigner(name: string): boolean {
  const domain = name.split("/", 1)[0] as string;
  return domain === "kubernetes.io" || domain.endsWith(".kubernetes.io");
}

const annotationBytesMax = 256 * 1024;

/** Validates annotations for a signer, whose keys must have a domain. */
export function validateUserAnnotations(
  annotations: Readonly<Record<string, string>>,
  path: string,
  errors: FieldErrors,
): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
    const name = key.toLowerCase();
    const problems = qualifiedNameProblems(name);
    if (name === "") errors.required(path);
    else if (problems.length > 0) addInvalid(errors, path, name, problems);
    else if (!name.includes("/")) errors.invalid(path, name, 'must be a domain-prefixed key (such as "acme.io/foo")');
  }
  if (bytes > annotationBytesMax) errors.tooLong(path, annotationBytesMax);
}
