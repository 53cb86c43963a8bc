/**
 * Names of ClusterTrustBundles.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/names.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { dnsSubdomainProblems } from "../../../lib/names/names.ts";

/** The name of a bundle with a signer has the form `example.com:signer:name`. */
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
  if (!name.startsWith(prefix))
    return [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`];
  return dnsSubdomainProblems(name.slice(prefix.length));
}
