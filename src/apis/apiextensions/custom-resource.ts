/**
 * The strategy of a custom kind, which validates objects by the schema and rules of the definition.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/registry/customresource/strategy.go,
 *         k8s.io/apiextensions-apiserver@v0.36.0/pkg/registry/customresource/status_strategy.go
 */
import { plainError } from "../../apimachinery/errors.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { ScaleMapping, Strategy, StrategyContext } from "../../catalog/strategy-contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { cloneJson } from "../../lib/json/values.ts";
import { qualifiedNameProblems } from "../../lib/names/names.ts";
import { Correlation } from "../../lib/structural-schema/correlation.ts";
import type { StructuralSchema } from "../../lib/structural-schema/structural-schema.ts";
import { type ValueValidator, valueValidator } from "../../lib/structural-schema/validate/value-validator.ts";
import { validateListTypes } from "../../lib/structural-schema/validate-list-types.ts";
import { scaleOf } from "../scale.ts";
import { columnFinder } from "./column-finder.ts";
import { customColumns } from "./custom-columns.ts";
import type { PrinterColumn, ScaleSubresource, SelectableField, Subresources } from "./definition.ts";
import { validateEmbedded } from "./embedded-rules.ts";
import type { CheckObject, ObjectRules } from "./rule-checker.ts";
import { integerAt, PathTypeError, setAt, splitPath, textAt } from "./simple-path.ts";

/** The parts of one version of a definition. */
interface CustomKindRules {
  readonly apiVersion: string;
  readonly structure: StructuralSchema;
  readonly subresources: Subresources;
  readonly selectableFields: readonly SelectableField[];
  readonly columns: readonly PrinterColumn[];
  /** If undefined, rules are not evaluated. */
  readonly objectRules: ObjectRules | undefined;
  /** Set while the definition is being deleted. */
  rejectCreation?(object: KubeObject): never;
}

/** Validators are made on first use. */
export function customResource(rules: CustomKindRules): Strategy {
  const checks = new ObjectChecks(rules);
  const { status, scale } = rules.subresources;
  return strategy({
    isolatesStatus: status !== undefined,
    hasGeneration: true,
    blank: () => ({}) as KubeObject,
    prepareForCreate: (object) => rules.rejectCreation?.(object),
    prepareForStatusUpdate: keepMetadata,
    validate: (object, errors, context) =>
      checkAs(rules.apiVersion, [object], () => checks.created(object, errors, context)),
    validateUpdate: (next, old, errors, context) =>
      checkAs(rules.apiVersion, [next, old], () => checks.updated(next, old, errors, context)),
    validateStatusUpdate: (next, old, errors, context) =>
      checkAs(rules.apiVersion, [next, old], () => checks.statusUpdated(next, old, errors, context)),
    warnings: finalizerWarnings,
    columns: customColumns(rules.columns),
    selectableFields: Object.fromEntries(
      rules.selectableFields.map(({ jsonPath = "" }) => [jsonPath.replace(/^\./, ""), selectableAt(jsonPath)]),
    ),
    ...(scale !== undefined && { scale: scaleMapping(scale) }),
  });
}

/** A status write of a custom resource changes no metadata, unlike one of a built-in kind. */
function keepMetadata(next: KubeObject, { metadata }: KubeObject): void {
  const { managedFields, resourceVersion } = next.metadata;
  const { managedFields: _managers, resourceVersion: _version, ...kept } = metadata;
  next.metadata = {
    ...cloneJson(kept),
    ...(managedFields !== undefined && { managedFields }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}

/**
 * Runs the check on objects in the requested version, because schemas and rules may read
 * `apiVersion`.
 */
function checkAs(apiVersion: string, objects: readonly KubeObject[], check: () => void): void {
  const before = objects.map((object) => object.apiVersion);
  for (const object of objects) object.apiVersion = apiVersion;
  check();
  for (const [index, object] of objects.entries()) object.apiVersion = before[index] as string;
}

function selectableAt(path: string): (object: KubeObject) => string {
  const find = columnFinder(path);
  return (object) => {
    const value = find?.(object);
    return value === undefined || value === null ? "" : String(value);
  };
}

class ObjectChecks {
  readonly #rules: CustomKindRules;
  #validator: ValueValidator | undefined;
  #statusValidator: ValueValidator | undefined;
  #checkRules: { readonly check: CheckObject | undefined } | undefined;

  constructor(rules: CustomKindRules) {
    this.#rules = rules;
  }

  created(object: KubeObject, errors: FieldErrors, context: StrategyContext): void {
    const { structure, subresources } = this.#rules;
    this.#values.validate(object, "", errors);
    checkScale(object, subresources.scale, { spec: true }, errors);
    validateEmbedded(object, structure, "", errors);
    validateListTypes(object, structure, "", errors);
    this.#runRules(object, undefined, errors, context);
  }

  updated(next: KubeObject, old: KubeObject, errors: FieldErrors, context: StrategyContext): void {
    const { structure, subresources } = this.#rules;
    this.#values.validateUpdate(new Correlation(next, old, structure), "", errors);
    checkScale(next, subresources.scale, { spec: true }, errors);
    validateEmbedded(next, structure, "", errors);
    this.#listTypesUpdated(next, old, errors);
    this.#runRules(next, old, errors, context);
  }

  statusUpdated(next: KubeObject, old: KubeObject, errors: FieldErrors, context: StrategyContext): void {
    const { structure, subresources } = this.#rules;
    const correlation = new Correlation(next, old, structure).field("status");
    if (correlation !== undefined) this.#statusValues.validateUpdate(correlation, "status", errors);
    else if (next.status !== undefined && next.status !== null)
      this.#statusValues.validate(next.status, "status", errors);
    checkScale(next, subresources.scale, { spec: false }, errors);
    this.#listTypesUpdated(next, old, errors);
    this.#runRules(next, old, errors, context);
  }

  /** Tolerates duplicates if the stored object has some. */
  #listTypesUpdated(next: KubeObject, old: KubeObject, errors: FieldErrors): void {
    const found = new FieldErrors();
    validateListTypes(next, this.#rules.structure, "", found);
    if (found.empty) return;
    const before = new FieldErrors();
    validateListTypes(old, this.#rules.structure, "", before);
    if (before.empty) errors.causes.push(...found.causes);
  }

  #runRules(object: KubeObject, old: KubeObject | undefined, errors: FieldErrors, { warn }: StrategyContext): void {
    this.#checkRules ??= { check: this.#rules.objectRules?.compile(this.#rules.structure.source) };
    const { check } = this.#checkRules;
    if (check === undefined) return;
    if (errors.causes.some(({ reason }) => blockingReasons.has(reason ?? "")))
      errors.invalid("<nil>", null, notChecked);
    else check(object, old, errors, warn);
  }

  get #values(): ValueValidator {
    this.#validator ??= valueValidator(this.#rules.structure.source);
    return this.#validator;
  }

  get #statusValues(): ValueValidator {
    this.#statusValidator ??= valueValidator(this.#rules.structure.properties.get("status")?.source ?? {});
    return this.#statusValidator;
  }
}

/**
 * Rules are not evaluated after these errors, because expressions expect values of the declared
 * types, and their cost limit assumes the declared sizes.
 */
const blockingReasons = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);
const notChecked =
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

const int32Max = 2 ** 31 - 1;

function checkScale(
  object: KubeObject,
  scale: ScaleSubresource | undefined,
  { spec }: { spec: boolean },
  errors: FieldErrors,
): void {
  if (scale === undefined) return;
  const { specReplicasPath = "", statusReplicasPath = "", labelSelectorPath = "" } = scale;
  if (spec) checkReplicas(object, specReplicasPath, errors);
  checkReplicas(object, statusReplicasPath, errors);
  if (labelSelectorPath !== "") readOrReport(labelSelectorPath, "", errors, () => textAt(object, labelSelectorPath));
}

function checkReplicas(object: KubeObject, path: string, errors: FieldErrors): void {
  const replicas = readOrReport(path, 0, errors, () => integerAt(object, path));
  if (replicas === undefined) return;
  if (replicas < 0) errors.invalid(path, replicas, "should be a non-negative integer");
  else if (replicas > int32Max) errors.invalid(path, replicas, `should be less than or equal to ${int32Max}`);
}

/** @param zero the value that upstream's message shows */
function readOrReport<T>(path: string, zero: unknown, errors: FieldErrors, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof PathTypeError)) throw error;
    errors.invalid(path, zero, error.message);
    return undefined;
  }
}

/**
 * @throws PathTypeError for an object that was stored with another schema and has other types at
 *   the paths
 */
function scaleMapping({
  specReplicasPath = "",
  statusReplicasPath = "",
  labelSelectorPath = "",
}: ScaleSubresource): ScaleMapping {
  return {
    toScale(object) {
      const selector = labelSelectorPath === "" ? "" : textAt(object, labelSelectorPath);
      const status = { replicas: integerAt(object, statusReplicasPath), ...(selector !== "" && { selector }) };
      return scaleOf(object, integerAt(object, specReplicasPath), status);
    },
    applyScale: (object, replicas) => setReplicas(object, specReplicasPath, replicas),
    replicasPath: splitPath(specReplicasPath),
  };
}

/** @throws ApiError 500 InternalError, as in upstream, if a parent in the path is not an object */
function setReplicas(object: KubeObject, path: string, replicas: unknown): void {
  try {
    setAt(object, path, replicas);
  } catch (error) {
    if (error instanceof PathTypeError) throw plainError(error.message);
    throw error;
  }
}

const standardFinalizers = ["orphan", "foregroundDeletion", "kubernetes"];

/** Warns about added finalizers. */
function finalizerWarnings(object: KubeObject, old: KubeObject | undefined): string[] {
  const before = new Set(old?.metadata.finalizers ?? []);
  const added = [...new Set(object.metadata.finalizers ?? [])].filter((finalizer) => !before.has(finalizer)).sort();
  return added.flatMap((finalizer) => {
    const warn = (why: string): string => `metadata.finalizers: ${quoteGo(finalizer)}: ${why}`;
    const warnings = qualifiedNameProblems(finalizer).map(warn);
    if (finalizer.includes("/") || standardFinalizers.includes(finalizer)) return warnings;
    const path = finalizer.includes(".") ? " including a path (/)" : "";
    return [
      ...warnings,
      warn(
        `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`,
      ),
    ];
  });
}
