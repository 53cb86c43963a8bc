/**
 * Determines which rules an update must fulfill. Rules that the stored definition violates do not
 * apply, so that old definitions can be updated after upgrades.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apis/apiextensions/validation/validation.go,
 *         ValidateCustomResourceDefinitionUpdate
 */
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import { firstByKey } from "../../lib/first-by-key/first-by-key.ts";
import { identical } from "../../lib/json/values.ts";
import { itemSchema, type JsonSchemaProps, schemaHas } from "../../lib/structural-schema/json-schema-props.ts";
import { NotStructuralError, parseStructuralSchema } from "../../lib/structural-schema/structural-schema.ts";
import { caBundleProblem } from "./ca-bundle.ts";
import {
  type DefinitionSpec,
  type DefinitionStatus,
  type DefinitionVersion,
  isSamePart,
  type LiftedSpec,
  schemasOf,
} from "./definition.ts";
import { hasUnprunedDefaults } from "./prune-defaults.ts";
import type { StoredExpressions } from "./rule-checker.ts";
import { isStructural } from "./structural-rules.ts";

/** The rules that depend on the stored definition. */
export interface Requirements {
  readonly recognizedReviewVersion: boolean;
  readonly immutableNames: boolean;
  readonly schema: boolean;
  readonly validTypes: boolean;
  readonly structural: boolean;
  readonly prunedDefaults: boolean;
  readonly atomicSetItems: boolean;
  readonly mapKeysSet: boolean;
  readonly validCaBundle: boolean;
  /**
   * Names of versions that may exceed the limit of selectable fields; empty for the common ones.
   */
  readonly manySelectableFields: ReadonlySet<string>;
  readonly unchangedSchemas: ReadonlySet<string>;
  readonly stored: StoredExpressions;
}

/** Per version. */
export const selectableFieldsMax = 8;

/** The requirements of a new definition. */
export const createRequirements: Requirements = {
  recognizedReviewVersion: true,
  immutableNames: false,
  schema: true,
  validTypes: true,
  structural: true,
  prunedDefaults: true,
  atomicSetItems: true,
  mapKeysSet: true,
  validCaBundle: false, // A new definition is not served yet; an invalid bundle prevents that.
  manySelectableFields: new Set(),
  unchangedSchemas: new Set(),
  stored: { rules: new Set(), messageExpressions: new Set() },
};

/**
 * Determines the requirements of an update. Yields where the event loop may continue.
 *
 * @param oldStatus the status of the stored definition
 */
export function* updateRequirements(
  next: LiftedSpec,
  old: LiftedSpec,
  oldStatus: DefinitionStatus,
): Generator<void, Requirements> {
  const schemas = schemasOf(old);
  const isEstablished = (oldStatus.conditions ?? []).some(
    ({ type, status }) => type === "Established" && status === "True",
  );
  const structural = schemas.every(canBeStructural);
  yield;
  const prunedDefaults = !schemas.some(hasUnprunedDefaults);
  yield;
  return {
    recognizedReviewVersion: hasRecognizedReviewVersion(old.spec),
    immutableNames: isEstablished,
    schema: (old.spec.versions ?? []).every(({ schema }) => schema?.openAPIV3Schema !== undefined),
    validTypes: !schemas.some((schema) =>
      schemaHas(schema, ({ type = "" }) => type !== "" && !schemaTypes.includes(type)),
    ),
    structural,
    prunedDefaults,
    atomicSetItems: !schemas.some((schema) => schemaHas(schema, hasNonAtomicSetItems)),
    mapKeysSet: !schemas.some((schema) => schemaHas(schema, hasUnsetMapKeys)),
    validCaBundle: isEstablished && hasValidCaBundle(old.spec),
    manySelectableFields: tooManySelectableFields(next, old),
    unchangedSchemas: unchangedSchemas(next, old),
    stored: storedExpressions(schemas),
  };
}

/** Sorted, as the message lists them. */
export const schemaTypes: readonly string[] = ["array", "boolean", "integer", "number", "object", "string"];

/** The versions of ConversionReview and AdmissionReview that the server sends. */
export const reviewVersions: readonly string[] = ["v1", "v1beta1"];

/** Whether a webhook accepts reviews that the server sends. */
export function hasKnownVersion(versions: readonly string[]): boolean {
  return versions.some((version) => reviewVersions.includes(version));
}

function hasRecognizedReviewVersion({ conversion }: DefinitionSpec): boolean {
  const versions = conversion?.webhook?.conversionReviewVersions ?? [];
  return versions.length === 0 || hasKnownVersion(versions);
}

function canBeStructural(schema: JsonSchemaProps): boolean {
  try {
    parseStructuralSchema(schema);
    return isStructural(schema);
  } catch (error) {
    if (error instanceof NotStructuralError) return false;
    throw error;
  }
}

function hasNonAtomicSetItems(schema: JsonSchemaProps): boolean {
  const items = itemSchema(schema);
  return schema["x-kubernetes-list-type"] === "set" && items !== undefined && nonAtomic(items) !== undefined;
}

/** @returns the extension that would have to be `atomic`; undefined for atomic values */
export function nonAtomic(items: JsonSchemaProps): "x-kubernetes-list-type" | "x-kubernetes-map-type" | undefined {
  if (items.type === "array")
    return (items["x-kubernetes-list-type"] ?? "atomic") === "atomic" ? undefined : "x-kubernetes-list-type";
  return items.type === "object" && items["x-kubernetes-map-type"] !== "atomic" ? "x-kubernetes-map-type" : undefined;
}

function hasUnsetMapKeys(schema: JsonSchemaProps): boolean {
  const errors = new FieldErrors();
  checkMapKeysSet(schema, "", errors);
  return !errors.empty;
}

/**
 * Items of sets and maps must not be nullable, and keys of maps must be required or have a default.
 */
export function checkMapKeysSet(schema: JsonSchemaProps, path: string, errors: FieldErrors): void {
  const items = itemSchema(schema);
  const listType = schema["x-kubernetes-list-type"];
  if (items === undefined || (listType !== "set" && listType !== "map")) return;
  const itemsPath = `${path}.items`;
  if (items.nullable === true)
    errors.forbidden(`${itemsPath}.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`);
  if (listType !== "map") return;
  const { properties = {} } = items;
  const required = new Set(items.required);
  for (const key of schema["x-kubernetes-list-map-keys"] ?? []) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property === undefined) continue; // The schema rules report it.
    const keyPath = `${itemsPath}.properties[${key}]`;
    if (!required.has(key) && (property.default ?? undefined) === undefined) {
      const why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
      errors.required(`${keyPath}.default`, why);
    }
    if (property.nullable === true) {
      errors.forbidden(
        `${keyPath}.nullable`,
        "this property is in x-kubernetes-list-map-keys, so it cannot be nullable",
      );
    }
  }
}

function hasValidCaBundle({ conversion }: DefinitionSpec): boolean {
  const bundle = conversion?.webhook?.clientConfig?.caBundle ?? "";
  return bundle === "" || caBundleProblem(bundle) === undefined;
}

function tooManySelectableFields(next: LiftedSpec, old: LiftedSpec): ReadonlySet<string> {
  const tolerated = new Set<string>();
  const tolerate = (name: string, now: unknown, before: readonly unknown[] | undefined): void => {
    if ((before?.length ?? 0) > selectableFieldsMax && identical(now, before)) tolerated.add(name);
  };
  tolerate("", next.common.selectableFields, old.common.selectableFields);
  const before = firstByKey(old.versions.map((version) => [version.name, version.selectableFields] as const));
  for (const { name = "", selectableFields } of next.versions) tolerate(name, selectableFields, before.get(name));
  return tolerated;
}

function unchangedSchemas(next: LiftedSpec, old: LiftedSpec): ReadonlySet<string> {
  const before = new Map((old.spec.versions ?? []).map((version) => [version.name, version]));
  const isUnchanged = (version: DefinitionVersion): boolean =>
    isSamePart("schema", version, before.get(version.name) ?? {});
  return new Set(
    (next.spec.versions ?? [])
      .filter((version) => before.has(version.name) && isUnchanged(version))
      .map(({ name = "" }) => name),
  );
}

function storedExpressions(schemas: readonly JsonSchemaProps[]): StoredExpressions {
  const stored = { rules: new Set<string>(), messageExpressions: new Set<string>() };
  const collect = ({ "x-kubernetes-validations": rules = [] }: JsonSchemaProps): boolean => {
    for (const { rule, messageExpression } of rules) {
      stored.rules.add(rule);
      if (messageExpression) stored.messageExpressions.add(messageExpression);
    }
    return false;
  };
  for (const schema of schemas) schemaHas(schema, collect);
  return stored;
}
