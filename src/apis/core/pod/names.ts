/** Names that only pods' volumes use: of signers and of bundles of trust. */
import type { FieldErrors } from "../../../api/field-errors.ts";
import { addInvalid } from "../../../api/validation/metadata.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { dnsLabelProblems, dnsSubdomainProblems, qualifiedNameProblems } from "../../../lib/names/names.ts";

const domainBytesMax = 253;
const signerBytesMax = domainBytesMax + 1 + domainBytesMax + 63 + 1;

/** `example.com/signer`. */
export function validateSignerName(name: string, path: string, errors: FieldErrors): void {
  if (name === "") return errors.required(path);
  const segments = name.split("/", 3);
  if (segments.length !== 2) {
    return errors.invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
  }
  const [domain, local] = segments as [string, string];
  if (Buffer.byteLength(domain) > domainBytesMax) errors.tooLong(path, domainBytesMax);
  const labels = domain.split(".");
  checkParts(labels, domain, dnsLabelProblems, path, errors);
  if (labels.length < 2) errors.invalid(path, domain, "should be a domain with at least two segments separated by dots");
  checkParts(local.split("."), local, dnsSubdomainProblems, path, errors);
  if (Buffer.byteLength(name) > signerBytesMax) errors.tooLong(path, signerBytesMax);
}

/** Tells of the first part that is wrong. */
function checkParts(parts: readonly string[], whole: string, problemsOf: (text: string) => string[], path: string, errors: FieldErrors): void {
  const wrong = parts.find((part) => problemsOf(part).length > 0);
  if (wrong === undefined) return;
  for (const problem of problemsOf(wrong)) errors.invalid(path, whole, `validating label ${quoteGo(wrong)}: ${problem}`);
}

export function isKubernetesSigner(name: string): boolean {
  const [domain = ""] = name.split("/", 1);
  return domain === "kubernetes.io" || domain.endsWith(".kubernetes.io");
}

/** A bundle of a signer is named `example.com:signer:name`. */
export function validateTrustBundleName(name: string, path: string, errors: FieldErrors): void {
  addInvalid(
    errors,
    path,
    name,
    bundleProblems(name).map((problem) => `not a valid clustertrustbundlename: ${problem}`),
  );
}

function bundleProblems(name: string): string[] {
  const end = name.lastIndexOf(":");
  if (end < 0) return dnsSubdomainProblems(name);
  if (end === 0) return ['ClusterTrustBundle without signer name must not have ":" in its name'];
  const signer = name.slice(0, end).replaceAll(":", "/");
  const prefix = `${signer.replaceAll("/", ":")}:`;
  if (!name.startsWith(prefix)) return [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`];
  return dnsSubdomainProblems(name.slice(prefix.length));
}

const annotationBytesMax = 256 * 1024;

/** What is told to a signer: keys have a domain. */
export function validateUserAnnotations(annotations: Readonly<Record<string, string>>, path: string, errors: FieldErrors): void {
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
