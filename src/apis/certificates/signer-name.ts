/** Names of signers, `example.com/name`, and what they are told. Source: kubernetes' pkg/apis/core/validation/names.go. */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { dnsLabelProblems, dnsSubdomainProblems, qualifiedNameProblems } from "../../lib/names/names.ts";

const domainBytesMax = 253;
const nameBytesMax = 571;

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

/** Of the first label that is wrong all that is. */
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

/** Whether Kubernetes itself keeps the signer's domain. */
export function isKubernetesSigner(name: string): boolean {
  const domain = name.split("/", 1)[0] as string;
  return domain === "kubernetes.io" || domain.endsWith(".kubernetes.io");
}

const annotationBytesMax = 256 * 1024;

/** What is told to a signer: keys have a domain. */
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
