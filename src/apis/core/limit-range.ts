/** LimitRange: bounds and defaults of what containers, pods and claims ask for. Source: kubernetes pkg/apis/core/validation. */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
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
import { allowsOvercommit } from "./pod/quantity-names.ts";
import { byName, validateContainerResourceName, validateResourceName } from "./pod/resources.ts";
import { roundResources } from "./resource-list.ts";

export const limitRange = strategy({
  isolatesStatus: false,
  repeatsMetaRules: false,
  setDefaults(object) {
    for (const limit of items(object.spec?.limits)) setLimitDefaults(limit);
  },
  prepareForCreate({ metadata }) {
    if ((metadata.name ?? "") === "" && metadata.uid !== undefined) metadata.name = metadata.uid; // Upstream makes up another UUID.
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
    // What a container may at most use is its default; what it is limited to, or at least needs, is what it asks for.
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
    if (seen.has(type)) errors.duplicate(`${path}.type`, type);
    seen.add(type);
    validateNames(limit, path, errors);
    for (const name of namesOf(limit)) validateBounds(limit, name, path, errors);
  }
}

function validateType(type: string, path: string, errors: FieldErrors): void {
  const problems = qualifiedNameProblems(type);
  addInvalid(errors, path, type, problems);
  if (problems.length > 0 || type.includes("/") || types.includes(type)) return;
  errors.invalid(path, type, "must be a standard limit type or fully qualified");
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
  const refuse = (field: string, { text }: Bound, why: string): void =>
    errors.invalid(`${path}.${field}[${name}]`, text, why);
  const exceeds = (a: Bound | undefined, b: Bound | undefined): boolean =>
    a !== undefined && b !== undefined && compareQuantities(a.quantity, b.quantity) > 0;
  if (min && max && exceeds(min, max))
    refuse("min", min, `min value ${min.text} is greater than max value ${max.text}`);
  if (request && min && exceeds(min, request)) {
    refuse("defaultRequest", request, `min value ${min.text} is greater than default request value ${request.text}`);
  }
  if (request && max && exceeds(request, max)) {
    refuse("defaultRequest", request, `default request value ${request.text} is greater than max value ${max.text}`);
  }
  if (request && most && exceeds(request, most)) {
    refuse(
      "defaultRequest",
      request,
      `default request value ${request.text} is greater than default limit value ${most.text}`,
    );
  }
  if (most && min && exceeds(min, most))
    refuse("default", min, `min value ${min.text} is greater than default value ${most.text}`);
  if (most && max && exceeds(most, max))
    refuse("default", max, `default value ${most.text} is greater than max value ${max.text}`);
  if (ratio) validateRatio(ratio, min, max, (why) => refuse("maxLimitRequestRatio", ratio, why));
  if (!allowsOvercommit(name) && most && request && compareQuantities(most.quantity, request.quantity) !== 0) {
    refuse(
      "defaultRequest",
      request,
      `default value ${most.text} must equal to defaultRequest value ${request.text} in ${name}`,
    );
  }
}

const one = parseQuantity("1");
/** Thousandths of more than this do not fit into 64 bits. */
const milliMax = 2 ** 63 / 1000;

/** Limits may not be allowed to exceed requests by more than the bounds do. */
function validateRatio(
  ratio: Bound,
  min: Bound | undefined,
  max: Bound | undefined,
  refuse: (why: string) => void,
): void {
  if (compareQuantities(ratio.quantity, one) < 0) refuse(`ratio ${ratio.text} is less than 1`);
  if (min === undefined || max === undefined) return;
  const isFine = [ratio, min, max].every(({ quantity }) => integerValue(quantity) < milliMax);
  const plainOf = ({ quantity }: Bound): number => Number(isFine ? milliValue(quantity) : integerValue(quantity));
  const most = plainOf(max) / plainOf(min);
  const wanted = isFine ? Number(milliValue(ratio.quantity)) / 1000 : Number(integerValue(ratio.quantity));
  if (wanted > most) refuse(`ratio ${ratio.text} is greater than max/min = ${most.toFixed(6)}`);
}
