/**
 * The `fieldPath` of a rule, such as `.spec.ports`. Source:
 * k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/cel/validation.go, ValidFieldPath
 */
import { type JsonSchema, propertiesOf, valuesOf } from "../lib/cel/schema-types/index.ts";
import { FieldPathError, fieldPathSteps } from "../lib/structural-schema/field-path-steps.ts";

interface FieldPath {
  /** The path for field errors, such as `spec.labels[a.b]`. */
  readonly path: string;
  /** The schema of the field. */
  readonly schema: JsonSchema;
}

/**
 * Resolves a path.
 *
 * @param schema the node with the rule
 * @param options `arrayNotation`: whether `['name']` is allowed
 * @returns undefined if the path is invalid or the field does not exist
 */
export function parseFieldPath(
  text: string,
  schema: JsonSchema,
  options: { readonly arrayNotation: boolean } = { arrayNotation: true },
): FieldPath | undefined {
  try {
    let path = "";
    let at = schema;
    for (const name of fieldPathSteps(text, options)) {
      const properties = propertiesOf(at);
      const next = properties === undefined ? valuesOf(at) : properties.get(name);
      if (next === undefined) return undefined;
      path += properties === undefined ? `[${name}]` : path === "" ? name : `.${name}`;
      at = next;
    }
    return { path, schema: at };
  } catch (error) {
    if (error instanceof FieldPathError) return undefined;
    throw error;
  }
}
