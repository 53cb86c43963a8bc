/**
 * Validates definitions.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apis/apiextensions/validation/validation.go
 */
import { FieldErrors, plainText } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { firstByKey } from "../../lib/first-by-key/first-by-key.ts";
import { dns1035LabelProblems, dnsSubdomainProblems } from "../../lib/names/names.ts";
import { type JsonSchemaProps, schemaHas } from "../../lib/structural-schema/json-schema-props.ts";
import {
  NotStructuralError,
  parseStructuralSchema,
  type StructuralSchema,
} from "../../lib/structural-schema/structural-schema.ts";
import { checkImmutable } from "../fields.ts";
import { checkApproval } from "./api-approval.ts";
import { checkConversion } from "./conversion-rules.ts";
import { checkDefaults } from "./default-rules.ts";
import {
  type DefinitionSpec,
  type DefinitionStatus,
  type DefinitionVersion,
  type LiftedSpec,
  liftSpec,
  schemasOf,
  type VersionParts,
} from "./definition.ts";
import { goPointer, goSchema, goVersions, isFieldSet, schemaFields, shownForm } from "./go-form.ts";
import { checkAcceptedNames, checkNames } from "./names-rules.ts";
import { createRequirements, type Requirements, updateRequirements } from "./requirements.ts";
import type { RuleChecker } from "./rule-checker.ts";
import { checkSchema } from "./schema-rules.ts";
import { checkStructural } from "./structural-rules.ts";
import { compilePatterns, runInSlices } from "./time-slices.ts";
import { checkColumn, checkSelectableFields, checkSubresources, deprecationWarningProblems } from "./version-rules.ts";

/**
 * Validates a new definition.
 *
 * @param definition with defaults and a status
 * @param ruleChecker if undefined, rules are not compiled
 */
export async function checkDefinition(
  definition: KubeObject,
  ruleChecker: RuleChecker | undefined,
  errors: FieldErrors,
): Promise<void> {
  await runInSlices(newSteps(definition, ruleChecker, errors), schemasOf(liftSpec(definition.spec ?? {})));
}

function* newSteps(definition: KubeObject, ruleChecker: RuleChecker | undefined, errors: FieldErrors): Generator<void> {
  const { spec = {}, status = {} } = definition;
  yield* new DefinitionRules(liftSpec(spec), createRequirements, ruleChecker, errors).checkSpec();
  checkStatus(status, spec, errors);
  checkApproval(definition, undefined, errors);
  if (spec.preserveUnknownFields === true) rejectPreserveUnknownFields(errors);
}

/**
 * Validates an update of a definition, and tolerates some violations of the stored one.
 *
 * @param old the stored definition
 * @param ruleChecker if undefined, rules are not compiled
 */
export async function checkDefinitionUpdate(
  definition: KubeObject,
  old: KubeObject,
  ruleChecker: RuleChecker | undefined,
  errors: FieldErrors,
): Promise<void> {
  await runInSlices(updateSteps(definition, old, ruleChecker, errors), schemasOf(liftSpec(definition.spec ?? {})));
}

function* updateSteps(
  definition: KubeObject,
  old: KubeObject,
  ruleChecker: RuleChecker | undefined,
  errors: FieldErrors,
): Generator<void> {
  yield;
  const { spec = {}, status = {} } = definition;
  const oldSpec: DefinitionSpec = old.spec ?? {};
  const lifted = liftSpec(spec);
  const requirements = yield* updateRequirements(lifted, liftSpec(oldSpec), old.status ?? {});
  yield;
  yield* new DefinitionRules(lifted, requirements, ruleChecker, errors).checkSpec();
  if (requirements.immutableNames) {
    checkImmutable(spec.scope ?? "", oldSpec.scope ?? "", "spec.scope", errors);
    checkImmutable(spec.names?.kind ?? "", oldSpec.names?.kind ?? "", "spec.names.kind", errors);
  }
  checkImmutable(spec.group ?? "", oldSpec.group ?? "", "spec.group", errors);
  checkImmutable(spec.names?.plural ?? "", oldSpec.names?.plural ?? "", "spec.names.plural", errors);
  checkStatus(status, spec, errors);
  checkApproval(definition, old, errors);
  if (spec.preserveUnknownFields === true && oldSpec.preserveUnknownFields !== true)
    rejectPreserveUnknownFields(errors);
}

function rejectPreserveUnknownFields(errors: FieldErrors): void {
  const instead = "set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
  errors.invalid("spec.preserveUnknownFields", true, `cannot set to true, ${instead}`);
}

function checkStatus(status: DefinitionStatus, { versions = [] }: DefinitionSpec, errors: FieldErrors): void {
  checkAcceptedNames(status, errors);
  const path = "status.storedVersions";
  const stored = status.storedVersions ?? [];
  if (stored.length === 0) {
    errors.invalid(path, status.storedVersions, "must have at least one stored version");
    return;
  }
  const left = new Set(stored); // A version that is listed again is not found any more.
  for (const { name = "", storage } of versions) {
    if (!left.delete(name) && storage === true) errors.invalid(path, stored, `must have the storage version ${name}`);
  }
  const names = new Set(versions.map(({ name }) => name));
  const lastAt = new Map(stored.map((name, index) => [name, index]));
  for (const [index, name] of stored.entries()) {
    if (names.has(name) || lastAt.get(name) !== index) continue;
    const why = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration`;
    errors.invalid(
      `${path}[${index}]`,
      name,
      `${why} ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
    );
  }
}

/** One version, or the common parts of all versions. */
interface Section {
  /** The path of its parts: `spec` or `spec.versions[0]`. */
  readonly path: string;
  readonly parts: VersionParts;
  readonly schemaPath: string;
  /** Name of the version. As in upstream, common parts have the name of the first one. */
  readonly version: string;
  readonly hasStatus: boolean;
}

class DefinitionRules {
  readonly #lifted: LiftedSpec;
  readonly #spec: DefinitionSpec;
  readonly #requirements: Requirements;
  readonly #ruleChecker: RuleChecker | undefined;
  readonly #errors: FieldErrors;

  constructor(
    lifted: LiftedSpec,
    requirements: Requirements,
    ruleChecker: RuleChecker | undefined,
    errors: FieldErrors,
  ) {
    this.#lifted = lifted;
    this.#spec = lifted.spec;
    this.#ruleChecker = ruleChecker;
    this.#errors = errors;
    this.#requirements = { ...requirements, structural: requirements.structural || mustBeStructural(lifted) };
  }

  *checkSpec(): Generator<void> {
    this.#checkGroup();
    this.#checkScope();
    this.#checkSchemasPresent();
    const errors = this.#errors;
    if (this.#spec.preserveUnknownFields === true && schemasOf(this.#lifted).some(hasDefaults)) {
      errors.invalid("spec.preserveUnknownFields", true, "must be false in order to use defaults in the schema");
    }
    yield* this.#checkVersions();
    const { names = {}, conversion } = this.#spec;
    for (const name of ["plural", "singular", "kind", "listKind"] as const)
      if (!names[name]) errors.required(`spec.names.${name}`);
    checkNames(names, "spec.names", errors);
    yield* this.#checkCommon();
    if (conversion === undefined) return;
    if (conversion.strategy !== "None" && this.#spec.preserveUnknownFields === true) {
      errors.invalid(
        "spec.conversion.strategy",
        conversion.strategy ?? "",
        "must be None if spec.preserveUnknownFields is true",
      );
    }
    checkConversion(conversion, "spec.conversion", this.#requirements, errors);
  }

  #checkGroup(): void {
    const { group = "" } = this.#spec;
    const problems = dnsSubdomainProblems(group);
    if (group === "") this.#errors.required("spec.group");
    else if (problems.length > 0) this.#errors.invalid("spec.group", group, problems.join(","));
    else if (!group.includes("."))
      this.#errors.invalid("spec.group", group, "should be a domain with at least one dot");
  }

  #checkScope(): void {
    const { scope = "" } = this.#spec;
    const scopes = ["Cluster", "Namespaced"];
    if (scope === "") this.#errors.required("spec.scope");
    else if (!scopes.includes(scope)) this.#errors.notSupported("spec.scope", plainText(scope), scopes);
  }

  /** A served version without a schema would lose all fields by pruning. */
  #checkSchemasPresent(): void {
    const { common, versions } = this.#lifted;
    if (common.schema?.openAPIV3Schema !== undefined) return;
    for (const [index, { schema, served }] of versions.entries()) {
      const path = `spec.versions[${index}].schema.openAPIV3Schema`;
      if (schema?.openAPIV3Schema !== undefined) continue;
      if (this.#requirements.schema) this.#errors.required(path);
      else if (served === true && this.#spec.preserveUnknownFields !== true)
        this.#errors.required(path, "because otherwise all fields are pruned");
    }
  }

  *#checkVersions(): Generator<void> {
    const { versions } = this.#lifted;
    const firsts = firstByKey(versions.map((version) => [version.name, version] as const));
    for (const [index, version] of versions.entries())
      yield* this.#checkVersion(version, index, firsts.get(version.name));
    const names = versions.map(({ name = "" }) => name);
    const shown = (): unknown =>
      this.#spec.versions === undefined ? null : shownForm(versions, () => goVersions(versions));
    if (new Set(names).size < names.length)
      this.#errors.invalid("spec.versions", shown(), "must contain unique version names");
    if (versions.filter(({ storage }) => storage === true).length !== 1) {
      this.#errors.invalid("spec.versions", shown(), "must have exactly one version marked as storage version");
    }
    const [first = ""] = names;
    const problems = first === "" ? [] : dns1035LabelProblems(first);
    if (problems.length > 0) this.#errors.invalid("spec.version", first, problems.join(","));
  }

  /** @param first the first version with its name, whose subresources count */
  *#checkVersion(version: DefinitionVersion, index: number, first: DefinitionVersion | undefined): Generator<void> {
    const { name = "", deprecated, deprecationWarning } = version;
    const path = `spec.versions[${index}]`;
    const problems = dns1035LabelProblems(name);
    if (problems.length > 0) this.#errors.invalid(`${path}.name`, name, problems.join(","));
    for (const problem of deprecationWarningProblems(deprecated === true, deprecationWarning)) {
      this.#errors.invalid(`${path}.deprecationWarning`, goPointer(deprecationWarning ?? ""), problem);
    }
    const { subresources } = this.#lifted.common.subresources ? this.#lifted.common : (first ?? {});
    yield* this.#checkSection({
      path,
      parts: version,
      schemaPath: `${path}.schema`,
      version: name,
      hasStatus: subresources?.status !== undefined,
    });
    this.#checkSelectable(version, {
      path,
      version: name,
      missing: "may only be set when `version.schema.openAPIV3Schema` is not included",
    });
  }

  *#checkCommon(): Generator<void> {
    const { common, versions } = this.#lifted;
    const hasStatus = [common, ...versions].some(({ subresources }) => subresources?.status !== undefined);
    const version = versions[0]?.name ?? "";
    yield* this.#checkSection({ path: "spec", parts: common, schemaPath: "spec.validation", version, hasStatus });
    this.#checkSelectable(common, {
      path: "spec",
      version: "",
      missing: "may only be set when validations.schema is included",
    });
  }

  *#checkSection({ path, parts, schemaPath, version, hasStatus }: Section): Generator<void> {
    const { schema, subresources, additionalPrinterColumns = [] } = parts;
    if (schema?.openAPIV3Schema !== undefined)
      yield* this.#checkSchema(schema.openAPIV3Schema, { path: schemaPath, version, hasStatus });
    if (subresources !== undefined) checkSubresources(subresources, `${path}.subresources`, this.#errors);
    for (const [index, column] of additionalPrinterColumns.entries()) {
      checkColumn(column, `${path}.additionalPrinterColumns[${index}]`, this.#errors);
    }
  }

  #checkSelectable(
    { selectableFields = [], schema }: VersionParts,
    where: { path: string; version: string; missing: string },
  ): void {
    if (selectableFields.length === 0) return;
    const path = `${where.path}.selectableFields`;
    const source = schema?.openAPIV3Schema;
    if (source === undefined) {
      this.#errors.invalid(path, "", where.missing);
      return;
    }
    const structure = structureOf(source);
    if (typeof structure === "string") this.#errors.invalid(`${where.path}.schema.openAPIV3Schema`, "", structure);
    else {
      const mayBeMany = this.#requirements.manySelectableFields.has(where.version);
      checkSelectableFields(selectableFields, structure, { path, mayBeMany }, this.#errors);
    }
  }

  *#checkSchema(
    schema: JsonSchemaProps,
    { path, version, hasStatus }: { path: string; version: string; hasStatus: boolean },
  ): Generator<void> {
    const errors = new FieldErrors(); // Errors of this schema only.
    const schemaPath = `${path}.openAPIV3Schema`;
    if (hasStatus) checkRootWithStatus(schema, path, errors);
    if (schema.nullable === true) errors.forbidden(`${schemaPath}.nullable`, "nullable cannot be true at the root");
    const structure = this.#requirements.structural ? structureOf(schema) : undefined;
    yield* compilePatterns(schema);
    const hasRules =
      typeof structure === "object" && (yield* this.#checkStructure(schema, structure, schemaPath, errors));
    yield;
    checkSchema(schema, schemaPath, this.#requirements, errors);
    yield;
    if (errors.empty && typeof structure === "string") errors.invalid(schemaPath, "", structure);
    if (hasRules && this.#ruleChecker !== undefined) {
      const { stored, unchangedSchemas } = this.#requirements;
      yield* this.#ruleChecker.ruleSteps(schema, schemaPath, errors, {
        stored,
        isUnchanged: unchangedSchemas.has(version),
      });
    }
    this.#errors.causes.push(...errors.causes);
    yield;
  }

  /** @returns whether the schema is valid, so that expressions can be compiled with its types */
  *#checkStructure(
    schema: JsonSchemaProps,
    structure: StructuralSchema,
    path: string,
    errors: FieldErrors,
  ): Generator<void, boolean> {
    const before = errors.causes.length;
    checkStructural(schema, path, errors);
    if (errors.causes.length > before) return false;
    yield;
    checkDefaults(
      structure,
      path,
      { requirePruned: this.#requirements.prunedDefaults, ruleChecker: this.#ruleChecker },
      errors,
    );
    return errors.causes.length === before;
  }
}

/** @returns upstream's message for a schema that is not structural */
function structureOf(schema: JsonSchemaProps): StructuralSchema | string {
  try {
    return parseStructuralSchema(schema);
  } catch (error) {
    if (error instanceof NotStructuralError) return error.message;
    throw error;
  }
}

const hasDefaults = (schema: JsonSchemaProps): boolean =>
  schemaHas(schema, ({ default: value }) => (value ?? undefined) !== undefined);

/** Pruning, defaults and extensions require structural schemas. */
function mustBeStructural(lifted: LiftedSpec): boolean {
  return (
    lifted.spec.preserveUnknownFields !== true ||
    schemasOf(lifted).some((schema) => hasDefaults(schema) || schemaHas(schema, hasExtensions))
  );
}

function hasExtensions(schema: JsonSchemaProps): boolean {
  return (
    schema["x-kubernetes-embedded-resource"] === true ||
    schema["x-kubernetes-preserve-unknown-fields"] !== undefined ||
    schema["x-kubernetes-int-or-string"] === true ||
    (schema["x-kubernetes-list-map-keys"] ?? []).length > 0 ||
    schema["x-kubernetes-list-type"] !== undefined ||
    (schema["x-kubernetes-validations"] ?? []).length > 0
  );
}

/**
 * The fields that a root schema may have when the status subresource is enabled, since the status
 * is validated on its own. In upstream's order, which the message shows.
 */
const fieldsAllowedWithStatus = (
  "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems " +
  "MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations"
).split(" ");

function checkRootWithStatus(schema: JsonSchemaProps, path: string, errors: FieldErrors): void {
  const set = schemaFields.filter(([, key, absent]) => isFieldSet(schema, key, absent));
  const wrong = set.find(([goName]) =>
    goName === "Type" ? schema.type !== "object" : !fieldsAllowedWithStatus.includes(goName),
  );
  if (wrong === undefined) return;
  const why = "of the schema if the status subresource is enabled";
  if (wrong[0] === "Type") {
    errors.invalid(
      `${path}.openAPIV3Schema.type`,
      schema.type,
      `only "object" is allowed as the type at the root ${why}`,
    );
  } else {
    errors.invalid(
      `${path}.openAPIV3Schema`,
      shownForm(schema, () => goSchema(schema)),
      `only [${fieldsAllowedWithStatus.join(" ")}] fields are allowed at the root ${why}`,
    );
  }
}
