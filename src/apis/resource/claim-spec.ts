/**
 * Validates the spec of a claim: requests, constraints and configuration.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/resource/validation/validation.go
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { items, type Part } from "../fields.ts";
import { configsMax, type SelectorRules, validateConfiguration, validateSelectors } from "./device-config.ts";
import { validateClassName, validateFullName, validateLabelName } from "./device-names.ts";
import { validateList, validateSet } from "./lists.ts";
import { validateToleration } from "./taints.ts";

export const requestsMax = 32;
const constraintsMax = 32;
const alternativesMax = 8;
const unknownRequest =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

const covered = ["size", "uniqueness"] as const;
const qualifiedNameOrigin = "format=k8s-resource-fully-qualified-name";

export function setClaimSpecDefaults(spec: Part): void {
  for (const { exactly, firstAvailable } of items(spec.devices?.requests)) {
    for (const request of [...(exactly ? [exactly] : []), ...items(firstAvailable)]) {
      request.allocationMode ||= "ExactCount";
      if (request.allocationMode === "ExactCount" && !request.count) request.count = 1;
    }
  }
}

export interface ClaimRules extends SelectorRules {
  /** Whether a constraint may have `distinctAttribute`. */
  readonly hasDistinct: boolean;
}

/** @param path of the spec */
export function validateClaimSpec({ devices = {} }: Part, rules: ClaimRules, path: string, errors: FieldErrors): void {
  const { requests, constraints, config } = devices;
  const place = `${path}.devices`;
  const names = requestNames(devices);
  const checkRequest = (request: Part, at: string): void => validateRequest(request, rules, at, errors);
  validateSet(
    items(requests),
    { max: requestsMax, check: checkRequest, key: ({ name = "" }) => name, covered },
    `${place}.requests`,
    errors,
  );
  const checkConstraint = (constraint: Part, at: string): void =>
    validateConstraint(constraint, names, rules, at, errors);
  validateList(items(constraints), constraintsMax, checkConstraint, `${place}.constraints`, errors.covered("maxItems"));
  const checkConfig = (one: Part, at: string): void => {
    validateReferences(one.requests, names, `${at}.requests`, errors);
    validateConfiguration(one, rules.isStored, at, errors);
  };
  validateList(items(config), configsMax, checkConfig, `${place}.config`, errors.covered("maxItems"));
}

/** Names of requests, and of their subrequests as `request/subrequest`. */
export type RequestNames = ReadonlySet<string>;

export function requestNames(devices: Part | undefined): RequestNames {
  return new Set(
    items(devices?.requests).flatMap(({ name = "", firstAvailable }) => [
      name,
      ...items(firstAvailable).map((alternative) => `${name}/${alternative.name ?? ""}`),
    ]),
  );
}

/** Validates a list of names of requests. */
export function validateReferences(
  list: readonly string[] | undefined,
  names: RequestNames,
  path: string,
  errors: FieldErrors,
): void {
  const check = (name: string, at: string): void => validateReference(name, names, at, errors);
  validateSet(list ?? [], { max: requestsMax, check, key: (name) => name, covered }, path, errors);
}

export function validateReference(name: string, names: RequestNames, path: string, errors: FieldErrors): void {
  const parts = name.split("/");
  if (parts.length > 2) return errors.invalid(path, name, unknownRequest);
  for (const part of parts) validateLabelName(part, path, errors);
  if (!names.has(name)) errors.invalid(path, name, unknownRequest);
}

function validateRequest(
  { name = "", exactly, firstAvailable }: Part,
  rules: ClaimRules,
  path: string,
  errors: FieldErrors,
): void {
  validateLabelName(name, `${path}.name`, errors);
  const alternatives = items(firstAvailable);
  const either = "exactly one of `exactly` or `firstAvailable` is required";
  if (exactly && alternatives.length > 0) return errors.invalid(path, null, `${either}, but multiple fields are set`);
  if (exactly) return validateDevices(exactly, rules, `${path}.exactly`, errors, errors.uncovered());
  if (alternatives.length === 0) return errors.required(path, either);
  const check = (alternative: Part, at: string): void => {
    validateLabelName(alternative.name ?? "", `${at}.name`, errors);
    validateDevices(alternative, rules, at, errors, errors);
  };
  validateSet(
    alternatives,
    { max: alternativesMax, check, key: (alternative) => alternative.name ?? "", covered },
    `${path}.firstAvailable`,
    errors,
  );
}

/**
 * Validates the fields that a request shares with a subrequest.
 *
 * @param classErrors for the device class, which a declarative rule covers in subrequests only
 */
function validateDevices(
  request: Part,
  rules: ClaimRules,
  path: string,
  errors: FieldErrors,
  classErrors: FieldErrors,
): void {
  const { deviceClassName = "", selectors, allocationMode, count = 0, tolerations } = request;
  validateClassName(deviceClassName, `${path}.deviceClassName`, classErrors);
  validateSelectors(selectors, rules, `${path}.selectors`, errors);
  const countPath = `${path}.count`;
  if (allocationMode === "All") {
    if (count !== 0) errors.invalid(countPath, count, "must not be specified when allocationMode is 'All'");
  } else if (allocationMode === "ExactCount") {
    if (count <= 0) errors.invalid(countPath, count, "must be greater than zero");
  } else errors.covered().notSupported(`${path}.allocationMode`, allocationMode, ["All", "ExactCount"]);
  for (const [index, toleration] of items(tolerations).entries())
    validateToleration(toleration, `${path}.tolerations[${index}]`, errors);
}

function validateConstraint(
  constraint: Part,
  names: RequestNames,
  { hasDistinct }: ClaimRules,
  path: string,
  errors: FieldErrors,
): void {
  const { requests, matchAttribute, distinctAttribute } = constraint;
  validateReferences(requests, names, `${path}.requests`, errors);
  if (matchAttribute !== undefined)
    validateFullName(matchAttribute, `${path}.matchAttribute`, errors.covered(qualifiedNameOrigin));
  else if (distinctAttribute !== undefined) validateFullName(distinctAttribute, `${path}.distinctAttribute`, errors);
  else if (hasDistinct)
    errors.required(
      path,
      'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
    );
  else errors.required(`${path}.matchAttribute`);
}
