/** The order in which kinds are installed: what others refer to comes first. */

/** Kinds of one step, as `group/Kind`. Others, such as custom resources, come between the two lists. */
const first: readonly (readonly string[])[] = [
  ["apiextensions.k8s.io/CustomResourceDefinition"],
  ["/Namespace"],
  [
    "/Node",
    "scheduling.k8s.io/PriorityClass",
    "storage.k8s.io/StorageClass",
    "node.k8s.io/RuntimeClass",
    "networking.k8s.io/IngressClass",
  ],
  ["/ServiceAccount", "/Secret", "/ConfigMap", "/LimitRange", "/ResourceQuota"],
  ["rbac.authorization.k8s.io/ClusterRole", "rbac.authorization.k8s.io/Role"],
  ["rbac.authorization.k8s.io/ClusterRoleBinding", "rbac.authorization.k8s.io/RoleBinding"],
  ["/PersistentVolume", "/PersistentVolumeClaim", "/Service"],
];
/** They affect the objects that are written after them. */
const last: readonly (readonly string[])[] = [
  ["apiregistration.k8s.io/APIService"],
  ["admissionregistration.k8s.io/ValidatingAdmissionPolicy", "admissionregistration.k8s.io/MutatingAdmissionPolicy"],
  [
    "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding",
    "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding",
    "admissionregistration.k8s.io/ValidatingWebhookConfiguration",
    "admissionregistration.k8s.io/MutatingWebhookConfiguration",
  ],
];
const custom = first.length + 1;
const ranks: ReadonlyMap<string, number> = new Map([
  ...first.flatMap((kinds, rank) => kinds.map((kind): [string, number] => [kind, rank])),
  ...last.flatMap((kinds, rank) => kinds.map((kind): [string, number] => [kind, custom + 1 + rank])),
]);

/** What the order depends on. */
interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** @returns whether it defines a custom resource, whose objects must wait for it */
export function isDefinition({ apiVersion, kind }: Kind): boolean {
  return kind === "CustomResourceDefinition" && groupOf(apiVersion) === "apiextensions.k8s.io";
}

/** @returns the objects in the order of their installation; those of one step in their own order */
export function inInstallOrder<K extends Kind>(objects: readonly K[]): K[] {
  return objects.toSorted((one, other) => rankOf(one) - rankOf(other));
}

/** Kinds of groups that end with `.k8s.io` or have no dot are built in; others may need a workload of the manifest. */
function rankOf({ apiVersion, kind }: Kind): number {
  const group = groupOf(apiVersion);
  const isBuiltIn = !group.includes(".") || group.endsWith(".k8s.io");
  return ranks.get(`${group}/${kind}`) ?? (isBuiltIn ? first.length : custom);
}

/** @returns empty for the core group */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}
