/**
 * PersistentVolumeClaims are protected while scheduled pods use them. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/volume/pvcprotection/pvc_protection_controller.go`.
 */

import { formatTime } from "../../apimachinery/clock.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { claimProtection } from "../../apimachinery/protection-finalizers.ts";
import type { ResourceStore } from "../../catalog/contract.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import { protectionController } from "./protection.ts";
import { type Reference, some } from "./uses.ts";

/** How a pod uses a claim. */
export interface ClaimUse {
  /** The uid of the pod if the claim was made for its ephemeral volume. */
  readonly owner: string | undefined;
  /** Whether the claim must stay. Pods that are not scheduled cannot start with a deleted claim. */
  readonly protects: boolean;
  /** Whether the pod has not ended. */
  readonly isActive: boolean;
}

/**
 * Creates the controller `persistentvolumeclaim-protection-controller`.
 *
 * @param tracksUnused the gate PersistentVolumeClaimUnusedSinceTime
 */
export function claimProtectionController(options: ControllerOptions, tracksUnused: boolean): Controller {
  return protectionController<ClaimUse>(options, {
    group: "",
    version: "v1",
    resource: "persistentvolumeclaims",
    finalizer: claimProtection,
    addsFinalizer: true,
    writer: "pvc-protection-controller",
    queue: "pvcprotection",
    users: [
      { group: "", resource: "pods", marks: ['"persistentVolumeClaim":{', '"ephemeral":{'], references: claimsOfPod },
    ],
    isUsed: (claim, uses) => some(uses, (use) => use.protects && isFor(use, claim)),
    updateStatus: tracksUnused
      ? (claim, uses, now) =>
          updateUnused(
            claim,
            some(uses, (use) => use.isActive && isFor(use, claim)),
            now,
          )
      : undefined,
  });
}

/** A claim with the name of an ephemeral volume is that volume's only if the pod controls it. */
function isFor({ owner }: ClaimUse, { metadata }: KubeObject): boolean {
  return owner === undefined || metadata.ownerReferences?.find(({ controller }) => controller)?.uid === owner;
}

function claimsOfPod({ metadata, spec = {}, status = {} }: KubeObject, store: ResourceStore): Reference<ClaimUse>[] {
  const { namespace = "", name = "", uid } = metadata;
  const isScheduled = (spec.nodeName ?? "") !== "";
  const isActive = !hasEnded(metadata, status);
  return (spec.volumes ?? []).flatMap((volume: KubeObject["spec"]): Reference<ClaimUse>[] => {
    const claim: string | undefined = volume.persistentVolumeClaim?.claimName;
    if (claim !== undefined)
      return [[store.keyOf(namespace, claim), { owner: undefined, protects: isScheduled, isActive }]];
    if (volume.ephemeral === undefined) return [];
    const protects = isScheduled && !isShutDown(metadata);
    return [[store.keyOf(namespace, `${name}-${volume.name}`), { owner: uid, protects, isActive }]];
  });
}

/** Whether only the removal of the pod is missing: the kubelet has finished, or was bypassed. */
function isShutDown({ deletionTimestamp, deletionGracePeriodSeconds }: KubeObject["metadata"]): boolean {
  return deletionTimestamp !== undefined && Number(deletionGracePeriodSeconds ?? -1) === 0;
}

interface ContainerStatus {
  readonly state?: { readonly terminated?: object; readonly waiting?: object };
}

function hasEnded({ deletionTimestamp }: KubeObject["metadata"], status: KubeObject["status"]): boolean {
  if (status.phase === "Failed" || status.phase === "Succeeded") return true;
  const containers: ContainerStatus[] = [
    "initContainerStatuses",
    "containerStatuses",
    "ephemeralContainerStatuses",
  ].flatMap((field) => status[field] ?? []);
  const isRunning = ({ state }: ContainerStatus): boolean =>
    state?.terminated === undefined && state?.waiting === undefined;
  return deletionTimestamp !== undefined && !containers.some(isRunning);
}

/**
 * Sets the condition `Unused` (KEP-5541) if it is absent or differs: since when no pod uses the claim.
 *
 * @param now milliseconds since 1970
 * @returns whether the claim has changed
 */
function updateUnused(claim: KubeObject, isUsed: boolean, now: number): boolean {
  const conditions: { type: string; status: string }[] = claim.status?.conditions ?? [];
  const existing = conditions.find(({ type }) => type === "Unused");
  const status = isUsed ? "False" : "True";
  // An unknown status of a used claim stays.
  if (existing !== undefined && (isUsed ? existing.status !== "True" : existing.status === "True")) return false;
  const condition = {
    type: "Unused",
    status,
    lastTransitionTime: formatTime(now),
    ...(isUsed
      ? { reason: "PodUsingPVC", message: "A pod is currently referencing this PVC" }
      : { reason: "NoPodsUsingPVC", message: "No pods are currently referencing this PVC" }),
  };
  claim.status = {
    ...claim.status,
    conditions: [...conditions.map((each) => (each === existing ? condition : each)), ...(existing ? [] : [condition])],
  };
  return true;
}
