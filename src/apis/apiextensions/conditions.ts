/**
 * What the server says of a definition: which of its names it got, and whether it is served.
 * Source: k8s.io/apiextensions-apiserver pkg/controller/status, establish, nonstructuralschema, apiapproval
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

/** Names of one group that definitions have been given; a definition's own are among them, and are known by its status. */
export interface UsedNames {
  /** Plurals, singulars and short names. */
  readonly resources: ReadonlySet<string>;
  /** Kinds and kinds of lists. */
  readonly kinds: ReadonlySet<string>;
}

/** @param definitions all of them, with the state that was written last */
export function usedNames(definitions: Iterable<KubeObject>, group: string): UsedNames {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { spec, status } of definitions) {
    if (spec?.group !== group) continue;
    const {
      plural = "",
      singular = "",
      shortNames = [],
      kind = "",
      listKind = "",
    }: DefinitionNames = status?.acceptedNames ?? {};
    for (const name of [plural, singular, ...shortNames]) resources.add(name);
    for (const name of [kind, listKind]) kinds.add(name);
  }
  return { resources, kinds };
}

export interface NamesOutcome {
  readonly acceptedNames: DefinitionNames;
  /** `NamesAccepted`, then `Established`. */
  readonly conditions: readonly [Condition, Condition];
}

/** As many of the names as are free; those it has already, it keeps. Of several conflicts the last is told. */
export function acceptNames(definition: KubeObject, used: UsedNames): NamesOutcome {
  const wanted: DefinitionNames = definition.spec?.names ?? {};
  const had: DefinitionNames = definition.status?.acceptedNames ?? {};
  const accepted: { -readonly [name in keyof DefinitionNames]: DefinitionNames[name] } = { ...had };
  let conflict: Pick<Condition, "reason" | "message"> | undefined;
  const inUse = (name: string, own: string, names: ReadonlySet<string>): boolean => name !== own && names.has(name);
  const accept = (field: "plural" | "singular" | "kind" | "listKind", names: ReadonlySet<string>): void => {
    const name = wanted[field] ?? "";
    if (!inUse(name, had[field] ?? "", names)) accepted[field] = name;
    else
      conflict = { reason: `${field.charAt(0).toUpperCase()}${field.slice(1)}Conflict`, message: alreadyInUse([name]) };
  };
  accept("plural", used.resources);
  accept("singular", used.resources);
  const own = had.shortNames ?? [];
  const taken = (wanted.shortNames ?? []).filter((name) => !own.includes(name) && used.resources.has(name));
  if (taken.length > 0) conflict = { reason: "ShortNamesConflict", message: alreadyInUse(taken) };
  else setOrDelete(accepted, "shortNames", wanted.shortNames);
  accept("kind", used.kinds);
  accept("listKind", used.kinds);
  setOrDelete(accepted, "categories", wanted.categories);
  const names: Condition =
    conflict === undefined
      ? { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" }
      : { type: "NamesAccepted", status: "False", ...conflict };
  return { acceptedNames: accepted, conditions: [names, establishing(definition, names)] };
}

function alreadyInUse(names: readonly string[]): string {
  return joinErrors(names.map((name) => `${quoteGo(name)} is already in use`));
}

function setOrDelete<T extends object, K extends keyof T>(target: T, key: K, value: T[K] | undefined): void {
  if (value === undefined) delete target[key];
  else target[key] = value;
}

/** Once it is established it stays so, whatever becomes of other names. */
function establishing(definition: KubeObject, names: Condition): Condition {
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

/** Said of a definition whose names are accepted, when it is served; one that asks a webhook which cannot be trusted is not. */
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

/** Undefined where all schemas are structural: then there is no such condition. Only definitions of old can be otherwise. */
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

/** Of this many definitions it is remembered. */
const rememberedMax = 10_000;

/** A large schema takes a while to go through, and its definition's status is looked at several times. @returns {@link nonStructural} with a memory */
export function rememberedStructure(): (definition: KubeObject) => Condition | undefined {
  const known = new Map<string, { readonly generation: unknown; readonly condition: Condition | undefined }>();
  return (definition) => {
    const { uid = "", generation } = definition.metadata;
    const before = known.get(uid);
    if (before !== undefined && generation !== undefined && before.generation === generation) return before.condition;
    if (known.size >= rememberedMax) known.clear();
    const condition = nonStructural(definition);
    known.set(uid, { generation, condition });
    return condition;
  };
}

const approvalReasons = {
  approved: "ApprovedAnnotation",
  bypassed: "UnapprovedAnnotation",
  invalid: "InvalidAnnotation",
  missing: "MissingAnnotation",
} as const;

/** Undefined for groups that need none. */
export function approvalCondition(definition: KubeObject): Condition | undefined {
  if (!isProtectedGroup(definition.spec?.group ?? "")) return undefined;
  const { state, reason } = apiApproval(definition);
  const status = state === "approved" ? "True" : "False";
  return { type: "KubernetesAPIApprovalPolicyConformant", status, reason: approvalReasons[state], message: reason };
}

/**
 * The status as it should be, but for being served, which only who serves can say.
 * @param structureOf {@link nonStructural}, or what remembers its answers
 * @returns undefined when it is so already
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
