/**
 * Deprecated configuration sources of kubelets, which existing nodes may have.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { configMapKeyProblems, dnsLabelProblems, dnsSubdomainProblems } from "../../../lib/names/names.ts";
import type { Part } from "../../fields.ts";

/** @param where the spec must not have uid and resourceVersion, the status must */
export function validateConfigSource(
  { configMap }: Part,
  path: string,
  where: "spec" | "status",
  errors: FieldErrors,
): void {
  if (!configMap) return errors.invalid(path, { ConfigMap: null }, "exactly one reference subfield must be non-nil");
  const at = `${path}.configMap`;
  for (const field of ["uid", "resourceVersion"]) {
    const isSet = (configMap[field] ?? "") !== "";
    if (where === "spec" && isSet) errors.forbidden(`${at}.${field}`, `${field} must not be set in spec`);
    if (where === "status" && !isSet) errors.required(`${at}.${field}`);
  }
  const { namespace = "", name = "", kubeletConfigKey = "" } = configMap;
  checkName(namespace, `${at}.namespace`, dnsLabelProblems, errors);
  checkName(name, `${at}.name`, dnsSubdomainProblems, errors);
  checkName(kubeletConfigKey, `${at}.kubeletConfigKey`, configMapKeyProblems, errors);
}

function checkName(name: string, path: string, problems: (name: string) => string[], errors: FieldErrors): void {
  if (name === "") errors.required(path);
  else addInvalid(errors, path, name, problems(name));
}
