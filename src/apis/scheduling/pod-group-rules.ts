/**
 * Rules that PodGroups and their templates share. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/scheduling/v1alpha2/zz_generated.validations.go`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import type { DeclarativeValidation } from "../../catalog/strategy-contract.ts";
import {
  longNameProblems,
  pathSegmentNameProblems,
  qualifiedNameProblems,
  shortNameProblems,
} from "../../lib/names/names.ts";
import { items, type Part } from "../fields.ts";

/** Upstream validates these kinds by declarative rules only. */
export const enforcedRules: DeclarativeValidation = {
  enforced: true,
  hasOption: (name, gates) => options.includes(name) && gates.enabled(name),
};

const options = ["DRAWorkloadResourceClaims", "TopologyAwareWorkloadScheduling", "WorkloadAwarePreemption"];

const claimsMax = 4;
const topologiesMax = 1;
const priorityMax = 1_000_000_000;

/**
 * Validates a group. Fields of disabled gates have been dropped, or are unchanged.
 * @param group the spec of a group, or a template
 */
export function validateGroup(group: Part, path: string, errors: FieldErrors): void {
  const {
    schedulingPolicy = {},
    schedulingConstraints,
    resourceClaims,
    disruptionMode,
    priorityClassName = "",
    priority,
  } = group;
  validatePolicy(schedulingPolicy, `${path}.schedulingPolicy`, errors);
  validateTopology(items(schedulingConstraints?.topology), `${path}.schedulingConstraints.topology`, errors);
  validateClaims(items(resourceClaims), `${path}.resourceClaims`, errors);
  const modes = ["Pod", "PodGroup"];
  if (disruptionMode !== undefined && !modes.includes(disruptionMode))
    errors.covered().notSupported(`${path}.disruptionMode`, disruptionMode, modes);
  if (priorityClassName !== "")
    addInvalid(
      errors.covered("format=k8s-long-name"),
      `${path}.priorityClassName`,
      priorityClassName,
      longNameProblems(priorityClassName),
    );
  if (priority > priorityMax)
    errors.covered("maximum").invalid(`${path}.priority`, priority, `must be less than or equal to ${priorityMax}`);
}

function validatePolicy(policy: Part, path: string, errors: FieldErrors): void {
  validateUnion(policy, ["basic", "gang"], path, errors);
  if (policy.gang === undefined) return;
  const { minCount = 0 } = policy.gang;
  if (minCount === 0) errors.covered().required(`${path}.gang.minCount`);
  else if (minCount < 1)
    errors.covered("minimum").invalid(`${path}.gang.minCount`, minCount, "must be greater than or equal to 1");
}

/** Requires exactly one of the fields. */
export function validateUnion(value: Part, fields: readonly string[], path: string, errors: FieldErrors): void {
  const present = fields.filter((field) => value[field] !== undefined);
  const list = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");
  if (present.length === 0) errors.covered("union").invalid(path, "", `must specify one of: ${list(fields)}`);
  if (present.length > 1)
    errors.covered("union").invalid(path, `{${present.join(", ")}}`, `must specify exactly one of: ${list(fields)}`);
}

function validateTopology(constraints: readonly Part[], path: string, errors: FieldErrors): void {
  if (constraints.length > topologiesMax)
    return errors.covered("maxItems").tooMany(path, constraints.length, topologiesMax);
  for (const [index, { key = "" }] of constraints.entries())
    validateText(key, `${path}[${index}].key`, labelKey, errors);
}

/** A format of names, by its name in declarative rules. */
interface NameFormat {
  readonly origin: string;
  problemsOf(text: string): string[];
}

const labelKey: NameFormat = { origin: "format=k8s-label-key", problemsOf: qualifiedNameProblems };
export const longName: NameFormat = { origin: "format=k8s-long-name", problemsOf: longNameProblems };
export const shortName: NameFormat = { origin: "format=k8s-short-name", problemsOf: shortNameProblems };
export const segmentName: NameFormat = {
  origin: "format=k8s-path-segment-name",
  problemsOf: (text) => pathSegmentNameProblems(text),
};

/** Requires a string of the format. */
export function validateText(
  text: string,
  path: string,
  { origin, problemsOf }: NameFormat,
  errors: FieldErrors,
): void {
  if (text === "") errors.covered().required(path);
  else addInvalid(errors.covered(origin), path, text, problemsOf(text));
}

export function validateClaimCount({ length }: readonly Part[], path: string, errors: FieldErrors): boolean {
  if (length > claimsMax) errors.covered("maxItems").tooMany(path, length, claimsMax);
  return length <= claimsMax;
}

function validateClaims(claims: readonly Part[], path: string, errors: FieldErrors): void {
  if (!validateClaimCount(claims, path, errors)) return;
  validateDistinct(claims, path, shownClaim, errors);
  for (const [index, claim] of claims.entries()) {
    const { name = "", resourceClaimName, resourceClaimTemplateName } = claim;
    const at = `${path}[${index}]`;
    validateUnion(claim, ["resourceClaimName", "resourceClaimTemplateName"], at, errors);
    validateText(name, `${at}.name`, shortName, errors);
    validateName(resourceClaimName, `${at}.resourceClaimName`, errors);
    validateName(resourceClaimTemplateName, `${at}.resourceClaimTemplateName`, errors);
  }
}

/** Validates the names of claims in a status. */
export function validateClaimStatuses(statuses: readonly Part[], path: string, errors: FieldErrors): void {
  if (!validateClaimCount(statuses, path, errors)) return;
  validateDistinct(statuses, path, ({ name = "", resourceClaimName }) => ({ name, resourceClaimName }), errors);
  for (const [index, { resourceClaimName }] of statuses.entries())
    validateName(resourceClaimName, `${path}[${index}].resourceClaimName`, errors);
}

function validateName(name: string | undefined, path: string, errors: FieldErrors): void {
  if (name !== undefined) addInvalid(errors.covered(longName.origin), path, name, longNameProblems(name));
}

/** Reports equal names. @param shown the item in upstream's error message */
export function validateDistinct(
  list: readonly Part[],
  path: string,
  shown: (item: Part) => Part,
  errors: FieldErrors,
): void {
  const names = new Set<string>();
  for (const [index, item] of list.entries()) {
    if (names.has(item.name ?? "")) errors.covered().duplicate(`${path}[${index}]`, shown(item));
    names.add(item.name ?? "");
  }
}

const shownClaim = ({ name = "", resourceClaimName, resourceClaimTemplateName }: Part): Part => ({
  name,
  resourceClaimName,
  resourceClaimTemplateName,
});

export function shownTemplate(template: Part): Part {
  const {
    name = "",
    schedulingPolicy = {},
    schedulingConstraints = null,
    disruptionMode,
    priorityClassName,
    priority,
  } = template;
  const { basic, gang } = schedulingPolicy;
  const policy = { basic, gang: gang && { minCount: gang.minCount ?? 0 } };
  const constraints = schedulingConstraints && {
    topology: orAbsent(items(schedulingConstraints.topology).map(({ key = "" }) => ({ key }))),
  };
  const claims = orAbsent(items(template.resourceClaims).map(shownClaim));
  const rest = { disruptionMode, priorityClassName: priorityClassName || undefined, priority };
  return { name, schedulingPolicy: policy, schedulingConstraints: constraints, resourceClaims: claims, ...rest };
}

/** Treats empty lists and strings as absent. */
export const orAbsent = (value: unknown): unknown =>
  value === "" || (Array.isArray(value) && value.length === 0) ? undefined : value;
