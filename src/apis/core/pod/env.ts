/**
 * Validation of the environment variables of containers.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { configMapKeyProblems, dnsLabelProblems, dnsSubdomainProblems } from "../../../lib/names/names.ts";
import type { Part } from "../../fields.ts";
import { validateFieldRef, validateResourceFieldRef } from "./downward-api.ts";
import { checkNoBacksteps } from "./paths.ts";

export function validateEnv(variables: readonly Part[], path: string, envFiles: boolean, errors: FieldErrors): void {
  for (const [index, variable] of variables.entries()) {
    const { name = "", valueFrom } = variable;
    if (name === "") errors.required(`${path}[${index}].name`);
    else if (!isPlainName(name)) addInvalid(errors, `${path}[${index}].name`, name, variableNameProblems(name));
    if (valueFrom) validateValueFrom(variable, `${path}[${index}].valueFrom`, envFiles, errors);
  }
}

const isPlainName = (name: string): boolean => /^[!-<>-~]{1,256}$/.test(name);

/** Names consist of printable ASCII without `=`. */
function variableNameProblems(name: string): string[] {
  if (name === "") return ["environment variable name must be non-empty"];
  if (/^[ -<>-~]+$/.test(name)) return [];
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

function validateValueFrom(
  { value = "", valueFrom }: Part,
  path: string,
  envFiles: boolean,
  errors: FieldErrors,
): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom;
  const count = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(
    (source) => source !== undefined,
  ).length;
  if (fieldRef) validateFieldRef(fieldRef, "env", `${path}.fieldRef`, errors);
  if (resourceFieldRef) validateResourceFieldRef(resourceFieldRef, "env", `${path}.resourceFieldRef`, errors);
  if (configMapKeyRef) validateKeyRef(configMapKeyRef, `${path}.configMapKeyRef`, errors);
  if (secretKeyRef) validateKeyRef(secretKeyRef, `${path}.secretKeyRef`, errors);
  if (fileKeyRef) validateFileKeyRef(fileKeyRef, `${path}.fileKeyRef`, errors);
  if (count === 0)
    errors.invalid(
      path,
      "",
      `must specify one of: \`fieldRef\`, \`resourceFieldRef\`, \`configMapKeyRef\`${lastSources(envFiles)}`,
    );
  else if (value !== "") errors.invalid(path, "", "may not be specified when `value` is not empty");
  else if (count > 1) errors.invalid(path, "", "may not have more than one field specified at a time");
}

const lastSources = (envFiles: boolean): string =>
  envFiles ? ", `secretKeyRef` or `fileKeyRef`" : " or `secretKeyRef`";

function validateKeyRef({ name = "", key = "" }: Part, path: string, errors: FieldErrors): void {
  addInvalid(errors, `${path}.name`, name, dnsSubdomainProblems(name));
  if (key === "") errors.required(`${path}.key`);
  else addInvalid(errors, `${path}.key`, key, configMapKeyProblems(key));
}

function validateFileKeyRef(
  { key = "", volumeName = "", path: file = "" }: Part,
  path: string,
  errors: FieldErrors,
): void {
  if (key === "") errors.required(`${path}.key`);
  else addInvalid(errors, `${path}.key`, key, variableNameProblems(key));
  if (volumeName === "") errors.required(`${path}.volumeName`);
  else addInvalid(errors, `${path}.volumeName`, volumeName, dnsLabelProblems(volumeName));
  if (file === "") errors.required(`${path}.path`);
  else checkNoBacksteps(file, `${path}.path`, errors);
}

/** ConfigMaps and Secrets of which each entry becomes a variable. */
export function validateEnvFrom(sources: readonly Part[], path: string, errors: FieldErrors): void {
  for (const [index, { prefix = "", configMapRef, secretRef }] of sources.entries()) {
    const at = `${path}[${index}]`;
    if (prefix !== "") addInvalid(errors, `${at}.prefix`, prefix, variableNameProblems(prefix));
    if (configMapRef) validateSourceName(configMapRef, `${at}.configMapRef.name`, errors);
    if (secretRef) validateSourceName(secretRef, `${at}.secretRef.name`, errors);
    if (!configMapRef && !secretRef) errors.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`");
    else if (configMapRef && secretRef)
      errors.invalid(path, "", "may not have more than one field specified at a time");
  }
}

/** Like upstream, accepts a name that ends in a dash, as in `generateName`. */
function validateSourceName({ name = "" }: Part, path: string, errors: FieldErrors): void {
  if (name === "") errors.required(path);
  else addInvalid(errors, path, name, dnsSubdomainProblems(name, true));
}
