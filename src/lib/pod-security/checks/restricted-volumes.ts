/**
 * Pods can use only volumes of Kubernetes itself. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/check_restrictedVolumes.go.
 */
import type { Check, CheckPod } from "../contract.ts";
import type { Volume } from "../pod.ts";
import { joinQuoted, named, plural, sortedSet } from "../text.ts";
import { hostPathVolumes } from "./host-path-volumes.ts";

const allowed = [
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "image",
  "persistentVolumeClaim",
  "projected",
  "secret",
] as const;

/** If a volume has several, the first is reported. */
const restricted = [
  "hostPath",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "gitRepo",
  "nfs",
  "iscsi",
  "glusterfs",
  "rbd",
  "flexVolume",
  "cinder",
  "cephfs",
  "flocker",
  "fc",
  "azureFile",
  "vsphereVolume",
  "quobyte",
  "azureDisk",
  "photonPersistentDisk",
  "portworxVolume",
  "scaleIO",
  "storageos",
] as const;

const check: CheckPod = ({ spec: { volumes } }) => {
  if (volumes === undefined) return undefined;
  const bad = volumes.filter((volume) => !allowed.some((type) => volume[type] !== undefined));
  if (bad.length === 0) return undefined;
  const types = sortedSet(bad.map(typeOf));
  const uses = `${plural(bad.length, "uses", "use")} ${plural(types.length, "restricted volume type")}`;
  return {
    reason: "restricted volume types",
    detail: `${named("volume", bad)} ${uses} ${joinQuoted(types)}`,
    fields: bad.map((volume) => ({
      path: `spec.volumes[${volumes.indexOf(volume)}].${typeOf(volume)}`,
      value: volume[typeOf(volume)],
      allowed: `unset; a volume can have ${joinQuoted(allowed)}`,
    })),
  };
};

function typeOf(volume: Volume): string {
  return restricted.find((type) => volume[type] !== undefined) ?? "unknown";
}

export const restrictedVolumes: Check = {
  id: "restrictedVolumes",
  level: "restricted",
  versions: [{ since: 0, check, overrides: [hostPathVolumes.id] }],
};
