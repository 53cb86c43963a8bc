/** What a pod's node must read, to run it. Source: upstream's node authorizer; the fields of PodSpec that name other objects. */
import type { KubeObject } from "../../api/object.ts";

export type ReferredKind = "secret" | "configmap" | "persistentvolumeclaim" | "serviceaccount" | "resourceclaim";

// biome-ignore lint/suspicious/noExplicitAny: the schema has checked the types.
type Part = Record<string, any>;

/** Volume sources that name a secret, and where. */
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

const mirror = "kubernetes.io/config.mirror";

/** Names in the pod's namespace. A mirror pod was made by its node, and opens nothing to it. */
export function* podReferences({ metadata, spec = {}, status = {} }: KubeObject): Generator<readonly [kind: ReferredKind, name: string]> {
  if (metadata.annotations?.[mirror] !== undefined) return;
  if ((spec.serviceAccountName ?? "") !== "") yield ["serviceaccount", spec.serviceAccountName];
  for (const { name } of list(spec.imagePullSecrets)) yield* named("secret", name);
  for (const field of ["initContainers", "containers", "ephemeralContainers"]) for (const each of list(spec[field])) yield* ofContainer(each);
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

/** Claims made for the pod are named in its status. */
function* ofClaims(spec: Part, status: Part): Generator<readonly [ReferredKind, string]> {
  for (const { name, resourceClaimName } of list(spec.resourceClaims)) {
    const made = list(status.resourceClaimStatuses).find((each) => each.name === name);
    yield* named("resourceclaim", resourceClaimName ?? made?.resourceClaimName);
  }
  yield* named("resourceclaim", status.extendedResourceClaimStatus?.resourceClaimName);
}

function* named(kind: ReferredKind, name: string | undefined): Generator<readonly [ReferredKind, string]> {
  if (name !== undefined && name !== "") yield [kind, name];
}

function list(value: unknown): Part[] {
  return Array.isArray(value) ? value : [];
}

/** Secrets that a persistent volume's node must read: source, field, and where the namespace stands. */
const volumeSecretSources: readonly (readonly [source: string, field: string])[] = [
  ["azureFile", "secretName"],
  ["cephfs", "secretRef"],
  ["cinder", "secretRef"],
  ["csi", "nodePublishSecretRef"],
  ["csi", "nodeStageSecretRef"],
  ["csi", "nodeExpandSecretRef"],
  ["flexVolume", "secretRef"],
  ["iscsi", "secretRef"],
  ["rbd", "secretRef"],
  ["scaleIO", "secretRef"],
  ["storageos", "secretRef"],
];

/** Where a reference names no namespace, it is the claim's. */
export function volumeSecrets({ spec = {} }: KubeObject): { readonly namespace: string; readonly name: string }[] {
  const home: string = spec.claimRef?.namespace ?? "";
  return volumeSecretSources.flatMap(([source, field]) => {
    const value: unknown = spec[source]?.[field];
    if (typeof value === "string") return value === "" ? [] : [{ namespace: spec[source].secretNamespace || home, name: value }];
    const { name = "", namespace = "" } = (value ?? {}) as { name?: string; namespace?: string };
    return name === "" ? [] : [{ namespace: namespace === "" ? home : namespace, name }];
  });
}
