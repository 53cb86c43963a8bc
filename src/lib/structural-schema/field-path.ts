/**
 * Resolves field paths of rules and selectable fields in a structural schema.
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/cel/validation.go,
 * ValidFieldPath
 */
import { FieldPathError, fieldPathSteps } from "./field-path-steps.ts";
import { childPath, keyPath, type StructuralSchema } from "./structural-schema.ts";

interface FoundField {
  /** The path in the form of field errors: `spec.labels[a.b]`. */
  readonly path: string;
  /** The first step of the path. */
  readonly root: string;
  /** The schema of the field; undefined when it is not described. */
  readonly schema: StructuralSchema | undefined;
  readonly error?: undefined;
}

/**
 * Finds the field that a path refers to.
 * @returns the field, or upstream's message when there is none
 */
export function findField(
  text: string,
  schema: StructuralSchema,
  options: { readonly arrayNotation: boolean },
): FoundField | { readonly error: string } {
  try {
    let found: FoundField = { path: "", root: "", schema };
    for (const name of fieldPathSteps(text, options)) found = step(found, name);
    return found;
  } catch (error) {
    if (error instanceof FieldPathError) return { error: error.message };
    throw error;
  }
}

function step({ path, root, schema }: FoundField, name: string): FoundField {
  const values = schema?.additionalProperties;
  const isNamed = schema !== undefined && schema.properties.size > 0;
  const property = schema?.properties.get(name);
  if (schema === undefined || (isNamed ? property === undefined : values === undefined)) {
    throw new FieldPathError("does not refer to a valid field");
  }
  const at = isNamed ? childPath(path, name) : keyPath(path, name);
  return {
    path: at,
    root: path === "" ? name : root,
    schema: isNamed ? property : typeof values === "object" ? values : undefined,
  };
}
