/**
 * Validates that a schema is structural.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/validation.go,
 *         k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/complete.go
 */
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import {
  itemSchema,
  type JsonSchemaProps,
  type SchemaMap,
  sortedSchemas,
} from "../../lib/structural-schema/json-schema-props.ts";
import { patternError } from "../../lib/structural-schema/validate/value-schema.ts";
import { isFieldSet, schemaFields } from "./go-form.ts";

type Place = "root" | "item" | "field";

/**
 * Adds errors sorted by their texts.
 *
 * @param schema that `parseStructuralSchema` accepts
 */
export function checkStructural(schema: JsonSchemaProps, path: string, errors: FieldErrors): void {
  const found = new FieldErrors();
  checkNode(schema, "root", path, found);
  checkComplete(schema, schema, path, path, found);
  const textOf = ({ field, message }: { field?: string; message?: string }): string => `${field}: ${message}`;
  found.causes.sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
  errors.causes.push(...found.causes);
}

/** Whether {@link checkStructural} finds no errors. */
export function isStructural(schema: JsonSchemaProps): boolean {
  const errors = new FieldErrors();
  checkStructural(schema, "", errors);
  return errors.empty;
}

const child = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);
const property = (path: string, name: string): string => `${child(path, "properties")}[${name}]`;
const own = (schemas: SchemaMap | undefined, name: string): JsonSchemaProps | undefined =>
  schemas !== undefined && Object.hasOwn(schemas, name) ? schemas[name] : undefined;

function checkNode(schema: JsonSchemaProps, place: Place, path: string, errors: FieldErrors): void {
  const items = itemSchema(schema);
  const type = schema.type ?? "";
  const additional = schema.additionalProperties;
  if (type === "array" && items === undefined) errors.required(child(path, "items"), "must be specified");
  if (items !== undefined) checkNode(items, "item", child(path, "items"), errors);
  for (const [name, within] of sortedSchemas(schema.properties))
    checkNode(within, "field", property(path, name), errors);
  if (additional !== undefined && place === "root")
    errors.forbidden(child(path, "additionalProperties"), "must not be used at the root");
  if (typeof additional === "object") checkNode(additional, "field", child(path, "additionalProperties"), errors);
  checkIntOrString(schema, path, errors);
  checkJunctors(schema, path, errors, intOrStringPatterns(schema));
  checkType(schema, place, path, errors);
  checkMetaFields(schema, place, path, errors);
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  const hasProperties = Object.keys(schema.properties ?? {}).length > 0;
  if (isEmbedded && schema["x-kubernetes-preserve-unknown-fields"] !== true && !hasProperties) {
    const why =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    errors.required(child(path, "properties"), why);
  }
}

function checkIntOrString(schema: JsonSchemaProps, path: string, errors: FieldErrors): void {
  if (schema["x-kubernetes-int-or-string"] !== true) return;
  for (const key of ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const) {
    if (schema[key] === true)
      errors.invalid(child(path, key), true, "must be false if x-kubernetes-int-or-string is true");
  }
}

const typeMissing: Readonly<Record<Place, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

function checkType(schema: JsonSchemaProps, place: Place, path: string, errors: FieldErrors): void {
  const type = schema.type ?? "";
  const typePath = child(path, "type");
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  const mayHaveNone =
    schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (isEmbedded && type !== "object") {
    const why = "must be object if x-kubernetes-embedded-resource is true";
    if (type === "") errors.required(typePath, why);
    else errors.invalid(typePath, type, why);
  } else if (type === "" && !mayHaveNone) errors.required(typePath, typeMissing[place]);
  if (isEmbedded && schema.additionalProperties !== undefined) {
    errors.forbidden(child(path, "additionalProperties"), "must not be used if x-kubernetes-embedded-resource is set");
  }
  if (place === "root" && type !== "" && type !== "object")
    errors.invalid(typePath, type, "must be object at the root");
}

/** Restricts the schemas of `kind`, `apiVersion` and `metadata`. */
function checkMetaFields(
  { properties, ...schema }: JsonSchemaProps,
  place: Place,
  path: string,
  errors: FieldErrors,
): void {
  const isResource = place === "root" || schema["x-kubernetes-embedded-resource"] === true;
  for (const name of ["kind", "apiVersion"]) {
    const within = own(properties, name);
    if (isResource && within !== undefined && within.type !== "string") {
      errors.invalid(`${property(path, name)}.type`, within.type ?? "", "must be string");
    }
  }
  const metadata = own(properties, "metadata");
  if (metadata === undefined) return;
  const metadataPath = property(path, "metadata");
  if (isResource && metadata.type !== "object")
    errors.invalid(`${metadataPath}.type`, metadata.type ?? "", "must be object");
  if (place === "root" && hasMoreThanNames(metadata)) {
    errors.forbidden(
      metadataPath,
      "must not specify anything other than name and generateName, but metadata is implicitly specified",
    );
  }
}

/** Ignores a default, which other rules reject. */
function hasMoreThanNames(metadata: JsonSchemaProps): boolean {
  const onlyNames = Object.keys(metadata.properties ?? {}).every((name) => name === "name" || name === "generateName");
  return (
    !onlyNames ||
    schemaFields.some(
      ([, key, absent]) => !["type", "default", "properties"].includes(key) && isFieldSet(metadata, key, absent),
    )
  );
}

/** Whether the list is exactly `type: integer` and `type: string`. */
function isIntOrString(anyOf: readonly JsonSchemaProps[] | undefined): boolean {
  return anyOf?.length === 2 && hasOnlyType(anyOf[0], "integer") && hasOnlyType(anyOf[1], "string");
}

function hasOnlyType(schema: JsonSchemaProps | undefined, type: string): boolean {
  return (
    schema?.type === type && schemaFields.every(([, key, absent]) => key === "type" || !isFieldSet(schema, key, absent))
  );
}

interface Patterns {
  /** `anyOf` is the int-or-string pattern. */
  readonly anyOf: boolean;
  /** The first item of `allOf` contains the pattern. */
  readonly firstAllOf: boolean;
}

const noPatterns: Patterns = { anyOf: false, firstAllOf: false };

function intOrStringPatterns({ anyOf, allOf }: JsonSchemaProps): Patterns {
  return { anyOf: isIntOrString(anyOf), firstAllOf: isIntOrString(allOf?.[0]?.anyOf) };
}

function checkJunctors(schema: JsonSchemaProps, path: string, errors: FieldErrors, patterns: Patterns): void {
  const { anyOf = [], allOf = [], oneOf = [], not, pattern } = schema;
  if (!patterns.anyOf)
    for (const [index, within] of anyOf.entries()) checkNested(within, child(path, `anyOf[${index}]`), errors);
  for (const [index, within] of allOf.entries()) {
    checkNested(within, child(path, `allOf[${index}]`), errors, {
      anyOf: patterns.firstAllOf && index === 0,
      firstAllOf: false,
    });
  }
  for (const [index, within] of oneOf.entries()) checkNested(within, child(path, `oneOf[${index}]`), errors);
  if (not !== undefined) checkNested(not, child(path, "not"), errors);
  if (!pattern) return;
  const error = patternError(pattern);
  if (error !== undefined)
    errors.invalid(child(path, "pattern"), pattern, `must be a valid regular expression, but isn't: ${error}`);
}

/**
 * Fields that are forbidden within `allOf`, `anyOf`, `oneOf` and `not`, and the state that messages
 * require.
 */
const forbiddenWithin: readonly (readonly [key: keyof JsonSchemaProps, required: string])[] = [
  ["default", "undefined"],
  ["title", "empty"],
  ["description", "empty"],
  ["nullable", "false"],
  ["x-kubernetes-preserve-unknown-fields", "false"],
  ["x-kubernetes-embedded-resource", "false"],
  ["x-kubernetes-int-or-string", "false"],
  ["x-kubernetes-list-map-keys", "empty"],
  ["x-kubernetes-list-type", "undefined"],
  ["x-kubernetes-map-type", "undefined"],
  ["x-kubernetes-validations", "empty"],
];

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

function checkNested(schema: JsonSchemaProps, path: string, errors: FieldErrors, patterns = noPatterns): void {
  checkJunctors(schema, path, errors, patterns);
  const items = itemSchema(schema);
  if (items !== undefined) checkNested(items, child(path, "items"), errors);
  for (const [name, within] of sortedSchemas(schema.properties)) checkNested(within, property(path, name), errors);
  if (schema.type) errors.forbidden(child(path, "type"), "must be empty to be structural");
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) {
    errors.forbidden(child(path, "additionalProperties"), "must be undefined to be structural");
  }
  for (const [key, required] of forbiddenWithin) {
    const value = schema[key] ?? undefined;
    const isUnset =
      required === "undefined"
        ? value === undefined
        : [undefined, false, ""].includes(value as never) || isEmptyList(value);
    if (!isUnset) errors.forbidden(child(path, key), `must be ${required} to be structural`);
  }
  if (own(schema.properties, "metadata") !== undefined)
    errors.forbidden(property(path, "metadata"), "must not be specified in a nested context");
}

/**
 * Each field with a schema within a junctor must have a schema outside of it.
 *
 * @param valuePath the path within the junctor, for messages
 */
function checkComplete(
  nested: JsonSchemaProps,
  schema: JsonSchemaProps,
  path: string,
  valuePath: string,
  errors: FieldErrors,
): void {
  const within = (junctor: JsonSchemaProps, name: string): void =>
    checkNestedComplete(junctor, schema, path, child(valuePath, name), errors);
  if (nested.not !== undefined) within(nested.not, "not");
  for (const [index, junctor] of (nested.allOf ?? []).entries()) within(junctor, `allOf[${index}]`);
  for (const [index, junctor] of (nested.anyOf ?? []).entries()) within(junctor, `anyOf[${index}]`);
  for (const [index, junctor] of (nested.oneOf ?? []).entries()) within(junctor, `oneOf[${index}]`);
}

function checkNestedComplete(
  nested: JsonSchemaProps,
  schema: JsonSchemaProps | undefined,
  path: string,
  valuePath: string,
  errors: FieldErrors,
): void {
  if (schema === undefined) {
    errors.required(path, `because it is defined in ${valuePath}`);
    return;
  }
  checkComplete(nested, schema, path, valuePath, errors);
  const items = itemSchema(nested);
  if (items !== undefined)
    checkNestedComplete(items, itemSchema(schema), child(path, "items"), child(valuePath, "items"), errors);
  for (const [name, within] of sortedSchemas(nested.properties)) {
    checkNestedComplete(within, own(schema.properties, name), property(path, name), property(valuePath, name), errors);
  }
}
