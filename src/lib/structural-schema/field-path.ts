/** Where the paths of rules and selectable fields lead in a structural schema. Source: k8s.io/apiextensions-apiserver, ValidFieldPath */
import { FieldPathError, fieldPathSteps } from "./field-path-steps.ts";
import { childPath, keyPath, type StructuralSchema } from "./structural-schema.ts";

export interface FoundField {
  /** As field errors write it: `spec.labels[a.b]`. */
  readonly path: string;
  /** Its first step. */
  readonly root: string;
  /** What stands there; undefined where nothing is said of it. */
  readonly schema: StructuralSchema | undefined;
  readonly error?: undefined;
}

/** @returns where the path leads, or upstream's words for why it leads nowhere */
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
