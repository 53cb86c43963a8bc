/**
 * Job: selects its pods by its own uid, unless `spec.manualSelector` is true.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/batch/validation/validation.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/batch/job/strategy.go
 */
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateMetaAgain, validateMetaChangesAgain } from "../../apimachinery/validation/metadata.ts";
import { strategy } from "../../catalog/strategy.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../lib/names/names.ts";
import { workloadCells } from "../column.ts";
import type { PodOptions } from "../core/pod/options.ts";
import { setTemplateDefaults, templateOptions } from "../core/pod/workload-template.ts";
import { checkImmutable, items, type Part, selectable, setAbsent, struct } from "../fields.ts";
import { byName, isSoundSelector, selects, shownSelector, validateLabelSelector } from "../label-selector.ts";
import { checkSelected, checkSelectorUnchanged, podNameWarnings, takeTemplateLabels } from "../workload.ts";
import { jobColumns } from "./columns.ts";
import { failurePolicyInGo, successPolicyInGo } from "./job-policies.ts";
import { jobSpecWarnings, validateJobSpec } from "./job-spec.ts";
import { validateJobStatus } from "./job-status.ts";
import { checkTemplateUnchanged } from "./job-template.ts";

const int32Max = 2 ** 31 - 1;

const legacyLabels = { uid: "controller-uid", name: "job-name" };
const ownLabels = { uid: "batch.kubernetes.io/controller-uid", name: "batch.kubernetes.io/job-name" };

/** Generates the selector of a new job. */
export const job = strategy({
  columns: jobColumns,
  cellPaths: [...workloadCells, "spec.completions", "spec.parallelism"],
  hasGeneration: true,
  orphansByDefault: {
    warning:
      "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
  },
  selectableFields: { "status.successful": (object) => selectable("status.succeeded")(object) || "0" },
  setDefaults(object) {
    setJobSpecDefaults(struct(object, "spec"));
    const labels = object.spec.template.metadata?.labels;
    // Both fields share the labels until `selectByUid` adds the generated ones.
    if (labels && Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata.labels = labels;
  },
  setStoredDefaults: takeTemplateLabels, // A write of the status may omit the labels.
  prepareForCreate(object) {
    delete object.status;
    if (object.spec.manualSelector !== true) selectByUid(object);
    takeTemplateLabels(object);
  },
  validate: (object, errors, context) => validate(object, true, templateOptions(context), errors),
  repeatsMetaRules: false,
  validateUpdate(next, old, errors, context) {
    const options = templateOptions(context, old.spec.template);
    const labels = old.spec.template?.metadata?.labels ?? {};
    validateMetaAgain(next.metadata, { namespaced: true, validateName: dnsSubdomainProblems }, errors);
    validate(
      next,
      Object.values(ownLabels).every((name) => Object.hasOwn(labels, name)),
      options,
      errors,
    );
    validateMetaChangesAgain(next.metadata, old.metadata, errors);
    validateSpec(next, options, errors);
    checkUnchanged(next, old, context.gates, errors);
  },
  validateStatusUpdate(next, old, errors) {
    validateMetaChangesAgain(next.metadata, old.metadata, errors);
    validateJobStatus(next, old, errors);
  },
  warnings: (object, old) => [
    ...podNameWarnings(object, old),
    ...(object.metadata.generation === old?.metadata.generation ? [] : jobSpecWarnings(object.spec, "spec")),
  ],
});

function setJobSpecDefaults(spec: Part): void {
  if (spec.parallelism === undefined && spec.completions === undefined) spec.completions = 1;
  const { podFailurePolicy } = spec;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : int32Max;
  spec.completionMode ??= "NonIndexed";
  spec.suspend ??= false;
  spec.manualSelector ??= false;
  spec.podReplacementPolicy ??= podFailurePolicy ? "Failed" : "TerminatingOrFailed";
  setTemplateDefaults(spec);
  setConditionDefaults(podFailurePolicy);
}

/** @param policy the pod failure policy of a job's spec */
export function setConditionDefaults(policy: Part | undefined): void {
  for (const rule of items(policy?.rules))
    for (const pattern of items(rule.onPodConditions)) setAbsent(pattern, { status: "True" });
}

/**
 * Adds the job's unique uid to the labels and the selector; the unprefixed labels are for older
 * clients.
 */
function selectByUid(object: KubeObject): void {
  const { uid = "", name = "" } = object.metadata;
  const labels = struct(struct(object.spec.template, "metadata"), "labels");
  const areShared = object.metadata.labels === labels;
  for (const [label, value] of [
    [ownLabels.uid, uid],
    [ownLabels.name, name],
    [legacyLabels.uid, uid],
    [legacyLabels.name, name],
  ] as const) {
    labels[label] ??= value;
  }
  if (areShared) object.metadata.labels = { ...labels };
  struct(struct(object.spec, "selector"), "matchLabels")[ownLabels.uid] ??= uid;
}

/**
 * @param hasOwnLabels whether the prefixed labels are required too, and not only those of older
 *   releases
 */
function validate(object: KubeObject, hasOwnLabels: boolean, options: PodOptions, errors: FieldErrors): void {
  checkGenerated(object, hasOwnLabels, errors);
  validateSpec(object, options, errors);
  const { completionMode, completions = 0 } = object.spec;
  if (completionMode !== "Indexed" || completions <= 0) return;
  const { name = "" } = object.metadata;
  const lastPod = `${name}-${completions - 1}`;
  if (dnsLabelProblems(lastPod).length > 0) {
    errors.invalid("metadata.name", name, `will not able to create pod with invalid DNS label: ${lastPod}`);
  }
}

/**
 * Unless `manualSelector` is true, the template must have the generated labels, and the selector
 * must select them.
 */
function checkGenerated({ metadata, spec }: KubeObject, hasOwnLabels: boolean, errors: FieldErrors): void {
  const { manualSelector, selector, template } = spec;
  if (manualSelector === true || !selector) return;
  const { uid = "", name = "" } = metadata;
  if (uid === "") errors.required("metadata.uid");
  const names = hasOwnLabels ? [legacyLabels, ownLabels] : [legacyLabels];
  const expected = names.flatMap((labels): [label: string, value: string][] => [
    [labels.uid, uid],
    [labels.name, name],
  ]);
  const labels: Part = template?.metadata?.labels ?? {};
  for (const [label, value] of expected) {
    const path = `spec.template.metadata.labels[${label}]`;
    if (!Object.hasOwn(labels, label)) errors.required(path, `must be '${value}'`);
    else if (labels[label] !== value) errors.invalid(path, byName(labels), `must be '${value}'`);
  }
  if (isSoundSelector(selector) && !selects(selector, Object.fromEntries(expected))) {
    errors.invalid("spec.selector", shownSelector(selector), "`selector` not auto-generated");
  }
}

function validateSpec(object: KubeObject, options: PodOptions, errors: FieldErrors): void {
  const { spec } = object;
  validateJobSpec(spec, "spec", options, errors);
  if (!spec.selector) errors.required("spec.selector");
  else validateLabelSelector(spec.selector, "spec.selector", errors);
  if (!spec.selector || isSoundSelector(spec.selector)) checkSelected(object, errors);
}

function checkUnchanged(next: KubeObject, old: KubeObject, gates: FeatureGates, errors: FieldErrors): void {
  checkCompletions(next.spec, old.spec, errors);
  checkSelectorUnchanged(next, old, errors);
  checkTemplateUnchanged(next, old, gates, errors);
  checkImmutable(next.spec.completionMode, old.spec.completionMode, "spec.completionMode", errors);
  for (const [field, inGo] of [
    ["podFailurePolicy", failurePolicyInGo],
    ["backoffLimitPerIndex", undefined],
    ["managedBy", undefined],
    ["successPolicy", successPolicyInGo],
  ] as const) {
    const value = next.spec[field] ?? null;
    if (!isSame(value, old.spec[field] ?? null))
      errors.invalid(`spec.${field}`, inGo === undefined ? value : inGo(value), "field is immutable");
  }
}

/** An empty value differs from an absent one. */
const isSame = (next: unknown, old: unknown): boolean => (next === null) === (old === null) && deepEqual(next, old);

/** An Indexed job is elastic: its completions may change together with an equal parallelism. */
function checkCompletions({ completionMode, completions, parallelism }: Part, old: Part, errors: FieldErrors): void {
  if (completionMode !== "Indexed") return checkImmutable(completions, old.completions, "spec.completions", errors);
  if (completions === undefined || completions === old.completions || completions === parallelism) return;
  errors.invalid("spec.completions", completions, "can only be modified in tandem with spec.parallelism");
}
