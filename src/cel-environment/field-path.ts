/** Where the `fieldPath` of a rule leads in the schema it stands at, such as `.spec.ports`. Source: k8s.io/apiextensions-apiserver, ValidFieldPath */
import { type JsonSchema, propertiesOf, valuesOf } from "../lib/cel/schema-types/index.ts";
import { FieldPathError, fieldPathSteps } from "../lib/structural-schema/field-path-steps.ts";

export interface FieldPath {
  /** As field errors write it, such as `spec.labels[a.b]`. */
  readonly path: string;
  /** What stands there. */
  readonly schema: JsonSchema;
}

/**
 * @param options.arrayNotation whether `['name']` is allowed
 * @returns where the path leads, undefined when it leads nowhere or is none
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
