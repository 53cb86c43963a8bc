/**
 * The secrets of a persistent volume that a kubelet needs.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/api/v1/persistentvolume/util.go, those with
 * `kubeletVisible`.
 */
import type { KubeObject } from "../../apimachinery/object.ts";

/** `claim`: a reference without a namespace refers to the namespace of the claim. */
const sources: readonly (readonly [source: string, field: string, home: "claim" | "none"])[] = [
  ["azureFile", "secretName", "claim"],
  ["cephfs", "secretRef", "claim"],
  ["cinder", "secretRef", "none"],
  ["csi", "nodePublishSecretRef", "none"],
  ["csi", "nodeStageSecretRef", "none"],
  ["csi", "nodeExpandSecretRef", "none"],
  ["flexVolume", "secretRef", "claim"],
  ["iscsi", "secretRef", "claim"],
  ["rbd", "secretRef", "claim"],
  ["scaleIO", "secretRef", "claim"],
  ["storageos", "secretRef", "none"],
];

/** Lists the secrets that a kubelet reads to mount the volume. */
export function volumeSecrets({ spec = {} }: KubeObject): { readonly namespace: string; readonly name: string }[] {
  return sources.flatMap(([source, field, home]) => {
    const value: unknown = spec[source]?.[field];
    const byName = typeof value === "string"; // azureFile has the namespace in a sibling field.
    const reference = (byName ? { name: value, namespace: spec[source].secretNamespace } : (value ?? {})) as {
      name?: string;
      namespace?: string;
    };
    const { name = "" } = reference;
    const namespace = reference.namespace || (home === "claim" ? (spec.claimRef?.namespace ?? "") : "");
    return name === "" ? [] : [{ namespace, name }];
  });
}
