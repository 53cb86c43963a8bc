/**
 * Validates bindings, which connect policies to parameters and requests.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/admissionregistration/validation/validation.go
 */
import { type FieldErrors, typedText } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { dnsSubdomainProblems, pathSegmentNameProblems } from "../../lib/names/names.ts";
import type { Part } from "../fields.ts";
import { validateLabelSelector } from "../label-selector.ts";
import { checkMutable, validateMatchResources } from "./resource-rules.ts";

const actions = ["Audit", "Deny", "Warn"];
const missingActions = ["Deny", "Allow"];

export function validateValidatingBinding({ spec = {} }: KubeObject, errors: FieldErrors): void {
  validateBinding(spec, errors);
  validateActions(spec.validationActions ?? [], "spec.validationActions", errors);
}

export function validateMutatingBinding({ spec = {} }: KubeObject, errors: FieldErrors): void {
  validateBinding(spec, errors);
  checkMutable(spec.matchResources, "spec.matchResources", errors);
}

function validateBinding({ policyName = "", paramRef, matchResources }: Part, errors: FieldErrors): void {
  if (policyName === "") errors.covered().required("spec.policyName");
  else addInvalid(errors, "spec.policyName", policyName, dnsSubdomainProblems(policyName));
  if (paramRef) validateParamRef(paramRef, "spec.paramRef", errors);
  if (matchResources) validateMatchResources(matchResources, "spec.matchResources", errors);
}

function validateParamRef(
  { name = "", selector, parameterNotFoundAction: action = "" }: Part,
  path: string,
  errors: FieldErrors,
): void {
  const both = "name and selector are mutually exclusive";
  if (name !== "") {
    addInvalid(errors, `${path}.name`, name, pathSegmentNameProblems(name));
    if (selector) errors.forbidden(`${path}.name`, both);
  }
  if (selector) {
    validateLabelSelector(selector, `${path}.selector`, errors);
    if (name !== "") errors.forbidden(`${path}.selector`, both);
  }
  if (name === "" && !selector) errors.required(path, "one of name or selector must be specified");
  if (action === "") errors.required(`${path}.parameterNotFoundAction`);
  else if (!missingActions.includes(action))
    errors.notSupported(`${path}.parameterNotFoundAction`, action, missingActions);
}

function validateActions(list: readonly string[], path: string, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, action] of list.entries()) {
    if (!actions.includes(action)) errors.notSupported(`${path}[${index}]`, action, actions);
    if (seen.has(action)) errors.duplicate(`${path}[${index}]`, typedText(action));
    seen.add(action);
  }
  if (seen.has("Deny") && seen.has("Warn")) {
    const why = "repeating the same validation failure information in the API response and headers serves no purpose";
    errors.invalid(path, list, `must not contain both Deny and Warn (${why})`);
  }
  if (seen.size === 0) errors.covered().required(path, "at least one validation action is required");
}
