/**
 * LimitRange: bounds and defaults of the resources of containers, pods and claims.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import { type FieldErrors, typedText } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid, validateMetaAgain } from "../../apimachinery/validation/metadata.ts";
import { strategy } from "../../catalog/strategy.ts";
import { dnsSubdomainProblems, qualifiedNameProblems } from "../../lib/names/names.ts";
import {
  compareQuantities,
  integerValue,
  milliValue,
  parseQuantity,
  type Quantity,
} from "../../lib/quantity/quantity.ts";
import { items, type Part } from "../fields.ts";
import { allowsOvercommit } from "./pod/resource-names.ts";
import { byName, validateContainerResourceName, validateResourceName } from "./pod/resources.ts";
import { roundResources } from "./resource-list.ts";

/** Strategy of `limitranges`. */
export const limitRange = strategy({
  isolatesStatus: false,
  repeatsMetaRules: false,
  setDefaults(object) {
    for (const limit of items(object.spec?.limits)) setLimitDefaults(limit);
  },
  prepareForCreate({ metadata }) {
    // Upstream uses another UUID.
    if ((metadata.name ?? "") === "" && metadata.uid !== undefined) metadata.name = metadata.uid;
  },
  validate,
  validateUpdate(next, _old, errors) {
    validateMetaAgain(next.metadata, { namespaced: true, validateName: dnsSubdomainProblems }, errors);
    validate(next, errors);
  },
});

const bounds = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"];

function setLimitDefaults(limit: Part): void {
  if (limit.type === "Container") {
    // The default limit is `max`. The default request is the default limit, else `min`.
    limit.default = { ...limit.max, ...limit.default };
    limit.defaultRequest = { ...limit.min, ...limit.default, ...limit.defaultRequest };
  }
  for (const field of bounds) roundResources(limit[field]);
}

const types = ["Pod", "Container", "PersistentVolumeClaim"];

function validate({ spec }: KubeObject, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, limit] of items(spec?.limits).entries()) {
    const path = `spec.limits[${index}]`;
    const { type = "" } = limit;
    validateType(type, `${path}.type`, errors);
    if (seen.has(type)) errors.duplicate(`${path}.type`, typedText(type));
    seen.add(type);
    validateNames(limit, path, errors);
    for (const name of namesOf(limit)) validateBounds(limit, name, path, errors);
  }
}

function validateType(type: string, path: string, errors: FieldErrors): void {
  const problems = qualifiedNameProblems(type);
  addInvalid(errors, path, typedText(type), problems);
  if (problems.length > 0 || type.includes("/") || types.includes(type)) return;
  errors.invalid(path, typedText(type), "must be a standard limit type or fully qualified");
}

function validateNames(limit: Part, path: string, errors: FieldErrors): void {
  const { type } = limit;
  const check = type === "Pod" || type === "Container" ? validateContainerResourceName : validateResourceName;
  const checkAll = (field: string): void => {
    for (const [name] of byName(limit[field])) check(name, `${path}.${field}[${name}]`, errors);
  };
  checkAll("max");
  checkAll("min");
  for (const field of ["default", "defaultRequest"]) {
    if (type !== "Pod") checkAll(field);
    else if (Object.keys(limit[field] ?? {}).length > 0)
      errors.forbidden(`${path}.${field}`, "may not be specified when `type` is 'Pod'");
  }
  if (type === "PersistentVolumeClaim" && !hasOwn(limit.min, "storage") && !hasOwn(limit.max, "storage")) {
    errors.required(`${path}.limits`, "either minimum or maximum storage value is required, but neither was provided");
  }
  checkAll("maxLimitRequestRatio");
}

const hasOwn = (list: Part | undefined, name: string): boolean => Object.hasOwn(list ?? {}, name);

function namesOf(limit: Part): string[] {
  const fields = bounds.filter((field) => limit.type !== "Pod" || !field.startsWith("default"));
  return [...new Set(fields.flatMap((field) => Object.keys(limit[field] ?? {})))].sort();
}

interface Bound {
  readonly text: string;
  readonly quantity: Quantity;
}

function validateBounds(limit: Part, name: string, path: string, errors: FieldErrors): void {
  const boundOf = (field: string): Bound | undefined => {
    if (!hasOwn(limit[field], name) || (limit.type === "Pod" && field.startsWith("default"))) return undefined;
    const text: string = limit[field][name];
    return { text, quantity: parseQuantity(text) };
  };
  const [max, min, most, request, ratio] = bounds.map(boundOf);
  const addError = (field: string, { text }: Bound, why: string): void =>
    errors.invalid(`${path}.${field}[${name}]`, text, why);
  const exceeds = (a: Bound | undefined, b: Bound | undefined): boolean =>
    a !== undefined && b !== undefined && compareQuantities(a.quantity, b.quantity) > 0;
  if (min && max && exceeds(min, max))
    addError("min", min, `min value ${min.text} is greater than max value ${max.text}`);
  if (request && min && exceeds(min, request)) {
    addError("defaultRequest", request, `min value ${min.text} is greater than default request value ${request.text}`);
  }
  if (request && max && exceeds(request, max)) {
    addError("defaultRequest", request, `default request value ${request.text} is greater than max value ${max.text}`);
  }
  if (request && most && exceeds(request, most)) {
    addError(
      "defaultRequest",
      request,
      `default request value ${request.text} is greater than default limit value ${most.text}`,
    );
  }
  if (most && min && exceeds(min, most))
    addError("default", min, `min value ${min.text} is greater than default value ${most.text}`);
  if (most && max && exceeds(most, max))
    addError("default", max, `default value ${most.text} is greater than max value ${max.text}`);
  if (ratio) validateRatio(ratio, min, max, (why) => addError("maxLimitRequestRatio", ratio, why));
  if (!allowsOvercommit(name) && most && request && compareQuantities(most.quantity, request.quantity) !== 0) {
    addError(
      "defaultRequest",
      request,
      `default value ${most.text} must equal to defaultRequest value ${request.text} in ${name}`,
    );
  }
}

const one = parseQuantity("1");
/** The milli value of a larger quantity does not fit into 64 bits. */
const milliMax = 2 ** 63 / 1000;

/** The ratio may be at least 1 and at most `max / min`. */
function validateRatio(
  ratio: Bound,
  min: Bound | undefined,
  max: Bound | undefined,
  addError: (why: string) => void,
): void {
  if (compareQuantities(ratio.quantity, one) < 0) addError(`ratio ${ratio.text} is less than 1`);
  if (min === undefined || max === undefined) return;
  const fitsMilli = [ratio, min, max].every(({ quantity }) => integerValue(quantity) < milliMax);
  const numberOf = ({ quantity }: Bound): number => Number(fitsMilli ? milliValue(quantity) : integerValue(quantity));
  const maxRatio = numberOf(max) / numberOf(min);
  const requested = fitsMilli ? Number(milliValue(ratio.quantity)) / 1000 : Number(integerValue(ratio.quantity));
  if (requested > maxRatio) addError(`ratio ${ratio.text} is greater than max/min = ${maxRatio.toFixed(6)}`);
}
