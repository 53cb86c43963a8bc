/** Fields that writes of built-in resources reset. Source: GetResetFields of upstream's strategies. */

type Paths = readonly (readonly string[])[];

const metadataAndSpec: Paths = [["metadata"], ["spec"]];

/**
 * Fields that a write resets, where they do not follow from the strategy: by group, resource and
 * subresource, which is empty for the main resource.
 */
export const specialResets: Readonly<Record<string, Paths>> = {
  "/pods/status": [["spec"], ["metadata", "deletionTimestamp"], ["metadata", "ownerReferences"]],
  "/namespaces/finalize": [["status"]],
  "admissionregistration.k8s.io/validatingadmissionpolicies/status": metadataAndSpec,
  "apiregistration.k8s.io/apiservices/status": metadataAndSpec,
  "apps/deployments/status": [["spec"], ["metadata", "labels"]],
  "certificates.k8s.io/certificatesigningrequests/": [["spec"], ["status"]],
  "certificates.k8s.io/certificatesigningrequests/approval": [["spec"], ["status", "certificate"]],
  "certificates.k8s.io/certificatesigningrequests/status": [["spec"], ["status", "conditions"]],
  // Their storage has no strategy of reset fields, so that managers own a status that is reset.
  "certificates.k8s.io/podcertificaterequests/": [],
  "scheduling.k8s.io/podgroups/": [],
  "flowcontrol.apiserver.k8s.io/flowschemas/status": metadataAndSpec,
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations/status": metadataAndSpec,
  "internal.apiserver.k8s.io/storageversions/status": metadataAndSpec,
  "networking.k8s.io/servicecidrs/status": metadataAndSpec,
  "resource.k8s.io/devicetaintrules/status": metadataAndSpec,
  "resource.k8s.io/resourceclaims/status": metadataAndSpec,
  "resource.k8s.io/resourcepoolstatusrequests/status": metadataAndSpec,
  "scheduling.k8s.io/podgroups/status": metadataAndSpec,
  "storage.k8s.io/volumeattachments/status": metadataAndSpec,
  "storagemigration.k8s.io/storageversionmigrations/status": metadataAndSpec,
};

/** Fields that a write of another resource or subresource resets. */
export function usualResets(
  subresource: string,
  { custom, isolatesStatus }: { readonly custom: boolean; readonly isolatesStatus: boolean },
): Paths {
  if (subresource === "status") return custom ? metadataAndSpec : [["spec"]];
  return subresource === "" && isolatesStatus ? [["status"]] : [];
}
