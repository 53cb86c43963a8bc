/**
 * Validates lists of metav1.Condition. Source:
 * k8s.io/apimachinery@v0.36.0/pkg/apis/meta/v1/validation/validation.go.
 */
import { qualifiedNameProblems } from "../../lib/names/names.ts";
import type { FieldErrors } from "../field-errors.ts";
import { addInvalid } from "./metadata.ts";

const reasonPattern = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";
const wholeReason = new RegExp(`^${reasonPattern}$`);
const reasonText = `a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '${reasonPattern}')`;
const reasonBytesMax = 1024;
const messageBytesMax = 32 * 1024;
const statuses = ["False", "True", "Unknown"];

type Part = Readonly<Record<string, unknown>>;

/** Validates a list of conditions whose fields have the types of the schema. */
export function validateConditions(conditions: readonly Part[], path: string, errors: FieldErrors): void {
  const types = new Set<unknown>();
  for (const [index, condition] of conditions.entries()) {
    const { type = "" } = condition;
    if (types.has(type)) errors.duplicate(`${path}[${index}].type`, type);
    types.add(type);
    validateCondition(condition, `${path}[${index}]`, errors);
  }
}

function validateCondition(condition: Part, path: string, errors: FieldErrors): void {
  const {
    type = "",
    status = "",
    observedGeneration = 0,
    lastTransitionTime,
    reason = "",
    message = "",
  } = condition as Readonly<Record<string, string>>;
  addInvalid(errors, `${path}.type`, type, qualifiedNameProblems(type));
  if (!statuses.includes(status)) errors.notSupported(`${path}.status`, status, statuses);
  if (Number(observedGeneration) < 0)
    errors.invalid(`${path}.observedGeneration`, observedGeneration, "must be greater than or equal to zero");
  if (!lastTransitionTime) errors.required(`${path}.lastTransitionTime`);
  if (reason === "") errors.required(`${path}.reason`);
  else {
    if (!wholeReason.test(reason)) errors.invalid(`${path}.reason`, reason, reasonText);
    if (Buffer.byteLength(reason) > reasonBytesMax) errors.tooLong(`${path}.reason`, reasonBytesMax);
  }
  if (Buffer.byteLength(message) > messageBytesMax) errors.tooLong(`${path}.message`, messageBytesMax);
}
