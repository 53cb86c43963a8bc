/** Rules of custom resources. */
import type { FieldErrors } from "../apimachinery/field-errors.ts";
import type { JsonSchema } from "../lib/cel/schema-types/index.ts";
import { compileRules } from "./compile-rules.ts";
import { validateRules } from "./validate-rules.ts";

/** The rules that the validation of custom resources runs. */
export const objectRules = { compile };

/** @returns a function that checks an object; undefined if the schema has no rules */
function compile(
  schema: JsonSchema,
): ((object: unknown, old: unknown, errors: FieldErrors, warn: (text: string) => void) => void) | undefined {
  const rules = compileRules(schema);
  if (rules === undefined) return undefined;
  return (object, old, errors, warn) => {
    validateRules(rules, {
      object,
      ...(old !== undefined && { oldObject: old }),
      errors,
      warn,
      keepUnchanged: true,
      optionalOldSelf: true,
    });
  };
}
