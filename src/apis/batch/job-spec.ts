/**
 * Validates the spec of a Job, and of a CronJob's template.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/batch/validation/validation.go
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import type { PodOptions } from "../core/pod/options.ts";
import { templateWarnings } from "../core/pod/warnings.ts";
import { validateTemplate } from "../core/pod/workload-template.ts";
import type { Part } from "../fields.ts";
import { checkCounts } from "../workload.ts";
import { successPolicyInGo, validateFailurePolicy, validateSuccessPolicy } from "./job-policies.ts";

const parallelismMax = 100_000;
const failedIndexesMax = 100_000;
/**
 * Above this number of completions, a job with a backoff limit per index has lower limits of its
 * parallelism and its failed indexes.
 */
const manyCompletions = 100_000;
const parallelismOfManyMax = 10_000;
const failedIndexesOfManyMax = 10_000;
const managerBytesMax = 63;

const counts = [
  "parallelism",
  "completions",
  "activeDeadlineSeconds",
  "backoffLimit",
  "ttlSecondsAfterFinished",
  "backoffLimitPerIndex",
  "maxFailedIndexes",
];

const has = (value: unknown): boolean => value !== undefined && value !== null;

/**
 * Validates all fields except the selector.
 *
 * @param path of the spec
 */
export function validateJobSpec(spec: Part, path: string, options: PodOptions, errors: FieldErrors): void {
  checkCounts(spec, path, counts, errors);
  if (has(spec.maxFailedIndexes) && !has(spec.backoffLimitPerIndex))
    errors.required(`${path}.backoffLimitPerIndex`, "when maxFailedIndexes is specified");
  if (has(spec.managedBy)) validateManager(spec.managedBy, `${path}.managedBy`, errors);
  validateCompletionMode(spec, path, errors);
  if (spec.podFailurePolicy) validateFailurePolicy(spec, path, errors);
  if (spec.successPolicy) {
    if (spec.completionMode === "Indexed") validateSuccessPolicy(spec, path, errors);
    else
      errors.invalid(
        `${path}.successPolicy`,
        successPolicyInGo(spec.successPolicy),
        "requires indexed completion mode",
      );
  }
  validateReplacementPolicy(spec, `${path}.podReplacementPolicy`, errors);
  validateTemplate(spec.template ?? {}, `${path}.template`, errors, options);
  validateRestartPolicy(spec, `${path}.template.spec.restartPolicy`, errors);
}

const pathPattern = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const wholePath = new RegExp(`^${pathPattern}$`);

function validateManager(name: string, path: string, errors: FieldErrors): void {
  const slash = name.indexOf("/");
  if (name === "") errors.required(path);
  else if (slash < 1 || slash === name.length - 1)
    errors.invalid(path, name, 'must be a domain-prefixed path (such as "acme.io/foo")');
  else {
    const [host, rest] = [name.slice(0, slash), name.slice(slash + 1)];
    addInvalid(errors, path, host, dnsSubdomainProblems(host));
    if (!wholePath.test(rest))
      errors.invalid(path, rest, `Invalid path (regex used for validation is '${pathPattern}')`);
  }
  if (Buffer.byteLength(name) > managerBytesMax) errors.tooLong(path, managerBytesMax);
}

function validateCompletionMode(spec: Part, path: string, errors: FieldErrors): void {
  const { completionMode = "NonIndexed" } = spec; // CronJobs do not set this default in their template.
  if (completionMode === "Indexed") return validateIndexed(spec, path, errors);
  if (completionMode !== "NonIndexed")
    return errors.notSupported(`${path}.completionMode`, completionMode, ["NonIndexed", "Indexed"]);
  for (const field of ["backoffLimitPerIndex", "maxFailedIndexes"]) {
    if (has(spec[field])) errors.invalid(`${path}.${field}`, spec[field], "requires indexed completion mode");
  }
}

function validateIndexed(
  { completions, parallelism = 0, maxFailedIndexes, backoffLimitPerIndex }: Part,
  path: string,
  errors: FieldErrors,
): void {
  if (!has(completions)) errors.required(`${path}.completions`, "when completion mode is Indexed");
  const atMost = (field: string, value: number, most: number, when: string): void => {
    if (value > most) errors.invalid(`${path}.${field}`, value, `must be less than or equal to ${most}${when}`);
  };
  atMost("parallelism", parallelism, parallelismMax, " when completion mode is Indexed");
  if (has(completions) && maxFailedIndexes > completions) {
    errors.invalid(`${path}.maxFailedIndexes`, maxFailedIndexes, "must be less than or equal to completions");
  }
  atMost("maxFailedIndexes", maxFailedIndexes, failedIndexesMax, "");
  if (!(completions > manyCompletions) || !has(backoffLimitPerIndex)) return;
  if (!has(maxFailedIndexes))
    errors.required(`${path}.maxFailedIndexes`, `must be specified when completions is above ${manyCompletions}`);
  const when = ` when completions are above ${manyCompletions} and used with backoff limit per index`;
  atMost("parallelism", parallelism, parallelismOfManyMax, when);
  atMost("maxFailedIndexes", maxFailedIndexes, failedIndexesOfManyMax, when);
}

function validateReplacementPolicy(
  { podReplacementPolicy: policy, podFailurePolicy }: Part,
  path: string,
  errors: FieldErrors,
): void {
  const known = podFailurePolicy ? ["Failed"] : ["Failed", "TerminatingOrFailed"];
  if (has(policy) && !known.includes(policy)) errors.notSupported(path, policy, known);
}

function validateRestartPolicy({ template, podFailurePolicy }: Part, path: string, errors: FieldErrors): void {
  const policy = template?.spec?.restartPolicy ?? "";
  if (policy === "Always" || policy === "") errors.required(path, 'valid values: "OnFailure", "Never"');
  else if (policy !== "OnFailure" && policy !== "Never") errors.notSupported(path, policy, ["OnFailure", "Never"]);
  else if (podFailurePolicy && policy !== "Never")
    errors.invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified');
}

const manyIndexesText =
  "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail";

/** @param path of the spec */
export function jobSpecWarnings(
  { completionMode, completions = 0, parallelism = 0, template }: Part,
  path: string,
): string[] {
  const isMany = completionMode === "Indexed" && completions > manyCompletions && parallelism > parallelismOfManyMax;
  return [...(isMany ? [`${path}: ${manyIndexesText}`] : []), ...templateWarnings(template, `${path}.template`)];
}
