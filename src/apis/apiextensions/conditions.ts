/**
 * Computes the status of a definition: its accepted names, and its conditions.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/controller/status/naming_controller.go,
 *         k8s.io/apiextensions-apiserver@v0.36.0/pkg/controller/establish/establishing_controller.go,
 *         k8s.io/apiextensions-apiserver@v0.36.0/pkg/controller/nonstructuralschema/nonstructuralschema_controller.go,
 *         k8s.io/apiextensions-apiserver@v0.36.0/pkg/controller/apiapproval/apiapproval_controller.go
 */
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { joinErrors, quoteGo } from "../../lib/json/quote.ts";
import { cloneJson, deepEqual } from "../../lib/json/values.ts";
import { NotStructuralError, parseStructuralSchema } from "../../lib/structural-schema/structural-schema.ts";
import { apiApproval, isProtectedGroup } from "./api-approval.ts";
import { caBundleProblem } from "./ca-bundle.ts";
import { type Condition, findCondition, setCondition } from "./condition-list.ts";
import type { DefinitionNames, DefinitionSpec } from "./definition.ts";
import { checkStructural } from "./structural-rules.ts";

/**
 * The accepted names of all definitions of one group, including those of the definition that is
 * checked.
 */
export interface UsedNames {
  /** Plurals, singulars and short names. */
  readonly resources: NameSet;
  /** Kinds and list kinds. */
  readonly kinds: NameSet;
}

type NameSet = Pick<ReadonlySet<string>, "has">;

/** The accepted names of a definition, as those of {@link UsedNames}. */
export function heldNames({ spec, status }: KubeObject) {
  const {
    plural = "",
    singular = "",
    shortNames = [],
    kind = "",
    listKind = "",
  }: DefinitionNames = status?.acceptedNames ?? {};
  const group: string = spec?.group ?? "";
  const waits = !deepEqual(spec?.names, status?.acceptedNames);
  return { group, resources: [plural, singular, ...shortNames], kinds: [kind, listKind], waits };
}

interface NamesOutcome {
  readonly acceptedNames: DefinitionNames;
  /** The conditions `NamesAccepted` and `Established`. */
  readonly conditions: readonly [Condition, Condition];
}

/**
 * Accepts each name that is free or accepted already. The condition reports the last of several
 * conflicts.
 */
export function acceptNames(definition: KubeObject, used: UsedNames): NamesOutcome {
  const desired: DefinitionNames = definition.spec?.names ?? {};
  const current: DefinitionNames = definition.status?.acceptedNames ?? {};
  const accepted: { -readonly [name in keyof DefinitionNames]: DefinitionNames[name] } = { ...current };
  let conflict: Pick<Condition, "reason" | "message"> | undefined;
  const inUse = (name: string, own: string, names: NameSet): boolean => name !== own && names.has(name);
  const accept = (field: "plural" | "singular" | "kind" | "listKind", names: NameSet): void => {
    const name = desired[field] ?? "";
    if (!inUse(name, current[field] ?? "", names)) accepted[field] = name;
    else
      conflict = { reason: `${field.charAt(0).toUpperCase()}${field.slice(1)}Conflict`, message: alreadyInUse([name]) };
  };
  accept("plural", used.resources);
  accept("singular", used.resources);
  const own = current.shortNames ?? [];
  const conflicts = (desired.shortNames ?? []).filter((name) => !own.includes(name) && used.resources.has(name));
  if (conflicts.length > 0) conflict = { reason: "ShortNamesConflict", message: alreadyInUse(conflicts) };
  else setOrDelete(accepted, "shortNames", desired.shortNames);
  accept("kind", used.kinds);
  accept("listKind", used.kinds);
  setOrDelete(accepted, "categories", desired.categories);
  const names: Condition =
    conflict === undefined
      ? { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" }
      : { type: "NamesAccepted", status: "False", ...conflict };
  return { acceptedNames: accepted, conditions: [names, establishedCondition(definition, names)] };
}

function alreadyInUse(names: readonly string[]): string {
  return joinErrors(names.map((name) => `${quoteGo(name)} is already in use`));
}

function setOrDelete<T extends object, K extends keyof T>(target: T, key: K, value: T[K] | undefined): void {
  if (value === undefined) delete target[key];
  else target[key] = value;
}

/** An established definition stays established, even when its new names conflict. */
function establishedCondition(definition: KubeObject, names: Condition): Condition {
  const before = findCondition(definition, "Established");
  if (before?.status !== "True" && names.status === "True") {
    return {
      type: "Established",
      status: "False",
      reason: "Installing",
      message: "the initial names have been accepted",
    };
  }
  return (
    before ?? { type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" }
  );
}

/**
 * The condition `Established` of a definition that the server starts to serve. It is False when the
 * CA bundle of the conversion webhook is invalid.
 *
 * @param definition whose names are accepted
 */
export function establish(definition: KubeObject): Condition {
  const spec: DefinitionSpec = definition.spec ?? {};
  const bundle = spec.conversion?.webhook?.clientConfig?.caBundle ?? "";
  if (bundle !== "" && caBundleProblem(bundle) !== undefined) {
    return {
      type: "Established",
      status: "False",
      reason: "InvalidCABundle",
      message: "The conversion webhook CABundle is invalid",
    };
  }
  return {
    type: "Established",
    status: "True",
    reason: "InitialNamesAccepted",
    message: "the initial names have been accepted",
  };
}

/**
 * The condition `NonStructuralSchema`, which only definitions of older releases can have.
 *
 * @returns undefined if all schemas are structural
 */
export function nonStructural(definition: KubeObject): Condition | undefined {
  const spec: DefinitionSpec = definition.spec ?? {};
  const errors = new FieldErrors();
  if (spec.preserveUnknownFields === true) errors.invalid("spec.preserveUnknownFields", true, "must be false");
  for (const [index, { name = "", schema }] of (spec.versions ?? []).entries()) {
    const source = schema?.openAPIV3Schema;
    if (source === undefined) continue;
    try {
      parseStructuralSchema(source);
    } catch (error) {
      if (!(error instanceof NotStructuralError)) throw error;
      const message = `failed to check validation schema for version ${name}: ${error.message}`;
      return { type: "NonStructuralSchema", status: "Unknown", reason: "StructuralError", message };
    }
    checkStructural(source, `spec.versions[${index}].schema.openAPIV3Schema`, errors);
  }
  if (errors.empty) return undefined;
  return { type: "NonStructuralSchema", status: "True", reason: "Violations", message: errors.text };
}

/** Number of cached results. */
const cachedMax = 10_000;

/**
 * Caches the results of {@link nonStructural} by uid and generation, because a large schema is
 * expensive to check and the status of its definition is computed several times.
 */
export function cachedNonStructural(): (definition: KubeObject) => Condition | undefined {
  const cached = new Map<string, { readonly generation: unknown; readonly condition: Condition | undefined }>();
  return (definition) => {
    const { uid = "", generation } = definition.metadata;
    const before = cached.get(uid);
    if (before !== undefined && generation !== undefined && before.generation === generation) return before.condition;
    if (cached.size >= cachedMax) cached.clear();
    const condition = nonStructural(definition);
    cached.set(uid, { generation, condition });
    return condition;
  };
}

const approvalReasons = {
  approved: "ApprovedAnnotation",
  bypassed: "UnapprovedAnnotation",
  invalid: "InvalidAnnotation",
  missing: "MissingAnnotation",
} as const;

/** @returns undefined for groups that need no approval */
export function approvalCondition(definition: KubeObject): Condition | undefined {
  if (!isProtectedGroup(definition.spec?.group ?? "")) return undefined;
  const { state, reason } = apiApproval(definition);
  const status = state === "approved" ? "True" : "False";
  return { type: "KubernetesAPIApprovalPolicyConformant", status, reason: approvalReasons[state], message: reason };
}

/**
 * Computes the status. It never sets `Established` to True, because only the server knows when it
 * serves the kind.
 *
 * @param now milliseconds since the Unix epoch
 * @param structureOf {@link nonStructural} or a cache of its results
 * @returns undefined if the status is up to date
 */
export function nextStatus(
  definition: KubeObject,
  used: UsedNames,
  now: number,
  structureOf = nonStructural,
): KubeObject["status"] {
  const next: KubeObject = { ...definition, status: cloneJson(definition.status ?? {}) };
  let changed = false;
  if (!deepEqual(definition.spec?.names, definition.status?.acceptedNames)) {
    const { acceptedNames, conditions } = acceptNames(definition, used);
    changed = !deepEqual(acceptedNames, next.status.acceptedNames);
    next.status.acceptedNames = acceptedNames;
    for (const condition of conditions) changed = setCondition(next, condition, now) || changed;
  }
  const structure = structureOf(definition);
  if (structure !== undefined) changed = setCondition(next, structure, now) || changed;
  else if (findCondition(next, "NonStructuralSchema") !== undefined) {
    next.status.conditions = next.status.conditions.filter(({ type }: Condition) => type !== "NonStructuralSchema");
    changed = true;
  }
  const approval = approvalCondition(definition);
  if (approval !== undefined) changed = setCondition(next, approval, now) || changed;
  return changed ? next.status : undefined;
}
