/**
 * Preparation of new pods and statuses: merged label keys, the condition of gated pods, AppArmor
 * annotations.
 * Sources:
 * `k8s.io/kubernetes@v1.36.0/pkg/registry/core/pod/strategy.go`,
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/core/v1/conversion.go`.
 */
import { formatTime } from "../../../apimachinery/clock.ts";
import type { FeatureGates } from "../../../apimachinery/feature-gates.ts";
import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { deepEqual } from "../../../lib/json/values.ts";
import { items, type Part, struct } from "../../fields.ts";
import { roundResources } from "../resource-list.ts";
import { annotationOf, appArmorPrefix } from "./annotations.ts";
import { validateAppArmorProfile } from "./security-context.ts";
import { visitContainers } from "./visit-containers.ts";

type Labels = Readonly<Record<string, string>>;

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

/** Adds requirements for `matchLabelKeys` and `mismatchLabelKeys` to selectors. */
export function mergeLabelKeys({ metadata, spec }: KubeObject, { enabled }: FeatureGates): void {
  const labels = metadata.labels ?? {};
  for (const affinity of [spec.affinity?.podAffinity, spec.affinity?.podAntiAffinity]) {
    for (const term of items(affinity?.[required])) mergeTerm(term, labels);
    for (const { podAffinityTerm } of items(affinity?.[preferred])) mergeTerm(podAffinityTerm ?? {}, labels);
  }
  if (!spec.topologySpreadConstraints) return;
  if (!enabled("MatchLabelKeysInPodTopologySpread") || !enabled("MatchLabelKeysInPodTopologySpreadSelectorMerge"))
    return;
  for (const constraint of items(spec.topologySpreadConstraints)) mergeKeys(constraint, "matchLabelKeys", "In", labels);
}

function mergeTerm(term: Part, labels: Labels): void {
  mergeKeys(term, "matchLabelKeys", "In", labels);
  mergeKeys(term, "mismatchLabelKeys", "NotIn", labels);
}

function mergeKeys({ labelSelector, ...term }: Part, field: string, operator: "In" | "NotIn", labels: Labels): void {
  if (!labelSelector) return;
  for (const key of term[field] ?? []) {
    if (!Object.hasOwn(labels, key)) continue;
    labelSelector.matchExpressions = [
      ...items(labelSelector.matchExpressions),
      { key, operator, values: [labels[key]] },
    ];
  }
}

/** Sets the condition of a pod with scheduling gates. @param now in milliseconds */
export function addGatedCondition({ spec, status }: KubeObject, now: number): void {
  if (items(spec.schedulingGates).length === 0) return;
  const message = "Scheduling is blocked due to non-empty scheduling gates";
  status.conditions = [
    { type: "PodScheduled", status: "False", lastTransitionTime: formatTime(now), reason: "SchedulingGated", message },
  ];
}

/** Copies AppArmor annotations into fields. @param warn receives a text for each annotation */
export function applyAppArmorAnnotations(
  { metadata: { annotations }, spec }: KubeObject,
  warn: (text: string) => void,
): void {
  if (annotations === undefined || spec.os?.name === "windows") return;
  const ofPod = spec.securityContext?.appArmorProfile;
  visitContainers(spec, "spec", (container) => {
    const key = `${appArmorPrefix}${container.name ?? ""}`;
    const annotation = annotationOf(annotations, key);
    if (annotation === undefined || container.securityContext?.appArmorProfile) return;
    const profile = validProfile(annotation);
    if (profile !== undefined && deepEqual(profile, ofPod)) return;
    if (profile !== undefined) struct(container, "securityContext").appArmorProfile = profile;
    warn(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
  });
}

function validProfile(annotation: string): Part | undefined {
  const profile = profileOf(annotation);
  const errors = new FieldErrors();
  if (profile !== undefined) validateAppArmorProfile(profile, "", errors);
  return errors.empty ? profile : undefined;
}

/** @returns undefined if the annotation names no profile */
export function profileOf(annotation: string): Part | undefined {
  if (annotation === "unconfined") return { type: "Unconfined" };
  if (annotation === "runtime/default") return { type: "RuntimeDefault" };
  const local = annotation.startsWith("localhost/") ? annotation.slice("localhost/".length) : "";
  return local === "" ? undefined : { type: "Localhost", localhostProfile: local };
}

/** Drops `observedGeneration` of the status and its conditions, unless the old status has any. */
export function dropObservedGenerations(next: Part, old: Part): void {
  const isTracked = (part: Part): boolean => Boolean(part.observedGeneration);
  if ([old, ...items(old.conditions)].some(isTracked)) return;
  for (const part of [next, ...items(next.conditions)]) delete part.observedGeneration;
}

/** Keeps `observedGeneration`, which older kubelets do not send. */
export function keepObservedGenerations(next: Part, old: Part): void {
  if (!next.observedGeneration && old.observedGeneration) next.observedGeneration = old.observedGeneration;
  // In reverse order, so that pop() returns the first.
  const before = new Map<string, unknown[]>();
  for (const { type, observedGeneration } of items(old.conditions).toReversed()) {
    const generations = before.get(type);
    if (generations === undefined) before.set(type, [observedGeneration]);
    else generations.push(observedGeneration);
  }
  for (const condition of items(next.conditions)) {
    const generation = before.get(condition.type)?.pop();
    if (!condition.observedGeneration && generation) condition.observedGeneration = generation;
  }
}

/** `podIP` is the first of `podIPs`. If they differ, `podIP` wins. */
export function setStatusDefaults(status: Part): void {
  const { podIP = "" } = status;
  const first = items(status.podIPs)[0];
  if (podIP !== "" && (first?.ip ?? "") !== podIP) status.podIPs = [{ ip: podIP }];
  else if (first?.ip) status.podIP = first.ip;
  roundStatus(status);
  for (const field of ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"])
    for (const each of items(status[field])) roundStatus(each);
}

/** Rounds the resources of a pod or container status. */
function roundStatus({ allocatedResources, resources }: Part): void {
  for (const list of [allocatedResources, resources?.limits, resources?.requests]) roundResources(list);
}
