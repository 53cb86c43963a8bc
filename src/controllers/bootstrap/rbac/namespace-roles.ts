/**
 * Roles in the system namespaces. Source:
 * k8s.io/kubernetes@v1.36.0/plugin/pkg/auth/authorizer/rbac/bootstrappolicy/namespace_policy.go.
 */
import type { RoleData } from "./contract.ts";

export const namespaceRoles: readonly RoleData[] = [
  {
    name: "system:controller:bootstrap-signer",
    namespace: "kube-public",
    rules: [
      { verbs: "get list watch", groups: "core", resources: "configmaps" },
      { verbs: "update", groups: "core", resources: "configmaps", names: "cluster-info" },
      { verbs: "create patch update", groups: "core events.k8s.io", resources: "events" },
    ],
  },
  {
    name: "extension-apiserver-authentication-reader",
    namespace: "kube-system",
    rules: [
      { verbs: "get list watch", groups: "core", resources: "configmaps", names: "extension-apiserver-authentication" },
    ],
  },
  {
    name: "system::leader-locking-kube-controller-manager",
    namespace: "kube-system",
    rules: [
      { verbs: "create get list update watch", groups: "coordination.k8s.io", resources: "leases" },
      { verbs: "create get list update watch", groups: "coordination.k8s.io", resources: "leasecandidates" },
    ],
  },
  {
    name: "system::leader-locking-kube-scheduler",
    namespace: "kube-system",
    rules: [
      { verbs: "create get list update watch", groups: "coordination.k8s.io", resources: "leases" },
      { verbs: "create get list update watch", groups: "coordination.k8s.io", resources: "leasecandidates" },
    ],
  },
  {
    name: "system:controller:bootstrap-signer",
    namespace: "kube-system",
    rules: [{ verbs: "get list watch", groups: "core", resources: "secrets" }],
  },
  {
    name: "system:controller:cloud-provider",
    namespace: "kube-system",
    rules: [{ verbs: "create get list watch", groups: "core", resources: "configmaps" }],
  },
  {
    name: "system:controller:token-cleaner",
    namespace: "kube-system",
    rules: [
      { verbs: "delete get list watch", groups: "core", resources: "secrets" },
      { verbs: "create patch update", groups: "core events.k8s.io", resources: "events" },
    ],
  },
];
