/**
 * Checks the fields of rules, except their expressions: messages, reasons and paths. Source:
 * k8s.io/apiextensions-apiserver@v0.36.0/pkg/apis/apiextensions/validation/validation.go
 */
import type { FieldErrors } from "../apimachinery/field-errors.ts";
import type { JsonSchema, ValidationRule } from "../lib/cel/schema-types/index.ts";
import { rulesOf } from "./compile-rules.ts";
import { parseFieldPath } from "./field-path.ts";

const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

function hasNewlines(text: string): boolean {
  return /[\n\r]/.test(text);
}

/**
 * Checks the rules of one node and adds field errors. Call it for every node, also within `not`,
 * `allOf`, `oneOf` and `anyOf`.
 *
 * @param path of the node
 */
export function checkRuleFields(schema: JsonSchema, path: string, errors: FieldErrors): void {
  for (const [index, rule] of rulesOf(schema).entries())
    checkOne(rule, schema, `${path}.x-kubernetes-validations[${index}]`, errors);
}

function checkOne(rule: ValidationRule, schema: JsonSchema, at: string, errors: FieldErrors): void {
  const { message = "", messageExpression = "", fieldPath = "", reason } = rule;
  const [text, messageText] = [rule.rule.trim(), message.trim()];
  if (text === "") errors.required(`${at}.rule`, "rule is not specified");
  else if (message !== "" && messageText === "")
    errors.invalid(`${at}.message`, message, "must be non-empty if specified");
  else if (hasNewlines(messageText)) errors.invalid(`${at}.message`, message, "must not contain line breaks");
  else if (hasNewlines(text) && messageText === "")
    errors.required(`${at}.message`, "message must be specified if rule contains line breaks");
  if (messageExpression !== "" && messageExpression.trim() === "") {
    errors.required(`${at}.messageExpression`, "messageExpression must be non-empty if specified");
  }
  if (reason !== undefined && !reasons.includes(reason)) errors.notSupported(`${at}.reason`, reason, reasons);
  if (fieldPath === "") return;
  if (fieldPath.trim() === "") errors.invalid(`${at}.fieldPath`, fieldPath, "must be non-empty if specified");
  if (hasNewlines(fieldPath)) errors.invalid(`${at}.fieldPath`, fieldPath, "must not contain line breaks");
  if (parseFieldPath(fieldPath, schema) === undefined)
    errors.invalid(`${at}.fieldPath`, fieldPath, "must be a valid path");
}
