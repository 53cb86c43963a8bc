/**
 * The Go form of parts of a definition, which upstream's messages show: internal types with Go's
 * names and order.
 */
import { omitted, shownPartsMax } from "../../apimachinery/field-errors.ts";
import { encodeString } from "../../lib/json/encode-any.ts";
import { GoPrinted } from "../../lib/json/go-value.ts";
import { hasMoreParts } from "../../lib/json/values.ts";
import {
  itemSchema,
  itemSchemas,
  type JsonSchemaProps,
  type SchemaMap,
  type SchemaRule,
  valueSchema,
} from "../../lib/structural-schema/json-schema-props.ts";
import type { DefinitionVersion } from "./definition.ts";

/** @returns the form of a part of a definition; `omitted` for a part that is so large that no message shows it */
export function shownForm(part: object, form: () => unknown): unknown {
  return hasMoreParts(part, shownPartsMax) ? omitted : form();
}

type Key = keyof JsonSchemaProps;

/** Names in Go and in JSON, and Go's zero value. */
export const schemaFields: readonly (readonly [goName: string, key: Key, absent: unknown])[] = [
  ["ID", "id", ""],
  ["Schema", "$schema", ""],
  ["Ref", "$ref", null],
  ["Description", "description", ""],
  ["Type", "type", ""],
  ["Nullable", "nullable", false],
  ["Format", "format", ""],
  ["Title", "title", ""],
  ["Default", "default", null],
  ["Maximum", "maximum", null],
  ["ExclusiveMaximum", "exclusiveMaximum", false],
  ["Minimum", "minimum", null],
  ["ExclusiveMinimum", "exclusiveMinimum", false],
  ["MaxLength", "maxLength", null],
  ["MinLength", "minLength", null],
  ["Pattern", "pattern", ""],
  ["MaxItems", "maxItems", null],
  ["MinItems", "minItems", null],
  ["UniqueItems", "uniqueItems", false],
  ["MultipleOf", "multipleOf", null],
  ["Enum", "enum", null],
  ["MaxProperties", "maxProperties", null],
  ["MinProperties", "minProperties", null],
  ["Required", "required", null],
  ["Items", "items", null],
  ["AllOf", "allOf", null],
  ["OneOf", "oneOf", null],
  ["AnyOf", "anyOf", null],
  ["Not", "not", null],
  ["Properties", "properties", null],
  ["AdditionalProperties", "additionalProperties", null],
  ["PatternProperties", "patternProperties", null],
  ["Dependencies", "dependencies", null],
  ["AdditionalItems", "additionalItems", null],
  ["Definitions", "definitions", null],
  ["ExternalDocs", "externalDocs", null],
  ["Example", "example", null],
  ["XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", null],
  ["XEmbeddedResource", "x-kubernetes-embedded-resource", false],
  ["XIntOrString", "x-kubernetes-int-or-string", false],
  ["XListMapKeys", "x-kubernetes-list-map-keys", null],
  ["XListType", "x-kubernetes-list-type", null],
  ["XMapType", "x-kubernetes-map-type", null],
  ["XValidations", "x-kubernetes-validations", null],
];

/** Whether a field differs from Go's zero value. */
export function isFieldSet(schema: JsonSchemaProps, key: Key, absent: unknown): boolean {
  const value = schema[key];
  return value !== undefined && value !== null && value !== absent;
}

export function goSchema(schema: JsonSchemaProps): object {
  return Object.fromEntries(
    schemaFields.map(([goName, key, absent]) => [
      goName,
      isFieldSet(schema, key, absent) ? goValue(schema, key) : absent,
    ]),
  );
}

function goValue(schema: JsonSchemaProps, key: Key): unknown {
  const { items: _items, ...rest } = schema;
  switch (key) {
    case "items":
      return goItems(schema);
    case "allOf":
    case "oneOf":
    case "anyOf":
      return rest[key]?.map(goSchema);
    case "not":
      return optional(rest.not);
    case "properties":
    case "patternProperties":
    case "definitions":
      return goMap(rest[key]);
    case "additionalProperties":
      return { Allows: rest.additionalProperties !== false, Schema: optional(valueSchema(schema)) };
    case "additionalItems":
      return {
        Allows: rest.additionalItems !== false,
        Schema: optional(typeof rest.additionalItems === "object" ? rest.additionalItems : undefined),
      };
    case "externalDocs":
      return { Description: rest.externalDocs?.description ?? "", URL: rest.externalDocs?.url ?? "" };
    case "x-kubernetes-validations":
      return rest["x-kubernetes-validations"]?.map(goRule);
    default:
      return schema[key];
  }
}

export function goItems(schema: JsonSchemaProps): object {
  const list = itemSchemas(schema);
  return { Schema: optional(itemSchema(schema)), JSONSchemas: list.length === 0 ? null : list.map(goSchema) };
}

/**
 * A string behind a pointer, which messages show in JSON's form; other strings are in Go's `%q`.
 */
export function goPointer(text: string): GoPrinted {
  return new GoPrinted(encodeString(text));
}

const optional = (schema: JsonSchemaProps | undefined): object | null =>
  schema === undefined ? null : goSchema(schema);

function goMap(schemas: SchemaMap | undefined): object {
  const names = Object.keys(schemas ?? {}).sort();
  return Object.fromEntries(names.map((name) => [name, goSchema((schemas as SchemaMap)[name] as JsonSchemaProps)]));
}

function goRule({
  rule,
  message = "",
  messageExpression = "",
  reason,
  fieldPath = "",
  optionalOldSelf,
}: SchemaRule): object {
  return {
    Rule: rule,
    Message: message,
    MessageExpression: messageExpression,
    Reason: reason ?? null,
    FieldPath: fieldPath,
    OptionalOldSelf: optionalOldSelf ?? null,
  };
}

export function goVersions(versions: readonly DefinitionVersion[]): object[] {
  return versions.map((version) => ({
    Name: version.name ?? "",
    Served: version.served === true,
    Storage: version.storage === true,
    Deprecated: version.deprecated === true,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: version.schema === undefined ? null : { OpenAPIV3Schema: optional(version.schema.openAPIV3Schema) },
    Subresources: goSubresources(version),
    AdditionalPrinterColumns: version.additionalPrinterColumns?.map(goColumn) ?? null,
    SelectableFields: version.selectableFields?.map(({ jsonPath = "" }) => ({ JSONPath: jsonPath })) ?? null,
  }));
}

function goSubresources({ subresources }: DefinitionVersion): object | null {
  if (subresources === undefined) return null;
  const { scale, status } = subresources;
  const { specReplicasPath = "", statusReplicasPath = "", labelSelectorPath } = scale ?? {};
  return {
    Status: status === undefined ? null : {},
    Scale:
      scale === undefined
        ? null
        : {
            SpecReplicasPath: specReplicasPath,
            StatusReplicasPath: statusReplicasPath,
            LabelSelectorPath: labelSelectorPath ?? null,
          },
  };
}

function goColumn({
  name = "",
  type = "",
  format = "",
  description = "",
  priority = 0,
  jsonPath = "",
}: DefinitionVersionColumn): object {
  return { Name: name, Type: type, Format: format, Description: description, Priority: priority, JSONPath: jsonPath };
}

type DefinitionVersionColumn = NonNullable<DefinitionVersion["additionalPrinterColumns"]>[number];
