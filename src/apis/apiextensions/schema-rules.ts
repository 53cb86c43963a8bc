/**
 * Validates the nodes of a schema in a definition.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apis/apiextensions/validation/validation.go,
 *         ValidateCustomResourceDefinitionOpenAPISchema
 */
import { type FieldErrors, plainText } from "../../apimachinery/field-errors.ts";
import { findField } from "../../lib/structural-schema/field-path.ts";
import {
  itemSchema,
  itemSchemas,
  type JsonSchemaProps,
  type SchemaRule,
  sortedSchemas,
  valueSchema,
} from "../../lib/structural-schema/json-schema-props.ts";
import {
  metaFields,
  NotStructuralError,
  parseStructuralSchema,
  type StructuralSchema,
} from "../../lib/structural-schema/structural-schema.ts";
import { goItems, shownForm } from "./go-form.ts";
import { checkMapKeysSet, nonAtomic, type Requirements, schemaTypes } from "./requirements.ts";

/** The context of a node. */
interface Place {
  readonly path: string;
  readonly isRoot: boolean;
  /** Why a default is forbidden; undefined if it is allowed. */
  readonly noDefaults: string | undefined;
  readonly insideMeta: boolean;
}

export function checkSchema(
  schema: JsonSchemaProps,
  path: string,
  requirements: Requirements,
  errors: FieldErrors,
): void {
  new SchemaRules(requirements, errors).check(schema, { path, isRoot: true, noDefaults: undefined, insideMeta: false });
}

class SchemaRules {
  readonly #requirements: Requirements;
  readonly #errors: FieldErrors;

  constructor(requirements: Requirements, errors: FieldErrors) {
    this.#requirements = requirements;
    this.#errors = errors;
  }

  check(schema: JsonSchemaProps, place: Place): void {
    const errors = this.#errors;
    const { path } = place;
    this.#checkConstructs(schema, place, errors);
    if (schema.uniqueItems === true) {
      errors.forbidden(
        `${path}.uniqueItems`,
        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
      );
    }
    this.#checkChildren(schema, place);
    if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
      errors.invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined");
    }
    checkMapType(schema, path, errors);
    this.#checkListType(schema, path, errors);
    if (this.#requirements.mapKeysSet) checkMapKeysSet(schema, path, errors);
    const isValidPath = fieldFinder(schema);
    for (const [index, rule] of (schema["x-kubernetes-validations"] ?? []).entries()) {
      checkRule(rule, isValidPath, `${path}.x-kubernetes-validations[${index}]`, errors);
    }
  }

  #checkConstructs(schema: JsonSchemaProps, { path, noDefaults, insideMeta }: Place, errors: FieldErrors): void {
    const type = schema.type ?? "";
    if (this.#requirements.validTypes && type !== "" && !schemaTypes.includes(type))
      errors.notSupported(`${path}.type`, plainText(type), schemaTypes);
    if ((schema.default ?? undefined) !== undefined && noDefaults !== undefined)
      errors.forbidden(`${path}.default`, `must not be set ${noDefaults}`);
    const unsupported = (name: string): void => errors.forbidden(`${path}.${name}`, `${name} is not supported`);
    if (schema.id) unsupported("id");
    if ((schema.additionalItems ?? undefined) !== undefined) unsupported("additionalItems");
    if (Object.keys(schema.patternProperties ?? {}).length > 0) unsupported("patternProperties");
    if (Object.keys(schema.definitions ?? {}).length > 0) unsupported("definitions");
    if ((schema.dependencies ?? undefined) !== undefined) unsupported("dependencies");
    if ((schema.$ref ?? undefined) !== undefined) unsupported("$ref");
    if (type === "null") errors.forbidden(`${path}.type`, "type cannot be set to null, use nullable as an alternative");
    if (itemSchemas(schema).length > 0)
      errors.forbidden(`${path}.items`, "items must be a schema object and not an array");
    if (insideMeta && schema["x-kubernetes-embedded-resource"] === true) {
      errors.forbidden(`${path}.x-kubernetes-embedded-resource`, "must not be used inside of resource meta");
    }
  }

  #checkChildren(schema: JsonSchemaProps, place: Place): void {
    const visit = (child: JsonSchemaProps, below: Partial<Place> & { path: string }): void =>
      this.check(child, { ...place, isRoot: false, ...below });
    const { path } = place;
    const { additionalProperties, not, allOf = [], oneOf = [], anyOf = [] } = schema;
    const values = valueSchema(schema);
    const properties = sortedSchemas(schema.properties);
    if (properties.length > 0 && additionalProperties !== undefined && additionalProperties !== true) {
      this.#errors.forbidden(
        `${path}.additionalProperties`,
        "additionalProperties and properties are mutual exclusive",
      );
    }
    if (values !== undefined) {
      const noDefaults = place.insideMeta
        ? "inside additionalProperties applying to object metadata"
        : place.noDefaults;
      visit(values, { path: `${path}.additionalProperties`, noDefaults });
    }
    for (const [name, property] of properties) visit(property, propertyPlace(schema, name, place));
    if (not !== undefined) visit(not, { path: `${path}.not` });
    for (const [name, junctors] of [["allOf", allOf] as const, ["oneOf", oneOf] as const, ["anyOf", anyOf] as const]) {
      for (const [index, junctor] of junctors.entries()) visit(junctor, { path: `${path}.${name}[${index}]` });
    }
    for (const [name, definition] of sortedSchemas(schema.definitions))
      visit(definition, { path: `${path}.definitions[${name}]` });
    const items = itemSchema(schema);
    if (items !== undefined) visit(items, { path: `${path}.items` });
    for (const [index, item] of itemSchemas(schema).entries()) visit(item, { path: `${path}.items[${index}]` });
    for (const [name, dependency] of Object.entries(schema.dependencies ?? {})) {
      if (!Array.isArray(dependency)) visit(dependency as JsonSchemaProps, { path: `${path}.dependencies[${name}]` });
    }
  }

  #checkListType(schema: JsonSchemaProps, path: string, errors: FieldErrors): void {
    const listType = schema["x-kubernetes-list-type"];
    const items = itemSchema(schema);
    if (listType !== undefined && schema.type !== "array") {
      requireType(schema, path, "must be array if x-kubernetes-list-type is specified", errors);
    } else if (this.#requirements.atomicSetItems && listType === "set" && items !== undefined) {
      const wrong = nonAtomic(items);
      const value = items["x-kubernetes-list-type"] ?? null;
      if (wrong !== undefined)
        errors.invalid(
          `${path}.items.${wrong}`,
          value,
          "must be atomic as item of a list with x-kubernetes-list-type=set",
        );
    }
    const listTypePath = `${path}.x-kubernetes-list-type`;
    if (listType !== undefined && !["atomic", "set", "map"].includes(listType))
      errors.notSupported(listTypePath, plainText(listType), ["atomic", "set", "map"]);
    const keys = schema["x-kubernetes-list-map-keys"] ?? [];
    if (keys.length > 0 && listType !== "map") {
      const why = "must be map if x-kubernetes-list-map-keys is non-empty";
      if (listType === undefined) errors.required(listTypePath, why);
      else errors.invalid(listTypePath, listType, why);
    }
    if (listType === "map") checkMapList(schema, keys, path, errors);
  }
}

function propertyPlace(schema: JsonSchemaProps, name: string, place: Place): Partial<Place> & { path: string } {
  const isMeta = (place.isRoot || schema["x-kubernetes-embedded-resource"] === true) && metaFields.has(name);
  return {
    path: `${place.path}.properties[${name}]`,
    insideMeta: place.insideMeta || isMeta,
    noDefaults: isMeta && place.isRoot ? `in top-level ${name}` : place.noDefaults,
  };
}

function requireType(schema: JsonSchemaProps, path: string, why: string, errors: FieldErrors): void {
  if (schema.type) errors.invalid(`${path}.type`, schema.type, why);
  else errors.required(`${path}.type`, why);
}

function checkMapType(schema: JsonSchemaProps, path: string, errors: FieldErrors): void {
  const mapType = schema["x-kubernetes-map-type"];
  if (mapType === undefined) return;
  if (schema.type !== "object")
    requireType(schema, path, "must be object if x-kubernetes-map-type is specified", errors);
  if (mapType !== "atomic" && mapType !== "granular")
    errors.notSupported(`${path}.x-kubernetes-map-type`, plainText(mapType), ["atomic", "granular"]);
}

function checkMapList(schema: JsonSchemaProps, keys: readonly string[], path: string, errors: FieldErrors): void {
  const keysPath = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) errors.required(keysPath, "must not be empty if x-kubernetes-list-type is map");
  const items = itemSchema(schema);
  if (items === undefined) {
    if (itemSchemas(schema).length === 0)
      errors.required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map");
    else
      errors.invalid(
        `${path}.items`,
        shownForm(schema, () => goItems(schema)),
        "must only have a single schema if x-kubernetes-list-type is map",
      );
    return;
  }
  if (items.type !== "object") {
    errors.invalid(
      `${path}.items.type`,
      items.type ?? "",
      "must be object if parent array's x-kubernetes-list-type is map",
    );
    return;
  }
  const seen = new Set<string>();
  for (const key of keys) {
    const property = Object.hasOwn(items.properties ?? {}, key) ? items.properties?.[key] : undefined;
    if (property === undefined) errors.invalid(keysPath, keys, "entries must all be names of item properties");
    else if (property.type === "array" || property.type === "object") {
      // Upstream's message shows the type of the items.
      errors.invalid(
        `${path}.items.properties[${key}].type`,
        items.type,
        "must be a scalar type if parent array's x-kubernetes-list-type is map",
      );
    }
    if (seen.has(key)) errors.invalid(keysPath, keys, "must not contain duplicate entries");
    seen.add(key);
  }
}

/** Sorted, as the message lists them. */
const ruleReasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text);

function checkRule(
  schemaRule: SchemaRule,
  isValidPath: (fieldPath: string) => boolean,
  path: string,
  errors: FieldErrors,
): void {
  const { rule = "", message = "", messageExpression = "", reason, fieldPath = "" } = schemaRule;
  if (rule.trim() === "") errors.required(`${path}.rule`, "rule is not specified");
  else if (message !== "" && message.trim() === "")
    errors.invalid(`${path}.message`, message, "must be non-empty if specified");
  else if (hasLineBreak(message.trim())) errors.invalid(`${path}.message`, message, "must not contain line breaks");
  else if (hasLineBreak(rule.trim()) && message.trim() === "") {
    errors.required(`${path}.message`, "message must be specified if rule contains line breaks");
  }
  if (messageExpression !== "" && messageExpression.trim() === "") {
    errors.required(`${path}.messageExpression`, "messageExpression must be non-empty if specified");
  }
  if (reason !== undefined && !ruleReasons.includes(reason)) errors.notSupported(`${path}.reason`, reason, ruleReasons);
  if (fieldPath === "") return;
  if (fieldPath.trim() === "") errors.invalid(`${path}.fieldPath`, fieldPath, "must be non-empty if specified");
  if (hasLineBreak(fieldPath)) errors.invalid(`${path}.fieldPath`, fieldPath, "must not contain line breaks");
  if (!isValidPath(fieldPath)) errors.invalid(`${path}.fieldPath`, fieldPath, "must be a valid path");
}

/** Parses the structure once for all rules of a node, and only if a rule has a `fieldPath`. */
function fieldFinder(schema: JsonSchemaProps): (fieldPath: string) => boolean {
  let structure: StructuralSchema | null | undefined;
  return (fieldPath) => {
    if (structure === undefined) structure = structureOf(schema);
    return structure === null || findField(fieldPath, structure, { arrayNotation: true }).error === undefined;
  };
}

/** @returns null for a schema that is not structural, which other rules report */
function structureOf(schema: JsonSchemaProps): StructuralSchema | null {
  try {
    return parseStructuralSchema(schema);
  } catch (error) {
    if (error instanceof NotStructuralError) return null;
    throw error;
  }
}
