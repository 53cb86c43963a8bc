/** Rules of definitions, as whoever checks definitions asks for them. */
import type { FieldErrors } from "../apimachinery/field-errors.ts";
import { isEmbeddedResource, type JsonSchema } from "../lib/cel/schema-types/index.ts";
import { ruleSteps } from "./check-rules.ts";
import { compileRules } from "./compile-rules.ts";
import { validateRules } from "./validate-rules.ts";

export const definitionRules = { ruleSteps, checkDefault };

/**
 * Holds a default against the rules at and below its place, as a value that has not changed and as one that is new: `oldSelf` may be optional.
 * @param schema of that place
 * Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema/defaulting/validation.go
 */
function checkDefault(value: unknown, schema: JsonSchema, path: string, errors: FieldErrors): void {
  const rules = compileRules(schema, { isResourceRoot: isEmbeddedResource(schema) });
  if (rules === undefined) return;
  const before = errors.causes.length;
  const options = { object: value, path, errors, keepUnchanged: false, optionalOldSelf: true };
  validateRules(rules, { ...options, oldObject: value });
  if (errors.causes.length === before) validateRules(rules, options);
}
