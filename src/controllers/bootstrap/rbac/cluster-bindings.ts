/**
 * ClusterRoleBindings except those of controllers. Source:
 * k8s.io/kubernetes@v1.36.0/plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go.
 */
import type { BindingData } from "./contract.ts";

export const clusterBindings: readonly BindingData[] = [
  { name: "cluster-admin", role: "cluster-admin", subjects: ["Group system:masters"] },
  { name: "system:basic-user", role: "system:basic-user", subjects: ["Group system:authenticated"] },
  {
    name: "system:cluster-trust-bundle-discovery",
    gates: "ClusterTrustBundle",
    role: "system:cluster-trust-bundle-discovery",
    subjects: ["Group system:serviceaccounts"],
  },
  { name: "system:discovery", role: "system:discovery", subjects: ["Group system:authenticated"] },
  {
    name: "system:kube-controller-manager",
    role: "system:kube-controller-manager",
    subjects: ["User system:kube-controller-manager"],
  },
  { name: "system:kube-dns", role: "system:kube-dns", subjects: ["ServiceAccount kube-system/kube-dns"] },
  { name: "system:kube-scheduler", role: "system:kube-scheduler", subjects: ["User system:kube-scheduler"] },
  { name: "system:monitoring", role: "system:monitoring", subjects: ["Group system:monitoring"] },
  { name: "system:node", role: "system:node", subjects: [] },
  { name: "system:node-proxier", role: "system:node-proxier", subjects: ["User system:kube-proxy"] },
  {
    name: "system:public-info-viewer",
    role: "system:public-info-viewer",
    subjects: ["Group system:authenticated", "Group system:unauthenticated"],
  },
  {
    name: "system:service-account-issuer-discovery",
    role: "system:service-account-issuer-discovery",
    subjects: ["Group system:serviceaccounts"],
  },
  { name: "system:volume-scheduler", role: "system:volume-scheduler", subjects: ["User system:kube-scheduler"] },
];
