/**
 * Validates a device of a slice.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/resource/validation/validation.go
 */
import { type FieldErrors, typedText } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { validateNodeSelector } from "../core/pod/affinity.ts";
import { isNativeResource } from "../core/pod/resource-names.ts";
import { items, type Part } from "../fields.ts";
import { byName } from "../label-selector.ts";
import { validateBindingConditions } from "./binding-conditions.ts";
import { countValues, validateAttribute } from "./device-attributes.ts";
import { validateCapacity } from "./device-capacity.ts";
import { qualifiedBytesMax, validateLabelName, validateQualifiedName } from "./device-names.ts";
import { validateList, validateMap, validateSet } from "./lists.ts";
import { validateTaint } from "./taints.ts";

const propertiesMax = 32;
const valuesMax = 48;
const taintsMax = 16;
const counterSetsMax = 2;
const countersMax = 32;
const labelBytesMax = 63;

/**
 * @param isPerDevice whether each device has its own node selection
 * @param old the stored device of the same name
 */
export function validateDevice(
  device: Part,
  old: Part | undefined,
  isPerDevice: boolean,
  path: string,
  errors: FieldErrors,
): void {
  const { name = "", attributes = {}, capacity = {}, taints, consumesCounters } = device;
  validateLabelName(name, `${path}.name`, errors);
  const properties = Object.keys(attributes).length + Object.keys(capacity).length;
  if (properties > propertiesMax)
    errors.invalid(path, properties, `the total number of attributes and capacities must not exceed ${propertiesMax}`);
  const values = countValues(attributes);
  if (values > valuesMax)
    errors.invalid(path, values, `the total number of attribute values must not exceed ${valuesMax}`);
  const isShared = device.allowMultipleAllocations === true;
  const named = {
    max: Number.POSITIVE_INFINITY,
    keyBytesMax: qualifiedBytesMax,
    checkKey: (key: string, at: string) => validateQualifiedName(key, at, errors),
  };
  validateMap<Part>(
    attributes,
    { ...named, check: (attribute, at) => validateAttribute(attribute, at, errors) },
    `${path}.attributes`,
    errors,
  );
  validateMap<Part>(
    capacity,
    { ...named, check: (one, at) => validateCapacity(one, isShared, at, errors) },
    `${path}.capacity`,
    errors,
  );
  if (old === undefined || !deepEqual(taints, old.taints)) {
    validateList(
      items(taints),
      taintsMax,
      (taint, at) => validateTaint(taint, undefined, at, errors),
      `${path}.taints`,
      errors,
    );
  }
  const counterRules = {
    max: counterSetsMax,
    check: (one: Part, at: string) => validateConsumption(one, at, errors),
    key: (one: Part) => one.counterSet ?? "",
    covered: ["size", "uniqueness"] as const,
  };
  validateSet(items(consumesCounters), counterRules, `${path}.consumesCounters`, errors);
  validatePlace(device, isPerDevice, path, errors);
  validateBindingConditions(device, path, errors);
  validateMappings(
    device.nodeAllocatableResourceMappings ?? {},
    capacity,
    `${path}.nodeAllocatableResourceMappings`,
    errors,
  );
}

function validateConsumption({ counterSet = "", counters }: Part, path: string, errors: FieldErrors): void {
  validateCounterName(counterSet, `${path}.counterSet`, errors);
  validateCounters(counters, `${path}.counters`, errors);
}

/** Validates counters that devices of a slice share. */
export function validateCounterSet({ name = "", counters }: Part, path: string, errors: FieldErrors): void {
  validateCounterName(name, `${path}.name`, errors);
  validateCounters(counters, `${path}.counters`, errors);
}

function validateCounterName(name: string, path: string, errors: FieldErrors): void {
  if (name === "") errors.covered().required(path);
  else validateLabelName(name, path, errors.covered("format=k8s-short-name"));
}

function validateCounters(
  counters: Readonly<Record<string, Part>> | undefined,
  path: string,
  errors: FieldErrors,
): void {
  if (Object.keys(counters ?? {}).length === 0) return errors.covered().required(path);
  const checkKey = (key: string, at: string): void =>
    validateLabelName(key, at, errors.covered("format=k8s-short-name"));
  validateMap(
    counters ?? {},
    { max: countersMax, keyBytesMax: labelBytesMax, checkKey, check: () => {} },
    path,
    errors,
  );
}

const placeText =
  "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";

function validatePlace(
  { nodeName, nodeSelector, allNodes }: Part,
  isPerDevice: boolean,
  path: string,
  errors: FieldErrors,
): void {
  if (!isPerDevice) {
    if (nodeName === undefined && !nodeSelector && allNodes === undefined) return;
    const why =
      "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    return errors.invalid(path, null, why);
  }
  const set: string[] = [];
  if (nodeName === "") errors.invalid(`${path}.nodeName`, nodeName, "must not be empty");
  else if (nodeName !== undefined) {
    set.push("`nodeName`");
    addInvalid(errors, `${path}.nodeName`, nodeName, dnsSubdomainProblems(nodeName));
  }
  if (nodeSelector) {
    set.push("`nodeSelector`");
    validateNodeSelector(nodeSelector, `${path}.nodeSelector`, errors);
  }
  if (allNodes === false) errors.invalid(`${path}.allNodes`, false, "must be either unset or set to true");
  else if (allNodes === true) set.push("`allNodes`");
  if (set.length === 0) errors.required(path, placeText);
  else if (set.length > 1) errors.invalid(path, `{${set.join(", ")}}`, placeText);
}

function validateMappings(
  mappings: Readonly<Record<string, Part>>,
  capacity: Part,
  path: string,
  errors: FieldErrors,
): void {
  for (const [name, { allocationMultiplier: factor, capacityKey: key }] of Object.entries(byName(mappings))) {
    const at = `${path}[${name}]`;
    if (!isNativeResource(name)) errors.invalid(at, typedText(name), "must be a node allocatable resource name");
    if (factor === undefined && key === undefined)
      errors.invalid(at, "", "at least one of allocationMultiplier or capacityKey must be set");
    if (factor === "0" || factor?.startsWith("-"))
      errors.invalid(`${at}.allocationMultiplier`, factor, "must be positive");
    if (key === "") errors.invalid(`${at}.capacityKey`, "", "capacityKey must not be an empty string");
    else if (key !== undefined && !Object.hasOwn(capacity, key)) errors.notFound(`${at}.capacityKey`, typedText(key));
  }
}
