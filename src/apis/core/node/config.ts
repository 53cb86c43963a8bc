/** Where a kubelet's configuration was to be found, as nodes of old say. Source: kubernetes pkg/apis/core/validation. */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { configMapKeyProblems, dnsLabelProblems, dnsSubdomainProblems } from "../../../lib/names/names.ts";
import type { Part } from "../../fields.ts";

/** @param where in the spec nothing says which version it is, in the status all does */
export function validateConfigSource(
  { configMap }: Part,
  path: string,
  where: "spec" | "status",
  errors: FieldErrors,
): void {
  if (!configMap) return errors.invalid(path, { ConfigMap: null }, "exactly one reference subfield must be non-nil");
  const at = `${path}.configMap`;
  for (const field of ["uid", "resourceVersion"]) {
    const isThere = (configMap[field] ?? "") !== "";
    if (where === "spec" && isThere) errors.forbidden(`${at}.${field}`, `${field} must not be set in spec`);
    if (where === "status" && !isThere) errors.required(`${at}.${field}`);
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
