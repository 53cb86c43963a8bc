/**
 * Validation of requests and limits of containers and pods.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import { type FieldErrors, typedText } from "../../../apimachinery/field-errors.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { dnsLabelProblems, qualifiedNameProblems } from "../../../lib/names/names.ts";
import { compareQuantities, formatQuantity, parseQuantity } from "../../../lib/quantity/quantity.ts";
import { items, type Part } from "../../fields.ts";
import {
  allowsOvercommit,
  isDivisibleHugePages,
  isExtendedResource,
  isHugePages,
  isIntegerResource,
  isNativeResource,
  isPodLevelResource,
  isStandardContainerResource,
  isStandardResource,
  isWhole,
} from "./resource-names.ts";
import { sumOfContainers } from "./sum-of-containers.ts";

interface ResourceRules {
  readonly indivisibleHugePages: boolean;
  /** Names of the pod's `resourceClaims`. */
  readonly claimNames: ReadonlySet<string>;
  /** Whether the resources are pod-level. */
  readonly ofPod: boolean;
}

/** @param path of the `resources` */
export function validateResources(
  { limits = {}, requests = {}, claims }: Part,
  path: string,
  rules: ResourceRules,
  errors: FieldErrors,
): void {
  const seen = { hugePages: false, cpuOrMemory: false };
  for (const [name, text] of byName(limits)) {
    const at = `${path}.limits[${name}]`;
    checkResource(name, text, at, rules, errors);
    checkHugePages(name, text, at, rules, errors);
    markSeen(name, seen);
  }
  for (const [name, text] of byName(requests)) {
    const at = `${path}.requests[${name}]`;
    checkResource(name, text, at, rules, errors);
    checkLimit(name, text, Object.hasOwn(limits, name) ? limits[name] : undefined, path, errors);
    checkHugePages(name, text, at, rules, errors);
    markSeen(name, seen);
  }
  if (seen.hugePages && !seen.cpuOrMemory) errors.forbidden(path, "HugePages require cpu or memory");
  if (claims) validateClaims(items(claims), `${path}.claims`, rules.claimNames, errors);
}

/** @returns the entries sorted by name */
export function byName(list: Part = {}): [name: string, text: string][] {
  const entries = Object.entries<string>(list);
  return entries.length < 2 ? entries : entries.sort(([a], [b]) => (a < b ? -1 : 1));
}

function markSeen(name: string, seen: { hugePages: boolean; cpuOrMemory: boolean }): void {
  if (isHugePages(name)) seen.hugePages = true;
  if (name === "cpu" || name === "memory") seen.cpuOrMemory = true;
}

function checkResource(name: string, text: string, path: string, { ofPod }: ResourceRules, errors: FieldErrors): void {
  if (ofPod) validatePodResourceName(name, path, errors);
  else validateContainerResourceName(name, path, errors);
  validateResourceQuantity(name, text, path, errors);
}

/** Checks that a name is a standard resource or qualified. */
export function validateResourceName(name: string, path: string, errors: FieldErrors): void {
  const problems = qualifiedNameProblems(name);
  addInvalid(errors, path, typedText(name), problems);
  if (problems.length === 0 && !name.includes("/") && !isStandardResource(name)) {
    errors.invalid(path, typedText(name), "must be a standard resource type or fully qualified");
  }
}

/** Checks that a name is a standard or extended resource of containers. */
export function validateContainerResourceName(name: string, path: string, errors: FieldErrors): void {
  if (name === "cpu" || name === "memory") return;
  validateResourceName(name, path, errors);
  if (!name.includes("/")) {
    if (!isStandardContainerResource(name))
      errors.invalid(path, typedText(name), "must be a standard resource for containers");
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.invalid(path, typedText(name), "doesn't follow extended resource name standard");
  }
}

function validatePodResourceName(name: string, path: string, errors: FieldErrors): void {
  const before = errors.causes.length;
  validateResourceName(name, path, errors);
  if (errors.causes.length === before && !isPodLevelResource(name))
    errors.notSupported(path, name, ["cpu", "hugepages-", "memory"]);
}

/** Rejects negative quantities, and fractions of resources that are counted. */
export function validateResourceQuantity(name: string, text: string, path: string, errors: FieldErrors): void {
  if (text.startsWith("-")) errors.invalid(path, text, "must be greater than or equal to 0");
  if (isIntegerResource(name) && !isWhole(parseQuantity(text))) errors.invalid(path, text, "must be an integer");
}

function checkLimit(name: string, text: string, limit: string | undefined, path: string, errors: FieldErrors): void {
  if (limit === text) return;
  const at = `${path}.requests`;
  if (limit === undefined) {
    if (!allowsOvercommit(name))
      errors.required(`${path}.limits`, "Limit must be set for non overcommitable resources");
    return;
  }
  const order = compareQuantities(parseQuantity(text), parseQuantity(limit));
  if (order !== 0 && !allowsOvercommit(name)) errors.invalid(at, text, `must be equal to ${name} limit of ${limit}`);
  else if (order > 0) errors.invalid(at, text, `must be less than or equal to ${name} limit of ${limit}`);
}

function checkHugePages(
  name: string,
  text: string,
  path: string,
  { indivisibleHugePages }: ResourceRules,
  errors: FieldErrors,
): void {
  if (indivisibleHugePages || !isHugePages(name) || isDivisibleHugePages(name, text)) return;
  errors.invalid(path, text, `${text} is not positive integer multiple of ${name}`);
}

function validateClaims(
  claims: readonly Part[],
  path: string,
  claimNames: ReadonlySet<string>,
  errors: FieldErrors,
): void {
  const seen: SeenClaims = { keys: new Set(), requests: new Map() };
  let which: string | undefined;
  for (const [index, { name = "", request = "" }] of claims.entries()) {
    const at = `${path}[${index}]`;
    if (name === "") {
      errors.required(at);
      continue;
    }
    if (seen.keys.has(name)) errors.duplicate(at, name);
    else checkClaim(name, request, at, seen, errors);
    if (!claimNames.has(name)) {
      which ??= claimNames.size === 0 ? " which is empty" : `: ${[...claimNames].sort().join(", ")}`;
      errors.notFound(at, name, `must be one of the names in pod.spec.resourceClaims${which}`);
    }
  }
}

interface SeenClaims {
  /** Such as `claim` or `claim/request`. */
  readonly keys: Set<string>;
  /** Number of requests by claim. */
  readonly requests: Map<string, number>;
}

/** A reference to a whole claim conflicts with references to its requests. */
function checkClaim(
  name: string,
  request: string,
  path: string,
  { keys, requests }: SeenClaims,
  errors: FieldErrors,
): void {
  if (request !== "") addInvalid(errors, `${path}.request`, request, dnsLabelProblems(request));
  const key = request === "" ? name : `${name}/${request}`;
  const count = requests.get(name) ?? 0;
  if (keys.has(key)) errors.duplicate(path, key);
  else if (request === "") for (let times = 0; times < count; times++) errors.duplicate(path, name);
  else requests.set(name, count + 1);
  keys.add(key);
}

/** Validates pod-level resources. @param path of the spec */
export function validatePodResources(
  spec: Part,
  path: string,
  rules: Omit<ResourceRules, "ofPod">,
  errors: FieldErrors,
): void {
  const { resources } = spec;
  if (!resources) return;
  const at = `${path}.resources`;
  if (spec.os?.name === "windows") return errors.forbidden(at, "may not be set for a windows pod");
  if (resources.claims) errors.forbidden(`${at}.claims`, "claims may not be set for Resources at pod-level");
  validateResources(resources, at, { ...rules, ofPod: true }, errors);
  validateSums(spec, at, errors);
}

function validateSums(spec: Part, path: string, errors: FieldErrors): void {
  const { requests = {}, limits = {} } = spec.resources;
  for (const [name, sum] of sumOfContainers(spec, "requests")) {
    if (!Object.hasOwn(requests, name) || compareQuantities(sum, parseQuantity(requests[name])) <= 0) continue;
    const why = `must be greater than or equal to aggregate container requests of ${formatQuantity(sum)}`;
    errors.invalid(`${path}.requests[${name}]`, requests[name], why);
  }
  for (const [name, sum] of sumOfContainers(spec, "limits")) {
    if (!isHugePages(name) || !Object.hasOwn(limits, name) || compareQuantities(sum, parseQuantity(limits[name])) <= 0)
      continue;
    const why = `must be greater than or equal to aggregate container limits of ${formatQuantity(sum)}`;
    errors.invalid(`${path}.limits[${name}]`, limits[name], why);
  }
  for (const [index, { resources }] of items(spec.containers).entries()) {
    for (const [name, limit] of byName(resources?.limits ?? {})) {
      if (!Object.hasOwn(limits, name) || compareQuantities(parseQuantity(limit), parseQuantity(limits[name])) <= 0)
        continue;
      const at = `${path}.containers[${index}][${name}].limits`;
      errors.invalid(at, limit, `must be less than or equal to pod limits of ${limits[name]}`);
    }
  }
}
