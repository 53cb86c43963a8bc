/**
 * RoleBindings in the system namespaces. Source:
 * k8s.io/kubernetes@v1.36.0/plugin/pkg/auth/authorizer/rbac/bootstrappolicy/namespace_policy.go.
 */
import type { BindingData } from "./contract.ts";

export const namespaceBindings: readonly BindingData[] = [
  {
    name: "system:controller:bootstrap-signer",
    namespace: "kube-public",
    role: "system:controller:bootstrap-signer",
    subjects: ["ServiceAccount kube-system/bootstrap-signer"],
  },
  {
    name: "system::extension-apiserver-authentication-reader",
    namespace: "kube-system",
    role: "extension-apiserver-authentication-reader",
    subjects: ["User system:kube-controller-manager", "User system:kube-scheduler"],
  },
  {
    name: "system::leader-locking-kube-controller-manager",
    namespace: "kube-system",
    role: "system::leader-locking-kube-controller-manager",
    subjects: [
      "User system:kube-controller-manager",
      "ServiceAccount kube-system/kube-controller-manager",
      "ServiceAccount kube-system/leader-election-controller",
    ],
  },
  {
    name: "system::leader-locking-kube-scheduler",
    namespace: "kube-system",
    role: "system::leader-locking-kube-scheduler",
    subjects: ["User system:kube-scheduler", "ServiceAccount kube-system/kube-scheduler"],
  },
  {
    name: "system:controller:bootstrap-signer",
    namespace: "kube-system",
    role: "system:controller:bootstrap-signer",
    subjects: ["ServiceAccount kube-system/bootstrap-signer"],
  },
  {
    name: "system:controller:cloud-provider",
    namespace: "kube-system",
    role: "system:controller:cloud-provider",
    subjects: ["ServiceAccount kube-system/cloud-provider"],
  },
  {
    name: "system:controller:token-cleaner",
    namespace: "kube-system",
    role: "system:controller:token-cleaner",
    subjects: ["ServiceAccount kube-system/token-cleaner"],
  },
];
