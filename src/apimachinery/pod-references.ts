/**
 * Finds the objects that a node must read to run a pod. Source: the fields of PodSpec that name
 * objects; k8s.io/kubernetes@v1.36.0/pkg/api/v1/pod/util.go.
 */

import { firstByKey } from "../lib/first-by-key/first-by-key.ts";
import type { KubeObject } from "./object.ts";

/** The kinds that a pod can refer to, in the singular. */
export type ReferredKind = "secret" | "configmap" | "persistentvolumeclaim" | "serviceaccount" | "resourceclaim";

// biome-ignore lint/suspicious/noExplicitAny: the schema has checked the types.
type Part = Record<string, any>;

/** Volume sources that refer to a secret, and the field that names it. */
const secretSources: readonly (readonly [source: string, field: string])[] = [
  ["azureFile", "secretName"],
  ["cephfs", "secretRef"],
  ["cinder", "secretRef"],
  ["csi", "nodePublishSecretRef"],
  ["flexVolume", "secretRef"],
  ["iscsi", "secretRef"],
  ["rbd", "secretRef"],
  ["scaleIO", "secretRef"],
  ["secret", "secretName"],
  ["storageos", "secretRef"],
];

/** The annotation that marks a pod as a mirror pod. */
export const mirrorAnnotation = "kubernetes.io/config.mirror";

/** Whether a kubelet created the pod to represent a static pod. */
export function isMirrorPod({ metadata }: KubeObject): boolean {
  return metadata.annotations !== undefined && Object.hasOwn(metadata.annotations, mirrorAnnotation);
}

/** Yields the objects by kind and name; all are in the namespace of the pod. */
export function* podReferences({
  metadata,
  spec = {},
  status = {},
}: KubeObject): Generator<readonly [kind: ReferredKind, name: string]> {
  if ((spec.serviceAccountName ?? "") !== "") yield ["serviceaccount", spec.serviceAccountName];
  for (const { name } of list(spec.imagePullSecrets)) yield* named("secret", name);
  for (const field of ["initContainers", "containers", "ephemeralContainers"])
    for (const each of list(spec[field])) yield* ofContainer(each);
  for (const volume of list(spec.volumes)) yield* ofVolume(volume, metadata.name ?? "");
  yield* ofClaims(spec, status);
}

function* ofContainer({ env, envFrom }: Part): Generator<readonly [ReferredKind, string]> {
  for (const { valueFrom = {} } of list(env)) {
    yield* named("secret", valueFrom.secretKeyRef?.name);
    yield* named("configmap", valueFrom.configMapKeyRef?.name);
  }
  for (const { secretRef, configMapRef } of list(envFrom)) {
    yield* named("secret", secretRef?.name);
    yield* named("configmap", configMapRef?.name);
  }
}

function* ofVolume(volume: Part, pod: string): Generator<readonly [ReferredKind, string]> {
  for (const [source, field] of secretSources) {
    const value: unknown = volume[source]?.[field];
    yield* named("secret", typeof value === "string" ? value : (value as Part | undefined)?.name);
  }
  yield* named("configmap", volume.configMap?.name);
  for (const { secret, configMap } of list(volume.projected?.sources)) {
    yield* named("secret", secret?.name);
    yield* named("configmap", configMap?.name);
  }
  yield* named("persistentvolumeclaim", volume.persistentVolumeClaim?.claimName);
  if (volume.ephemeral !== undefined) yield ["persistentvolumeclaim", `${pod}-${volume.name}`];
}

/** The status names the claims that were created for the pod. */
function* ofClaims(spec: Part, status: Part): Generator<readonly [ReferredKind, string]> {
  const created = firstByKey(
    list(status.resourceClaimStatuses).map((each) => [each.name, each.resourceClaimName] as const),
  );
  for (const { name, resourceClaimName } of list(spec.resourceClaims))
    yield* named("resourceclaim", resourceClaimName ?? created.get(name));
  yield* named("resourceclaim", status.extendedResourceClaimStatus?.resourceClaimName);
}

function* named(kind: ReferredKind, name: string | undefined): Generator<readonly [ReferredKind, string]> {
  if (name !== undefined && name !== "") yield [kind, name];
}

function list(value: unknown): Part[] {
  return Array.isArray(value) ? value : [];
}
