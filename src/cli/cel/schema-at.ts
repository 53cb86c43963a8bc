/** Finds the schema of `--schema crd.yaml#/path`. */
import type { JsonSchema } from "../../lib/cel/schema-types/index.ts";
import { isObject } from "../../lib/json/values.ts";
import { InputError, type PlainObject, readDocuments } from "./documents.ts";

interface FoundSchema {
  readonly schema: JsonSchema;
  /**
   * Whether it describes a whole resource, whose `apiVersion`, `kind` and `metadata` are declared
   * implicitly.
   */
  readonly isResourceRoot: boolean;
}

/**
 * Reads a schema from a file.
 *
 * @param reference a file and a path. The path is a JSON pointer within the document or, if no
 *   schema is found there, names properties (and `items`, `additionalProperties`) from the root of
 *   the schema, which for a CustomResourceDefinition is the schema of its storage version.
 * @throws InputError
 */
export function schemaAt(reference: string): FoundSchema {
  const [file, fragment = ""] = split(reference);
  const documents = readDocuments(file).filter(isObject);
  const document = documents.find((one) => one.kind === "CustomResourceDefinition") ?? documents[0];
  if (document === undefined) throw new InputError(`${file} has no schema`);
  const steps = fragment
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const root = document.kind === "CustomResourceDefinition" ? storedSchema(document, file) : document;
  const isDefinition = root !== document;
  const found =
    (isDefinition ? atPointer(document, steps) : undefined) ?? propertyAt(root, steps) ?? atPointer(root, steps);
  if (found === undefined) throw new InputError(`${reference}: there is no schema at this path`);
  return {
    schema: found as JsonSchema,
    isResourceRoot: isDefinition && (found === root || steps.at(-1) === "openAPIV3Schema"),
  };
}

function split(reference: string): [file: string, fragment: string | undefined] {
  const at = reference.indexOf("#");
  return at === -1 ? [reference, undefined] : [reference.slice(0, at), reference.slice(at + 1)];
}

function storedSchema(definition: PlainObject, file: string): PlainObject {
  const versions =
    isObject(definition.spec) && Array.isArray(definition.spec.versions)
      ? definition.spec.versions.filter(isObject)
      : [];
  const version = versions.find((one) => one.storage === true) ?? versions[0];
  const schema = isObject(version?.schema) ? version.schema.openAPIV3Schema : undefined;
  if (!isObject(schema)) throw new InputError(`${file}: the definition has no schema`);
  return schema;
}

function atPointer(from: PlainObject, steps: readonly string[]): PlainObject | undefined {
  let value: unknown = from;
  for (const step of steps)
    value =
      (isObject(value) || Array.isArray(value)) && Object.hasOwn(value, step)
        ? (value as PlainObject)[step]
        : undefined;
  return isObject(value) && hasSchemaKeyword(value) ? value : undefined;
}

function hasSchemaKeyword(value: PlainObject): boolean {
  return ["type", "properties", "items", "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"].some(
    (key) => Object.hasOwn(value, key),
  );
}

function propertyAt(root: PlainObject, steps: readonly string[]): PlainObject | undefined {
  let schema: unknown = root;
  for (const step of steps) {
    if (!isObject(schema)) return undefined;
    const { properties } = schema;
    if (isObject(properties) && Object.hasOwn(properties, step)) schema = properties[step];
    else schema = step === "items" || step === "additionalProperties" ? schema[step] : undefined;
  }
  return isObject(schema) ? schema : undefined;
}
