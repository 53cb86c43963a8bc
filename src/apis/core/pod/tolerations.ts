/**
 * Validation of tolerations.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import { type FieldErrors, typedText } from "../../../apimachinery/field-errors.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { labelValueProblems, qualifiedNameProblems } from "../../../lib/names/names.ts";
import { items, type Part } from "../../fields.ts";

/** Effects of taints and tolerations. */
export const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export interface TolerationRules {
  readonly comparingTolerations: boolean;
}

/** @param path of the list */
export function validateTolerations(
  tolerations: readonly Part[],
  path: string,
  rules: TolerationRules,
  errors: FieldErrors,
): void {
  for (const [index, toleration] of tolerations.entries())
    validateToleration(toleration, `${path}[${index}]`, rules, errors);
}

function validateToleration(toleration: Part, path: string, rules: TolerationRules, errors: FieldErrors): void {
  const { key = "", operator = "", effect = "", tolerationSeconds } = toleration;
  if (key !== "") addInvalid(errors, `${path}.key`, key, qualifiedNameProblems(key));
  else if (operator !== "Exists") {
    errors.invalid(
      `${path}.operator`,
      typedText(operator),
      'operator must be Exists when `key` is empty, which means "match all values and all keys"',
    );
  }
  if (tolerationSeconds !== undefined && effect !== "NoExecute") {
    errors.invalid(`${path}.effect`, typedText(effect), "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  validateOperator(toleration, path, rules, errors);
  if (effect !== "" && !taintEffects.includes(effect)) errors.notSupported(`${path}.effect`, effect, taintEffects);
}

function validateOperator(
  { operator = "", value = "" }: Part,
  path: string,
  { comparingTolerations }: TolerationRules,
  errors: FieldErrors,
): void {
  const at = `${path}.operator`;
  if (operator === "Equal" || operator === "") {
    const problems = labelValueProblems(value);
    if (problems.length > 0) errors.invalid(at, value, problems.join(";"));
  } else if (operator === "Exists") {
    if (value !== "") errors.invalid(at, value, "value must be empty when `operator` is 'Exists'");
  } else if (operator !== "Lt" && operator !== "Gt") errors.notSupported(at, operator, ["Equal", "Exists"]);
  else if (!comparingTolerations) errors.notSupported(at, operator, ["Equal", "Exists", "Lt", "Gt"]);
  else validateNumber(value, `${path}.value`, errors);
}

const int64Max = 2n ** 63n - 1n;

function validateNumber(value: string, path: string, errors: FieldErrors): void {
  if (value === "") errors.invalid(path, value, "must be non-empty");
  else if (!/^(0|-?[1-9][0-9]*)$/.test(value))
    errors.invalid(path, value, "must be a valid decimal integer in canonical form");
  if (!/^[+-]?[0-9]+$/.test(value))
    errors.invalid(path, value, `strconv.ParseInt: parsing ${quoteGo(value)}: invalid syntax`);
  else if (!isInt64(value))
    errors.invalid(path, value, `strconv.ParseInt: parsing ${quoteGo(value)}: value out of range`);
}

function isInt64(digits: string): boolean {
  const plain = digits.replace(/^\+?0*(?=[0-9])/, "");
  if (plain.length > 20) return false;
  const number = BigInt(plain);
  return number <= int64Max && number >= -int64Max - 1n;
}

/** An update can add tolerations and change `tolerationSeconds`. */
export function validateAddedTolerations(
  next: unknown,
  old: unknown,
  path: string,
  rules: TolerationRules,
  errors: FieldErrors,
): void {
  const candidates = new Set(items(next).map(keyOf));
  if (!items(old).every((toleration) => candidates.has(keyOf(toleration)))) {
    return errors.forbidden(path, "existing toleration can not be modified except its tolerationSeconds");
  }
  validateTolerations(items(next), path, rules, errors);
}

/** Identity of a toleration: all fields except the seconds. */
const keyOf = ({ key = "", operator = "", value = "", effect = "" }: Part): string =>
  JSON.stringify([key, operator, value, effect]);
