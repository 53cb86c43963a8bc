/**
 * The plugin LimitRanger sets the default requests and limits of a namespace's LimitRanges in new
 * pods, and rejects pods and claims beyond their bounds.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/limitranger/admission.go.
 */
import type { FeatureGates } from "../../../apimachinery/feature-gates.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Catalog } from "../../../catalog/contract.ts";
import { formatQuantity } from "../../../lib/quantity/quantity.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../../contract.ts";
import { readyStore } from "../../ready-store.ts";
import { rejection } from "../../rejection.ts";
import { claimProblems, joinProblems, podProblems } from "./check.ts";
import { type Bound, type LimitItem, type Limits, limitsReader } from "./limits.ts";

const name = "LimitRanger";

/** @returns the plugin LimitRanger */
export function limitRanger(catalog: Pick<Catalog, "findResource">, gates: FeatureGates): AdmissionPlugin {
  const read = limitsReader();
  const podLevel = gates.enabled("PodLevelResources");
  const limitsIn = async (namespace: string): Promise<Limits[]> => {
    const store = await readyStore(catalog, { group: "", resource: "limitranges" });
    if (store === undefined) return [];
    return [...store.cache.latest().range(store.keyOf(namespace, ""))].map((entry) => read(store, entry));
  };
  const setDefaults = async (pod: KubeObject, namespace: string): Promise<void> => {
    for (const limits of await limitsIn(namespace)) setDefaultResources(pod, limits);
  };
  const check = async (attributes: AdmissionAttributes, object: KubeObject, kind: string): Promise<void> => {
    for (const limits of await limitsIn(attributes.namespace)) {
      const problems = kind === "pods" ? podProblems(object, limits, podLevel) : claimProblems(object, limits);
      rejectProblems(attributes, limits, problems);
    }
  };
  return {
    name,
    mutate(attributes) {
      const { object, namespace } = attributes;
      if (limitedKind(attributes) === "pods" && object !== undefined) return setDefaults(object, namespace);
    },
    validate(attributes) {
      const { object } = attributes;
      const kind = limitedKind(attributes);
      if (kind !== undefined && object !== undefined) return check(attributes, object, kind);
    },
  };
}

/**
 * Updates of pods cannot change resources, except by the subresource `resize`. Objects that are
 * being deleted have no limits.
 */
function limitedKind({ operation, target, subresource, oldObject }: AdmissionAttributes): string | undefined {
  if (operation !== "CREATE" && operation !== "UPDATE") return undefined;
  const { group, resource } = target.resource.definition;
  if (group !== "" || !(resource === "pods" || resource === "persistentvolumeclaims")) return undefined;
  const isLimited = operation === "UPDATE" && resource === "pods" ? subresource === "resize" : subresource === "";
  return isLimited && !isTerminating(oldObject) ? resource : undefined;
}

function isTerminating(object: KubeObject | undefined): boolean {
  return object?.metadata.deletionTimestamp !== undefined;
}

function rejectProblems(attributes: AdmissionAttributes, limits: Limits, problems: readonly string[]): void {
  if (problems.length === 0) return;
  attributes.trace?.add({
    plugin: name,
    phase: "validating",
    part: limits.name,
    objects: [
      { group: "", version: "v1", resource: "limitranges", namespace: attributes.namespace, name: limits.name },
    ],
    outcome: "rejected",
    message: describeAllowed(limits),
    seconds: 0,
  });
  throw rejection(attributes, joinProblems(problems));
}

/** @returns such as `allowed per Container: cpu from 100m to 2, limit at most 4 times the request` */
function describeAllowed({ items }: Limits): string {
  return items
    .filter((item) => item.min.length + item.max.length + item.maxRatio.length > 0)
    .map((item) => `allowed per ${item.type}: ${describeItem(item)}`)
    .join("; ");
}

function describeItem({ min, max, maxRatio }: LimitItem): string {
  const resources = [...new Set([...min, ...max, ...maxRatio].map(({ resource }) => resource))].sort();
  return resources
    .map((resource) => {
      const [from, to, ratio] = [textOf(min, resource), textOf(max, resource), textOf(maxRatio, resource)];
      const range = [...(from === undefined ? [] : [`from ${from}`]), ...(to === undefined ? [] : [`to ${to}`])];
      const times = ratio === undefined ? [] : [`limit at most ${ratio} times the request`];
      return `${resource} ${[...(range.length === 0 ? [] : [range.join(" ")]), ...times].join(", ")}`;
    })
    .join("; ");
}

function textOf(bounds: readonly Bound[], resource: string): string | undefined {
  const bound = bounds.find((each) => each.resource === resource);
  return bound && formatQuantity(bound.amount.quantity);
}

const annotation = "kubernetes.io/limit-ranger";

/** Sets what containers lack, and lists it in the annotation `kubernetes.io/limit-ranger`. */
function setDefaultResources({ metadata, spec }: KubeObject, limits: Limits): void {
  if (limits.defaultRequests.length === 0 && limits.defaultLimits.length === 0) return;
  const changes: string[] = [];
  for (const container of spec?.containers ?? []) changes.push(...setInContainer(container, "container", limits));
  for (const container of spec?.initContainers ?? [])
    changes.push(...setInContainer(container, "init container", limits));
  if (changes.length === 0) return;
  metadata.annotations ??= {};
  metadata.annotations[annotation] = `LimitRanger plugin set: ${changes.join("; ")}`;
}

interface Container {
  readonly name: string;
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
}

/** @returns a description of what was set */
function setInContainer(container: Container, title: string, limits: Limits): string[] {
  const set = (field: "requests" | "limits", defaults: Limits["defaultLimits"]): string[] => {
    const missing = defaults.filter(([resource]) => !Object.hasOwn(container.resources?.[field] ?? {}, resource));
    if (missing.length === 0) return [];
    container.resources ??= {};
    container.resources[field] = { ...container.resources[field], ...Object.fromEntries(missing) };
    const names = missing.map(([resource]) => resource).join(", ");
    return [`${names} ${field === "requests" ? "request" : "limit"} for ${title} ${container.name}`];
  };
  return [...set("requests", limits.defaultRequests), ...set("limits", limits.defaultLimits)];
}
