/**
 * Validates taints of devices, and tolerations of claims.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/resource/validation/validation.go
 */
import { formatTime } from "../../apimachinery/clock.ts";
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { labelValueProblems, qualifiedNameProblems } from "../../lib/names/names.ts";
import type { Part } from "../fields.ts";

const effects = ["NoExecute", "NoSchedule", "None"];
const operators = ["Equal", "Exists"];

/** @param now undefined for an object that is not from a request */
export function setTaintDefaults(taint: Part, now: number | undefined): void {
  if (now !== undefined) taint.timeAdded ??= formatTime(now);
}

/** @param old the stored taint, whose effect is not validated again if it is unchanged */
export function validateTaint(
  { key = "", value = "", effect = "" }: Part,
  old: Part | undefined,
  path: string,
  errors: FieldErrors,
): void {
  addInvalid(errors, `${path}.key`, key, qualifiedNameProblems(key));
  if (value !== "") addInvalid(errors, `${path}.value`, value, labelValueProblems(value));
  if (old !== undefined && (old.effect ?? "") === effect) return;
  if (effect === "") errors.covered().required(`${path}.effect`);
  else if (!effects.includes(effect)) errors.covered().notSupported(`${path}.effect`, effect, effects);
}

export function validateToleration(
  { key = "", operator = "", value = "", effect = "" }: Part,
  path: string,
  errors: FieldErrors,
): void {
  if (key !== "") addInvalid(errors.covered("format=k8s-label-key"), `${path}.key`, key, qualifiedNameProblems(key));
  if (operator === "Exists") {
    if (value !== "") errors.invalid(`${path}.value`, value, "must be empty for operator `Exists`");
  } else if (operator === "Equal") addInvalid(errors, `${path}.value`, value, labelValueProblems(value));
  else if (operator === "") errors.covered().required(`${path}.operator`);
  else errors.covered().notSupported(`${path}.operator`, operator, operators);
  if (effect !== "" && !effects.includes(effect)) errors.covered().notSupported(`${path}.effect`, effect, effects);
}
