/**
 * Validation of node affinity and pod affinity. Volumes and resource slices use node selectors too.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import { type FieldErrors, typedText } from "../../../apimachinery/field-errors.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from "../../../lib/names/names.ts";
import { items, type Part } from "../../fields.ts";
import { validateLabelSelector } from "../../label-selector.ts";
import { validateLabelKeys } from "./label-keys.ts";

interface AffinityRules {
  readonly anyAffinityValue: boolean;
  readonly anyNodeAffinityValue: boolean;
}

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

export function validateAffinity(
  { nodeAffinity, podAffinity, podAntiAffinity }: Part,
  path: string,
  rules: AffinityRules,
  errors: FieldErrors,
): void {
  if (nodeAffinity) validateNodeAffinity(nodeAffinity, `${path}.nodeAffinity`, rules, errors);
  if (podAffinity) validatePodAffinity(podAffinity, `${path}.podAffinity`, rules, errors);
  if (podAntiAffinity) validatePodAffinity(podAntiAffinity, `${path}.podAntiAffinity`, rules, errors);
}

function validateNodeAffinity(
  affinity: Part,
  path: string,
  { anyNodeAffinityValue }: AffinityRules,
  errors: FieldErrors,
): void {
  if (affinity[required]) validateNodeSelector(affinity[required], `${path}.${required}`, errors, anyNodeAffinityValue);
  for (const [index, { weight = 0, preference = {} }] of items(affinity[preferred]).entries()) {
    const at = `${path}.${preferred}[${index}]`;
    checkWeight(weight, at, errors);
    validateNodeSelectorTerm(preference, `${at}.preference`, errors, true);
  }
}

function checkWeight(weight: number, path: string, errors: FieldErrors): void {
  if (weight <= 0 || weight > 100) errors.invalid(`${path}.weight`, weight, "must be in the range 1-100");
}

/** @param anyValue accepts values that are not valid label values */
export function validateNodeSelector(
  { nodeSelectorTerms }: Part,
  path: string,
  errors: FieldErrors,
  anyValue = false,
): void {
  const terms = items(nodeSelectorTerms);
  if (terms.length === 0) errors.required(`${path}.nodeSelectorTerms`, "must have at least one node selector term");
  for (const [index, term] of terms.entries())
    validateNodeSelectorTerm(term, `${path}.nodeSelectorTerms[${index}]`, errors, anyValue);
}

function validateNodeSelectorTerm(
  { matchExpressions, matchFields }: Part,
  path: string,
  errors: FieldErrors,
  anyValue = false,
): void {
  for (const [index, requirement] of items(matchExpressions).entries()) {
    validateRequirement(requirement, `${path}.matchExpressions[${index}]`, errors, anyValue);
  }
  for (const [index, requirement] of items(matchFields).entries())
    validateFieldRequirement(requirement, `${path}.matchFields[${index}]`, errors);
}

const notOperator = "not a valid selector operator";

function validateRequirement(
  { key = "", operator = "", values = [] }: Part,
  path: string,
  errors: FieldErrors,
  anyValue: boolean,
): void {
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0) errors.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0)
      errors.forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  } else if (operator === "Gt" || operator === "Lt") {
    if (values.length !== 1)
      errors.required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'");
  } else errors.invalid(`${path}.operator`, typedText(operator), notOperator);
  addInvalid(errors, `${path}.key`, key, qualifiedNameProblems(key));
  if (anyValue) return;
  for (const [index, value] of values.entries())
    addInvalid(errors, `${path}.values[${index}]`, value, labelValueProblems(value));
}

function validateFieldRequirement(
  { key = "", operator = "", values = [] }: Part,
  path: string,
  errors: FieldErrors,
): void {
  if (operator !== "In" && operator !== "NotIn") errors.invalid(`${path}.operator`, typedText(operator), notOperator);
  else if (values.length !== 1) {
    errors.required(
      `${path}.values`,
      "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
    );
  }
  if (key !== "metadata.name") return errors.invalid(`${path}.key`, key, "not a valid field selector key");
  for (const [index, value] of values.entries())
    addInvalid(errors, `${path}.values[${index}]`, value, dnsSubdomainProblems(value));
}

/** Pod affinity or anti-affinity. */
function validatePodAffinity(affinity: Part, path: string, rules: AffinityRules, errors: FieldErrors): void {
  for (const [index, term] of items(affinity[required]).entries())
    validateTerm(term, `${path}.${required}[${index}]`, rules, errors);
  for (const [index, { weight = 0, podAffinityTerm = {} }] of items(affinity[preferred]).entries()) {
    const at = `${path}.${preferred}[${index}]`;
    checkWeight(weight, at, errors);
    validateTerm(podAffinityTerm, `${at}.podAffinityTerm`, rules, errors);
  }
}

function validateTerm(term: Part, path: string, { anyAffinityValue }: AffinityRules, errors: FieldErrors): void {
  const { topologyKey = "", namespaces = [] } = term;
  for (const field of ["labelSelector", "namespaceSelector"]) {
    if (term[field])
      validateLabelSelector(anyAffinityValue ? withoutValues(term[field]) : term[field], `${path}.${field}`, errors);
  }
  for (const name of namespaces) addInvalid(errors, `${path}.namespace`, name, dnsLabelProblems(name));
  validateLabelKeys(term, path, errors);
  if (topologyKey === "") errors.required(`${path}.topologyKey`, "can not be empty");
  addInvalid(errors, `${path}.topologyKey`, topologyKey, qualifiedNameProblems(topologyKey));
}

/** @returns the selector with all values replaced by a valid one */
function withoutValues(selector: Part): Part {
  const blank = (values: readonly string[] | undefined): string[] | undefined => values?.map(() => "");
  return {
    ...selector,
    matchExpressions: items(selector.matchExpressions).map((each) => ({ ...each, values: blank(each.values) })),
  };
}
