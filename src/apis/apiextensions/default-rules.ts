/**
 * Validates the defaults in a schema.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/defaulting/validation.go
 */
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import { cloneJson, identical } from "../../lib/json/values.ts";
import { coerceMetadata } from "../../lib/structural-schema/coerce-metadata.ts";
import type { JsonObject } from "../../lib/structural-schema/json-object.ts";
import { prune } from "../../lib/structural-schema/prune.ts";
import { asResourceRoot, metaFields, type StructuralSchema } from "../../lib/structural-schema/structural-schema.ts";
import { valueValidator } from "../../lib/structural-schema/validate/value-validator.ts";
import { problemText, validateEmbedded } from "./embedded-rules.ts";
import { objectMetaSchema } from "./prune-defaults.ts";
import type { RuleChecker } from "./rule-checker.ts";
import { type Steps, surround } from "./surrounding.ts";

interface DefaultRules {
  readonly requirePruned: boolean;
  readonly ruleChecker: RuleChecker | undefined;
}

interface Place {
  readonly path: string;
  /** The schema of the nearest enclosing resource; `steps` lead from it to this place. */
  readonly root: StructuralSchema;
  readonly steps: Steps;
  readonly insideMeta: boolean;
}

/** @param schema a structural schema of a resource */
export function checkDefaults(schema: StructuralSchema, path: string, rules: DefaultRules, errors: FieldErrors): void {
  const root = asResourceRoot(schema);
  checkAt(root, { path, root, steps: [], insideMeta: false }, rules, errors);
}

function checkAt(schema: StructuralSchema, outer: Place, rules: DefaultRules, errors: FieldErrors): void {
  const place: Place = schema.embeddedResource
    ? { path: outer.path, root: schema, steps: [], insideMeta: false }
    : outer;
  if (schema.default !== undefined) checkDefault(schema, place, rules, errors);
  const { path, steps, root } = place;
  // As upstream, does not validate defaults within additionalProperties.
  if (schema.items !== undefined)
    checkAt(schema.items, { ...place, path: `${path}.items`, steps: [...steps, undefined] }, rules, errors);
  for (const [name, property] of schema.properties) {
    const insideMeta = place.insideMeta || (schema.embeddedResource && metaFields.has(name));
    checkAt(
      property,
      { path: `${path}.properties[${name}]`, root, steps: [...steps, name], insideMeta },
      rules,
      errors,
    );
  }
}

function checkDefault(
  schema: StructuralSchema,
  place: Place,
  { requirePruned, ruleChecker }: DefaultRules,
  errors: FieldErrors,
): void {
  const path = `${place.path}.default`;
  const value = cloneJson(schema.default);
  if (!place.insideMeta && requirePruned && losesFields(value, schema))
    errors.invalid(path, schema.default, "must not have unknown fields");
  if (place.insideMeta ? !checkMetadata(value, place, path, errors) : !checkEmbedded(value, schema, path, errors))
    return;
  const found = new FieldErrors();
  valueValidator(schema.source, "default").validate(value, path, found);
  if (found.empty) ruleChecker?.checkDefault(value, schema.source, path, found);
  errors.causes.push(...found.causes);
}

function losesFields(value: unknown, schema: StructuralSchema): boolean {
  const pruned = cloneJson(value);
  prune(pruned, schema);
  return !identical(pruned, value);
}

/**
 * @param value whose embedded metadata is coerced in place
 * @returns whether it is valid
 */
function checkEmbedded(value: unknown, schema: StructuralSchema, path: string, errors: FieldErrors): boolean {
  const problem = coerceMetadata(value, schema, path, { objectMeta: objectMetaSchema(), invalid: "reject" });
  if (problem !== undefined) {
    errors.invalid(problem.path, problem.value, problem.detail);
    return false;
  }
  const found = new FieldErrors();
  validateEmbedded(value, schema, path, found);
  errors.causes.push(...found.causes);
  return found.empty;
}

/** Validates a part of the metadata within a minimal resource. */
function checkMetadata(value: unknown, { root, steps }: Place, path: string, errors: FieldErrors): boolean {
  const object: JsonObject = {
    kind: "Validation",
    apiVersion: "validation/v1",
    ...(surround(cloneJson(value), steps) as JsonObject),
  };
  const invalid = (why: string): boolean => {
    errors.invalid(path, value, `must result in valid metadata: ${why}`);
    return false;
  };
  const problem = coerceMetadata(object, root, "", { objectMeta: objectMetaSchema(), invalid: "reject" });
  if (problem !== undefined) return invalid(problemText(problem));
  const found = new FieldErrors();
  validateEmbedded(object, root, "", found);
  return found.empty || invalid(found.text);
}
