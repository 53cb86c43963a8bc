/**
 * The priorities of the APIServices of this server's own groups, which order discovery documents.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/controlplane/apiserver/aggregator.go`,
 * `cmd/kube-apiserver/app/aggregator.go` and
 * `pkg/controlplane/controller/crdregistration/crdregistration_controller.go`.
 */

/** As in the spec of an APIService. */
export interface ApiServicePriority {
  readonly groupPriorityMinimum: number;
  readonly versionPriority: number;
}

/** By group: its priority, and those of its versions. */
const builtin: Readonly<Record<string, readonly [group: number, versions: Readonly<Record<string, number>>]>> = {
  "": [18000, { v1: 1 }],
  apps: [17800, { v1: 15 }],
  "events.k8s.io": [17750, { v1: 15, v1beta1: 5 }],
  "authentication.k8s.io": [17700, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  "authorization.k8s.io": [17600, { v1: 15 }],
  autoscaling: [17500, { v1: 15, v2: 30, v2beta1: 9, v2beta2: 1 }],
  batch: [17400, { v1: 15, v1beta1: 9, v2alpha1: 9 }],
  "certificates.k8s.io": [17300, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  "networking.k8s.io": [17200, { v1: 15, v1beta1: 9 }],
  policy: [17100, { v1: 15, v1beta1: 9 }],
  "rbac.authorization.k8s.io": [17000, { v1: 15 }],
  "storage.k8s.io": [16800, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  "apiextensions.k8s.io": [16700, { v1: 15 }],
  "admissionregistration.k8s.io": [16700, { v1: 15, v1beta1: 12, v1alpha1: 9 }],
  "scheduling.k8s.io": [16600, { v1: 15, v1alpha2: 2 }],
  "coordination.k8s.io": [16500, { v1: 15, v1beta1: 13, v1alpha2: 12 }],
  "node.k8s.io": [16300, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  "discovery.k8s.io": [16200, { v1: 15, v1beta1: 12 }],
  "resource.k8s.io": [16200, { v1: 21, v1beta2: 15, v1beta1: 9, v1alpha3: 1 }],
  "flowcontrol.apiserver.k8s.io": [16100, { v1: 21, v1beta3: 18, v1beta2: 15, v1beta1: 12, v1alpha1: 9 }],
  "internal.apiserver.k8s.io": [16000, { v1alpha1: 9 }],
  "storagemigration.k8s.io": [15800, { v1beta1: 9 }],
};

/**
 * The group of APIServices has no APIService. Its priority is above the maximum of 20000, so that
 * it is the first group.
 */
export const apiRegistrationGroup = "apiregistration.k8s.io";
const apiRegistrationPriority: ApiServicePriority = { groupPriorityMinimum: 20_001, versionPriority: 0 };

/** The priority of every version of a custom resource. */
export const customPriority: ApiServicePriority = { groupPriorityMinimum: 1000, versionPriority: 100 };

/** @returns undefined for a version that has no APIService of its own */
export function builtinPriority(group: string, version: string): ApiServicePriority | undefined {
  const row = Object.hasOwn(builtin, group) ? builtin[group] : undefined;
  const versionPriority = row !== undefined && Object.hasOwn(row[1], version) ? row[1][version] : undefined;
  if (row === undefined || versionPriority === undefined) return undefined;
  return { groupPriorityMinimum: row[0], versionPriority };
}

/** Versions without a known priority are last. Source: `pkg/endpoints/discovery/aggregated`. */
const unknownPriority: ApiServicePriority = { groupPriorityMinimum: 1000, versionPriority: 15 };

/** The priority of a version that this server serves. */
export function localPriority(group: string, version: string, custom: boolean): ApiServicePriority {
  if (group === apiRegistrationGroup) return apiRegistrationPriority;
  return builtinPriority(group, version) ?? (custom ? customPriority : unknownPriority);
}
