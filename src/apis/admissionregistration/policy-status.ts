/**
 * Validates a policy's status, which holds the warnings of the type checker.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/admissionregistration/validation/validation.go
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateConditions } from "../../apimachinery/validation/conditions.ts";
import { JsonPathSyntaxError, parseTemplate } from "../../lib/jsonpath/index.ts";
import { items } from "../fields.ts";

export function validatePolicyStatus({ status = {} }: KubeObject, errors: FieldErrors): void {
  for (const [index, { warning = "", fieldRef = "" }] of items(status.typeChecking?.expressionWarnings).entries()) {
    const path = `status.typeChecking.expressionWarnings[${index}]`;
    if (warning === "") errors.required(`${path}.warning`);
    const reference = fieldRef.trim();
    const problem = reference === "" ? undefined : pathProblem(reference);
    if (reference === "") errors.required(`${path}.fieldRef`);
    else if (problem !== undefined) errors.invalid(`${path}.fieldRef`, reference, `invalid JSONPath: ${problem}`);
  }
  validateConditions(items(status.conditions), "status.conditions", errors);
}

function pathProblem(text: string): string | undefined {
  try {
    parseTemplate(`{${text}}`);
    return undefined;
  } catch (error) {
    if (error instanceof JsonPathSyntaxError) return error.message;
    throw error;
  }
}
