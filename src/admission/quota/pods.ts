/**
 * What a pod uses: its requests and limits, unless it has ended.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/quota/v1/evaluator/core/pods.go.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { isExtendedResource, isHugePages, isNativeResource } from "../../apis/core/pod/resource-names.ts";
import { items, type Part } from "../../apis/fields.ts";
import type { Quantity } from "../../lib/quantity/quantity.ts";
import { one } from "./amounts.ts";
import type { Amounts, Evaluator } from "./contract.ts";
import { hasPodLevelResources, podLimits, podRequests } from "./pod-amounts.ts";
import { isPodInScope, isTerminating } from "./pod-scopes.ts";

const compute = ["cpu", "memory", "ephemeral-storage"];
const names = new Set([
  "count/pods",
  "pods",
  ...compute.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);
/** Pods must specify these if a quota limits them. */
const required = new Set(["cpu", "memory"].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]));
/** The prefix of the implicit extended resource of a device class. */
const deviceClass = "deviceclass.resource.kubernetes.io/";

interface PodOptions {
  readonly clock: Pick<Clock, "now">;
  readonly gates: FeatureGates;
}

/** Creates the evaluator of pods. */
export function pods({ clock, gates }: PodOptions): Evaluator {
  return {
    handles({ operation, subresource, object, oldObject }) {
      if (subresource === "resize") return operation === "UPDATE";
      if (subresource !== "") return false;
      return operation === "CREATE" || (oldObject !== undefined && isTerminating(object) !== isTerminating(oldObject));
    },
    matches: isPodResource,
    isInScope: isPodInScope,
    findMissing(limited, { spec }) {
      if (gates.enabled("PodLevelResources") && hasPodLevelResources(spec)) return undefined;
      return findMissing(limited, spec);
    },
    usageOf: (pod) => podUsage(pod, clock.now()),
  };
}

function isPodResource(name: string): boolean {
  return names.has(name) || isHugePages(name) || name.startsWith("requests.hugepages-") || isExtendedForQuota(name);
}

/** Whether a quota with the name limits an extended resource. */
export function isExtendedForQuota(name: string): boolean {
  return name.startsWith("requests.") && (!isNativeResource(name) || name.startsWith(`requests.${deviceClass}`));
}

/** @returns `must specify limits.cpu for: a,b; …` */
function findMissing(limited: readonly string[], spec: Part): string | undefined {
  const needed = limited.filter((name) => required.has(name)).sort();
  if (needed.length === 0) return undefined;
  const containers = [...items(spec.containers), ...items(spec.initContainers)];
  const missing = needed.flatMap((name) => {
    const without = containers.filter((container) => !specifies(container, name)).map((container) => container.name);
    return without.length === 0 ? [] : [`${name} for: ${[...new Set(without)].sort().join(",")}`];
  });
  return missing.length === 0 ? undefined : `must specify ${missing.join("; ")}`;
}

function specifies({ resources }: Part, name: string): boolean {
  const list = name.startsWith("limits.") ? resources?.limits : resources?.requests;
  return Object.hasOwn(list ?? {}, name.replace(/^(requests|limits)\./, ""));
}

/** All pods are counted as objects; ended ones use nothing else. */
export function podUsage(pod: KubeObject, now: number): Amounts {
  const usage = new Map<string, Quantity>([["count/pods", one]]);
  if (hasEnded(pod, now)) return usage;
  usage.set("pods", one);
  for (const [name, amount] of podRequests(pod)) addRequest(usage, name, amount);
  for (const [name, amount] of podLimits(pod)) if (compute.includes(name)) usage.set(`limits.${name}`, amount);
  return usage;
}

function addRequest(usage: Map<string, Quantity>, name: string, amount: Quantity): void {
  if (compute.includes(name) || isHugePages(name)) {
    usage.set(name, amount);
    usage.set(`requests.${name}`, amount);
  }
  if (isExtendedResource(name) || name.startsWith(deviceClass)) usage.set(`requests.${name}`, amount);
}

/** Whether a pod is in a final phase, or remains although its grace period is over. */
function hasEnded({ metadata, status }: KubeObject, now: number): boolean {
  if (status?.phase === "Failed" || status?.phase === "Succeeded") return true;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false;
  return now > Date.parse(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000;
}
