/** Fields that writes of built-in resources reset. Source: GetResetFields of upstream's strategies. */

/**
 * Fields that a write resets, in addition to those that follow from the strategy. By group, resource and
 * subresource, which is empty for the main resource.
 */
export const additionalResets: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "/pods/status": [
    ["metadata", "deletionTimestamp"],
    ["metadata", "ownerReferences"],
  ],
  "/namespaces/finalize": [["status"]],
  "admissionregistration.k8s.io/validatingadmissionpolicies/status": [["metadata"]],
  "apiregistration.k8s.io/apiservices/status": [["metadata"]],
  "apps/deployments/status": [["metadata", "labels"]],
  "certificates.k8s.io/certificatesigningrequests/": [["spec"]],
  "certificates.k8s.io/certificatesigningrequests/approval": [["spec"], ["status", "certificate"]],
  "certificates.k8s.io/certificatesigningrequests/status": [["status", "conditions"]],
  "flowcontrol.apiserver.k8s.io/flowschemas/status": [["metadata"]],
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations/status": [["metadata"]],
  "internal.apiserver.k8s.io/storageversions/status": [["metadata"]],
  "networking.k8s.io/servicecidrs/status": [["metadata"]],
  "resource.k8s.io/devicetaintrules/status": [["metadata"]],
  "resource.k8s.io/resourceclaims/status": [["metadata"]],
  "resource.k8s.io/resourcepoolstatusrequests/status": [["metadata"]],
  "scheduling.k8s.io/podgroups/status": [["metadata"]],
  "storage.k8s.io/volumeattachments/status": [["metadata"]],
  "storagemigration.k8s.io/storageversionmigrations/status": [["metadata"]],
};
