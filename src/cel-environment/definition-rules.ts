/** Checks of rules in CustomResourceDefinitions. */
import type { FieldErrors } from "../apimachinery/field-errors.ts";
import { isEmbeddedResource, type JsonSchema } from "../lib/cel/schema-types/index.ts";
import { ruleSteps } from "./check-rules.ts";
import { compileRules } from "./compile-rules.ts";
import { validateRules } from "./validate-rules.ts";

interface DefinitionRules {
  readonly ruleSteps: typeof ruleSteps;
  readonly checkDefault: typeof checkDefault;
}

/**
 * The checks that the validation of CustomResourceDefinitions calls.
 *
 * @param minCompatible the oldest release that can compile new expressions
 */
export function definitionRules(minCompatible: number): DefinitionRules {
  return {
    ruleSteps: (schema, path, errors, options) => ruleSteps(schema, path, errors, { ...options, minCompatible }),
    checkDefault,
  };
}

/**
 * Checks a default against the rules at and below its schema node, first as an unchanged value,
 * then as a new one. Source:
 * k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/defaulting/validation.go
 *
 * @param schema of the node with the default
 */
function checkDefault(value: unknown, schema: JsonSchema, path: string, errors: FieldErrors): void {
  const rules = compileRules(schema, { isResourceRoot: isEmbeddedResource(schema) });
  if (rules === undefined) return;
  const before = errors.causes.length;
  const options = { object: value, path, errors, keepUnchanged: false, optionalOldSelf: true };
  validateRules(rules, { ...options, oldObject: value });
  if (errors.causes.length === before) validateRules(rules, options);
}
