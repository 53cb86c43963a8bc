/**
 * The plugins StorageObjectInUseProtection and PodGroupProtection add a finalizer to new objects,
 * so that objects in use are deleted only after their last use.
 * Sources: storage/storageobjectinuseprotection and scheduling/podgroupprotection in
 * k8s.io/kubernetes@v1.36.0/plugin/pkg/admission.
 */
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import {
  attributesClassProtection,
  claimProtection,
  podGroupProtection,
  volumeProtection,
} from "../../apimachinery/protection-finalizers.ts";
import type { AdmissionPlugin } from "../contract.ts";

interface ProtectedKind {
  readonly group: string;
  readonly resource: string;
  readonly finalizer: string;
}

/** Their controllers run with the same gates. */
const storageKinds: readonly ProtectedKind[] = [
  { group: "", resource: "persistentvolumes", finalizer: volumeProtection },
  { group: "", resource: "persistentvolumeclaims", finalizer: claimProtection },
];
const attributesClasses: ProtectedKind = {
  group: "storage.k8s.io",
  resource: "volumeattributesclasses",
  finalizer: attributesClassProtection,
};
const podGroups: ProtectedKind = {
  group: "scheduling.k8s.io",
  resource: "podgroups",
  finalizer: podGroupProtection,
};

/** @returns the plugins StorageObjectInUseProtection and PodGroupProtection */
export function useProtection(gates: FeatureGates): readonly AdmissionPlugin[] {
  return [
    protection("StorageObjectInUseProtection", [
      ...storageKinds,
      ...(gates.enabled("VolumeAttributesClass") ? [attributesClasses] : []),
    ]),
    protection("PodGroupProtection", gates.enabled("GenericWorkload") ? [podGroups] : []),
  ];
}

function protection(name: string, kinds: readonly ProtectedKind[]): AdmissionPlugin {
  const byResource = new Map(kinds.map((kind) => [kind.resource, kind]));
  return {
    name,
    mutate({ operation, target, subresource, object }) {
      const { group, resource } = target.resource.definition;
      const kind = byResource.get(resource);
      if (kind === undefined || kind.group !== group || operation !== "CREATE" || subresource !== "") return;
      if (object === undefined || object.metadata.finalizers?.includes(kind.finalizer)) return;
      object.metadata.finalizers = [...(object.metadata.finalizers ?? []), kind.finalizer];
    },
  };
}
