/** Rules of definitions, as whoever checks definitions asks for them. */
import { FieldErrors } from "../api/field-errors.ts";
import type { JsonSchema } from "../lib/cel/schema-types/index.ts";
import { checkRules } from "./check-rules.ts";
import { compileRules } from "./compile-rules.ts";
import { newExpressions } from "./environments.ts";
import { validateRules } from "./validate-rules.ts";

export const definitionRules = { checkRules, checkDefault };

/**
 * Holds a default against the rules at and below its place, as a value that has not changed and as one that is new: `oldSelf` may be optional.
 * @param schema of that place
 */
function checkDefault(value: unknown, schema: JsonSchema, path: string, errors: FieldErrors): void {
  const rules = compileRules(schema, { environment: newExpressions() });
  if (rules === undefined) return;
  const found = new FieldErrors();
  const options = { object: value, errors: found, warn: () => {}, ratcheting: true };
  validateRules(rules, { ...options, oldObject: value });
  if (found.empty) validateRules(rules, options);
  for (const cause of found.causes) errors.causes.push({ ...cause, field: below(path, cause.field ?? "") });
}

function below(path: string, field: string): string {
  if (field === "" || field === "<nil>") return path;
  return field.startsWith("[") ? `${path}${field}` : `${path}.${field}`;
}
