/** Secrets that a persistent volume's node must read. Source: upstream's visitor of them, those that it calls visible to kubelets. */
import type { KubeObject } from "../../apimachinery/object.ts";

/** Source and field; `claim`: a reference that names no namespace is to the claim's. */
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

export function volumeSecrets({ spec = {} }: KubeObject): { readonly namespace: string; readonly name: string }[] {
  return sources.flatMap(([source, field, home]) => {
    const value: unknown = spec[source]?.[field];
    const byName = typeof value === "string"; // azureFile has its namespace beside the name.
    const reference = (byName ? { name: value, namespace: spec[source].secretNamespace } : (value ?? {})) as {
      name?: string;
      namespace?: string;
    };
    const { name = "" } = reference;
    const namespace = reference.namespace || (home === "claim" ? (spec.claimRef?.namespace ?? "") : "");
    return name === "" ? [] : [{ namespace, name }];
  });
}
