/**
 * Validates the policies that end a job early: the pod failure policy and the success policy.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/batch/validation/validation.go
 */
import { type FieldErrors, omitted } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { qualifiedNameProblems } from "../../lib/names/names.ts";
import { checkNonNegative, items, type Part } from "../fields.ts";
import { countIndexes } from "./job-indexes.ts";

const rulesMax = 20;
const exitCodesMax = 255;
const conditionsMax = 20;
const indexesBytesMax = 64 * 1024;

const actions = ["Count", "FailIndex", "FailJob", "Ignore"];
const operators = ["In", "NotIn"];
const statuses = ["False", "True", "Unknown"];

/** The list in the form of Go's `%q`. */
const valid = (values: readonly string[]): string => `valid values: [${values.map((value) => `"${value}"`).join(" ")}]`;

/** @param path of the job's spec */
export function validateFailurePolicy(spec: Part, path: string, errors: FieldErrors): void {
  const rules = items(spec.podFailurePolicy.rules);
  const rulesPath = `${path}.podFailurePolicy.rules`;
  if (rules.length > rulesMax) errors.tooMany(rulesPath, rules.length, rulesMax);
  const { containers, initContainers } = spec.template?.spec ?? {};
  const names = new Set([...items(containers), ...items(initContainers)].map(({ name = "" }) => name));
  for (const [index, rule] of rules.entries())
    validateFailureRule(
      rule,
      { hasIndexLimit: has(spec.backoffLimitPerIndex), names },
      `${rulesPath}[${index}]`,
      errors,
    );
}

const has = (value: unknown): boolean => value !== undefined && value !== null;

interface JobFacts {
  readonly hasIndexLimit: boolean;
  readonly names: ReadonlySet<string>;
}

function validateFailureRule(
  { action = "", onExitCodes, onPodConditions }: Part,
  { hasIndexLimit, names }: JobFacts,
  path: string,
  errors: FieldErrors,
): void {
  if (action === "") errors.required(`${path}.action`, valid(actions));
  else if (!actions.includes(action)) errors.notSupported(`${path}.action`, action, actions);
  else if (action === "FailIndex" && !hasIndexLimit)
    errors.invalid(`${path}.action`, action, "requires the backoffLimitPerIndex to be set");
  const conditions = items(onPodConditions);
  if (onExitCodes) validateExitCodes(onExitCodes, names, `${path}.onExitCodes`, errors);
  if (conditions.length > 0) validateConditions(conditions, `${path}.onPodConditions`, errors);
  if (onExitCodes && conditions.length > 0)
    errors.invalid(path, omitted, "specifying both OnExitCodes and OnPodConditions is not supported");
  if (!onExitCodes && conditions.length === 0)
    errors.invalid(path, omitted, "specifying one of OnExitCodes and OnPodConditions is required");
}

function validateConditions(conditions: readonly Part[], path: string, errors: FieldErrors): void {
  if (conditions.length > conditionsMax) errors.tooMany(path, conditions.length, conditionsMax);
  for (const [index, { type = "", status = "" }] of conditions.entries()) {
    addInvalid(errors, `${path}[${index}].type`, type, qualifiedNameProblems(type));
    validateWord(status, statuses, `${path}[${index}].status`, errors);
  }
}

function validateWord(word: string, known: readonly string[], path: string, errors: FieldErrors): void {
  if (word === "") errors.required(path, valid(known));
  else if (!known.includes(word)) errors.notSupported(path, word, known);
}

function validateExitCodes(
  { operator = "", containerName, values }: Part,
  names: ReadonlySet<string>,
  path: string,
  errors: FieldErrors,
): void {
  validateWord(operator, operators, `${path}.operator`, errors);
  if (has(containerName) && !names.has(containerName)) {
    errors.invalid(
      `${path}.containerName`,
      containerName,
      "must be one of the container or initContainer names in the pod template",
    );
  }
  const codes: readonly number[] = values ?? [];
  if (codes.length === 0) errors.invalid(`${path}.values`, values ?? null, "at least one value is required");
  else if (codes.length > exitCodesMax) errors.tooMany(`${path}.values`, codes.length, exitCodesMax);
  const seen = new Set<number>();
  for (const [index, code] of codes.entries()) {
    if (operator === "In" && code === 0)
      errors.invalid(`${path}.values[${index}]`, code, "must not be 0 for the In operator");
    if (seen.has(code)) errors.duplicate(`${path}.values[${index}]`, code);
    seen.add(code);
  }
  if (codes.some((code, index) => index > 0 && (codes[index - 1] as number) > code))
    errors.invalid(`${path}.values`, codes, "must be ordered");
}

/**
 * Validates the success policy of an Indexed job.
 *
 * @param path of the job's spec
 */
export function validateSuccessPolicy(spec: Part, path: string, errors: FieldErrors): void {
  const rules = items(spec.successPolicy.rules);
  const rulesPath = `${path}.successPolicy.rules`;
  if (rules.length === 0)
    errors.required(rulesPath, "at least one rules must be specified when the successPolicy is specified");
  if (rules.length > rulesMax) errors.tooMany(rulesPath, rules.length, rulesMax);
  for (const [index, rule] of rules.entries())
    validateSuccessRule(rule, spec.completions ?? 0, `${rulesPath}[${index}]`, errors);
}

function validateSuccessRule(
  { succeededCount, succeededIndexes }: Part,
  completions: number,
  path: string,
  errors: FieldErrors,
): void {
  if (!has(succeededCount) && !has(succeededIndexes))
    errors.required(path, "at least one of succeededCount or succeededIndexes must be specified");
  const listed = has(succeededIndexes)
    ? validateIndexes(succeededIndexes, completions, `${path}.succeededIndexes`, errors)
    : undefined;
  if (!has(succeededCount)) return;
  checkNonNegative(succeededCount, `${path}.succeededCount`, errors);
  const tooMany = (most: number, what: string): void =>
    errors.invalid(
      `${path}.succeededCount`,
      succeededCount,
      `must be less than or equal to ${most} (the number of ${what})`,
    );
  if (succeededCount > completions) tooMany(completions, "specified completions");
  if (listed !== undefined && succeededCount > listed)
    tooMany(listed, "indexes in the specified succeededIndexes field");
}

/** @returns the number of indexes; 0 if they cannot be parsed */
function validateIndexes(indexes: string, completions: number, path: string, errors: FieldErrors): number {
  if (Buffer.byteLength(indexes) > indexesBytesMax) errors.tooLong(path, indexesBytesMax);
  const count = countIndexes(indexes, completions);
  if (typeof count === "number") return count;
  errors.invalid(path, indexes, `error parsing succeededIndexes: ${count.problem}`);
  return 0;
}

/** The form of Go's internal type, for messages. */
export function successPolicyInGo(policy: Part | null | undefined): Part | null {
  if (!policy) return null;
  const rules =
    policy.rules &&
    items(policy.rules).map(({ succeededIndexes = null, succeededCount = null }) => ({
      SucceededIndexes: succeededIndexes,
      SucceededCount: succeededCount,
    }));
  return { Rules: rules ?? null };
}

/** The form of Go's internal type, for messages. */
export function failurePolicyInGo(policy: Part | null | undefined): Part | null {
  if (!policy) return null;
  const rules =
    policy.rules &&
    items(policy.rules).map(({ action = "", onExitCodes, onPodConditions }) => ({
      Action: action,
      OnExitCodes: onExitCodes
        ? {
            ContainerName: onExitCodes.containerName ?? null,
            Operator: onExitCodes.operator ?? "",
            Values: onExitCodes.values ?? null,
          }
        : null,
      OnPodConditions: onPodConditions
        ? items(onPodConditions).map(({ type = "", status = "" }) => ({ Type: type, Status: status }))
        : null,
    }));
  return { Rules: rules ?? null };
}
