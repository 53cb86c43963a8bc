/**
 * Finds references of a pod to other API objects. Source: `HasAPIObjectReference` in
 * k8s.io/kubernetes@v1.36.0/pkg/api/pod/util.go.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { podReferences } from "../../../apimachinery/pod-references.ts";
import { quoteGo } from "../../../lib/json/quote.ts";

type ApiReference = { readonly to: string } | { readonly error: string };

/** Volume sources that refer to no API objects except secrets, which are checked before. */
const harmlessVolumes: readonly string[] = [
  "awsElasticBlockStore",
  "azureDisk",
  "cephfs",
  "cinder",
  "downwardAPI",
  "emptyDir",
  "fc",
  "flexVolume",
  "flocker",
  "gcePersistentDisk",
  "gitRepo",
  "hostPath",
  "image",
  "iscsi",
  "nfs",
  "photonPersistentDisk",
  "portworxVolume",
  "quobyte",
  "rbd",
  "scaleIO",
  "storageos",
  "vsphereVolume",
];

/** In the order in which upstream checks them. */
const volumesThatRefer: readonly (readonly [source: string, to: string])[] = [
  ["configMap", "configmaps (via configmap volumes)"],
  ["secret", "secrets (via secret volumes)"],
  ["csi", "csidrivers (via CSI volumes)"],
  ["glusterfs", "endpoints (via glusterFS volumes)"],
  ["persistentVolumeClaim", "persistentvolumeclaims"],
  ["ephemeral", "persistentvolumeclaims (via ephemeral volumes)"],
  ["azureFile", "secrets (via azureFile volumes)"],
];

const projectedSources: readonly (readonly [source: string, to: string])[] = [
  ["configMap", "configmaps (via projected volumes)"],
  ["secret", "secrets (via projected volumes)"],
  ["serviceAccountToken", "serviceaccounts (via projected volumes)"],
  ["clusterTrustBundle", "clustertrustbundles"],
  ["podCertificate", "podcertificates"],
];

/** @returns the first reference, or `error` if the pod has a volume of an unknown type */
export function apiReference(pod: KubeObject): ApiReference | undefined {
  const kinds = new Set([...podReferences(pod)].map(([kind]) => kind));
  if (kinds.has("serviceaccount")) return { to: "serviceaccounts" };
  if (kinds.has("secret")) return { to: "secrets" };
  if (kinds.has("configmap")) return { to: "configmaps" };
  if ((pod.spec?.resourceClaims ?? []).length > 0) return { to: "resourceclaims" };
  for (const volume of pod.spec?.volumes ?? []) {
    const reference = volumeReference(volume);
    if (reference !== undefined) return reference;
  }
  return undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: the schema has checked the types.
type Part = Record<string, any>;

function volumeReference(volume: Part): ApiReference | undefined {
  if (harmlessVolumes.some((source) => volume[source] !== undefined)) return undefined;
  const found = volumesThatRefer.find(([source]) => volume[source] !== undefined);
  if (found !== undefined) return { to: found[1] };
  if (volume.projected === undefined) return { error: `unknown volume type for volume  ${quoteGo(volume.name ?? "")}` };
  for (const projected of volume.projected.sources ?? []) {
    const source = projectedSources.find(([name]) => projected[name] !== undefined);
    if (source !== undefined) return { to: source[1] };
    if (projected.downwardAPI === undefined)
      return { error: `unknown source for projected volume ${quoteGo(volume.name ?? "")}` };
  }
  return undefined;
}
