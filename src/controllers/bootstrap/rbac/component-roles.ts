/**
 * ClusterRoles of discovery, control plane components and helpers. Source:
 * k8s.io/kubernetes@v1.36.0/plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go.
 */
import type { RoleData } from "./contract.ts";

export const componentRoles: readonly RoleData[] = [
  {
    name: "system:auth-delegator",
    rules: [
      { verbs: "create", groups: "authentication.k8s.io", resources: "tokenreviews" },
      { verbs: "create", groups: "authorization.k8s.io", resources: "subjectaccessreviews" },
    ],
  },
  {
    name: "system:basic-user",
    rules: [
      {
        verbs: "create",
        groups: "authorization.k8s.io",
        resources: "selfsubjectaccessreviews selfsubjectrulesreviews",
      },
      { verbs: "create", groups: "authentication.k8s.io", resources: "selfsubjectreviews" },
    ],
  },
  {
    name: "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
    rules: [{ verbs: "create", groups: "certificates.k8s.io", resources: "certificatesigningrequests/nodeclient" }],
  },
  {
    name: "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
    rules: [{ verbs: "create", groups: "certificates.k8s.io", resources: "certificatesigningrequests/selfnodeclient" }],
  },
  {
    name: "system:certificates.k8s.io:kube-apiserver-client-approver",
    rules: [
      {
        verbs: "approve",
        groups: "certificates.k8s.io",
        resources: "signers",
        names: "kubernetes.io/kube-apiserver-client",
      },
    ],
  },
  {
    name: "system:certificates.k8s.io:kube-apiserver-client-kubelet-approver",
    rules: [
      {
        verbs: "approve",
        groups: "certificates.k8s.io",
        resources: "signers",
        names: "kubernetes.io/kube-apiserver-client-kubelet",
      },
    ],
  },
  {
    name: "system:certificates.k8s.io:kubelet-serving-approver",
    rules: [
      { verbs: "approve", groups: "certificates.k8s.io", resources: "signers", names: "kubernetes.io/kubelet-serving" },
    ],
  },
  {
    name: "system:certificates.k8s.io:legacy-unknown-approver",
    rules: [
      { verbs: "approve", groups: "certificates.k8s.io", resources: "signers", names: "kubernetes.io/legacy-unknown" },
    ],
  },
  {
    name: "system:cluster-trust-bundle-discovery",
    gates: "ClusterTrustBundle",
    rules: [{ verbs: "get list watch", groups: "certificates.k8s.io", resources: "clustertrustbundles" }],
  },
  {
    name: "system:discovery",
    rules: [
      {
        verbs: "get",
        urls: "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/",
      },
    ],
  },
  {
    name: "system:heapster",
    rules: [
      { verbs: "get list watch", groups: "core", resources: "events namespaces nodes pods" },
      { verbs: "get list watch", groups: "extensions", resources: "deployments" },
    ],
  },
  {
    name: "system:kube-aggregator",
    rules: [{ verbs: "get list watch", groups: "core", resources: "endpoints services" }],
  },
  {
    name: "system:kube-controller-manager",
    rules: [
      { verbs: "create patch update", groups: "core events.k8s.io", resources: "events" },
      { verbs: "create", groups: "coordination.k8s.io", resources: "leases" },
      { verbs: "get update", groups: "coordination.k8s.io", resources: "leases", names: "kube-controller-manager" },
      { verbs: "create", groups: "core", resources: "secrets serviceaccounts" },
      { verbs: "delete", groups: "core", resources: "secrets" },
      { verbs: "get", groups: "core", resources: "configmaps namespaces secrets serviceaccounts" },
      { verbs: "update", groups: "core", resources: "secrets serviceaccounts" },
      { verbs: "create", groups: "authentication.k8s.io", resources: "tokenreviews" },
      { verbs: "create", groups: "authorization.k8s.io", resources: "subjectaccessreviews" },
      { verbs: "list watch", groups: "*", resources: "*" },
      { verbs: "create", groups: "core", resources: "serviceaccounts/token" },
    ],
  },
  { name: "system:kube-dns", rules: [{ verbs: "list watch", groups: "core", resources: "endpoints services" }] },
  {
    name: "system:kube-scheduler",
    rules: [
      { verbs: "create patch update", groups: "core events.k8s.io", resources: "events" },
      { verbs: "create", groups: "coordination.k8s.io", resources: "leases" },
      { verbs: "get list update watch", groups: "coordination.k8s.io", resources: "leases", names: "kube-scheduler" },
      {
        verbs: "create delete deletecollection get list patch update watch",
        groups: "coordination.k8s.io",
        resources: "leasecandidates",
      },
      { verbs: "get list watch", groups: "core", resources: "nodes" },
      { verbs: "delete get list watch", groups: "core", resources: "pods" },
      { verbs: "create", groups: "core", resources: "bindings pods/binding" },
      { verbs: "patch update", groups: "core", resources: "pods/status" },
      { verbs: "get list watch", groups: "core", resources: "replicationcontrollers services" },
      { verbs: "get list watch", groups: "apps extensions", resources: "replicasets" },
      { verbs: "get list watch", groups: "apps", resources: "statefulsets" },
      { verbs: "get list watch", groups: "policy", resources: "poddisruptionbudgets" },
      { verbs: "get list watch", groups: "core", resources: "persistentvolumeclaims persistentvolumes" },
      { verbs: "create", groups: "authentication.k8s.io", resources: "tokenreviews" },
      { verbs: "create", groups: "authorization.k8s.io", resources: "subjectaccessreviews" },
      { verbs: "get list watch", groups: "storage.k8s.io", resources: "csinodes" },
      { verbs: "get list watch", groups: "storage.k8s.io", resources: "volumeattachments" },
      { verbs: "get list watch", groups: "core", resources: "namespaces" },
      { verbs: "get list watch", groups: "storage.k8s.io", resources: "csidrivers" },
      { verbs: "get list watch", groups: "storage.k8s.io", resources: "csistoragecapacities" },
      {
        gates: "DynamicResourceAllocation",
        verbs: "get list watch",
        groups: "resource.k8s.io",
        resources: "deviceclasses",
      },
      {
        gates: "DynamicResourceAllocation",
        verbs: "get list patch update watch",
        groups: "resource.k8s.io",
        resources: "resourceclaims",
      },
      {
        gates: "DynamicResourceAllocation",
        verbs: "get list patch update watch",
        groups: "resource.k8s.io",
        resources: "resourceclaims/status",
      },
      { gates: "DynamicResourceAllocation", verbs: "update", groups: "core", resources: "pods/finalizers" },
      {
        gates: "DynamicResourceAllocation",
        verbs: "get list watch",
        groups: "resource.k8s.io",
        resources: "resourceslices",
      },
      { gates: "DRAExtendedResource", verbs: "create delete", groups: "resource.k8s.io", resources: "resourceclaims" },
      {
        gates: "DRADeviceTaintRules",
        verbs: "get list watch",
        groups: "resource.k8s.io",
        resources: "devicetaintrules",
      },
      {
        gates: "DRAResourceClaimGranularStatusAuthorization",
        verbs: "patch update",
        groups: "resource.k8s.io",
        resources: "resourceclaims/binding",
      },
      { gates: "GenericWorkload", verbs: "get list watch", groups: "scheduling.k8s.io", resources: "podgroups" },
      { gates: "GenericWorkload", verbs: "patch update", groups: "scheduling.k8s.io", resources: "podgroups/status" },
    ],
  },
  {
    name: "system:kubelet-api-admin",
    rules: [
      { verbs: "get list watch", groups: "core", resources: "nodes" },
      { verbs: "proxy", groups: "core", resources: "nodes" },
      { verbs: "*", groups: "core", resources: "nodes/log nodes/metrics nodes/proxy nodes/stats" },
      { verbs: "*", groups: "core", resources: "nodes/configz nodes/healthz nodes/pods" },
    ],
  },
  {
    name: "system:monitoring",
    rules: [
      {
        verbs: "get",
        urls: "/flagz@ComponentFlagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* /statusz@ComponentStatusz",
      },
      { verbs: "get", groups: "core", resources: "nodes/metrics" },
    ],
  },
  {
    name: "system:node",
    rules: [
      { verbs: "create", groups: "authentication.k8s.io", resources: "tokenreviews" },
      { verbs: "create", groups: "authorization.k8s.io", resources: "localsubjectaccessreviews subjectaccessreviews" },
      { verbs: "get list watch", groups: "core", resources: "services" },
      { verbs: "create get list watch", groups: "core", resources: "nodes" },
      { verbs: "patch update", groups: "core", resources: "nodes/status" },
      { verbs: "patch update", groups: "core", resources: "nodes" },
      { verbs: "create patch update", groups: "core events.k8s.io", resources: "events" },
      { verbs: "get list watch", groups: "core", resources: "pods" },
      { verbs: "create delete", groups: "core", resources: "pods" },
      { verbs: "patch update", groups: "core", resources: "pods/status" },
      { verbs: "create", groups: "core", resources: "pods/eviction" },
      { verbs: "get list watch", groups: "core", resources: "configmaps secrets" },
      { verbs: "get", groups: "core", resources: "persistentvolumeclaims persistentvolumes" },
      { verbs: "get", groups: "core", resources: "endpoints" },
      { verbs: "create get list watch", groups: "certificates.k8s.io", resources: "certificatesigningrequests" },
      { verbs: "create delete get patch update", groups: "coordination.k8s.io", resources: "leases" },
      { verbs: "get", groups: "storage.k8s.io", resources: "volumeattachments" },
      { verbs: "create", groups: "core", resources: "serviceaccounts/token" },
      { verbs: "get patch update", groups: "core", resources: "persistentvolumeclaims/status" },
      { verbs: "get list watch", groups: "storage.k8s.io", resources: "csidrivers" },
      { verbs: "create delete get patch update", groups: "storage.k8s.io", resources: "csinodes" },
      { verbs: "get list watch", groups: "node.k8s.io", resources: "runtimeclasses" },
      { gates: "DynamicResourceAllocation", verbs: "get", groups: "resource.k8s.io", resources: "resourceclaims" },
      {
        gates: "DynamicResourceAllocation",
        verbs: "deletecollection",
        groups: "resource.k8s.io",
        resources: "resourceslices",
      },
      {
        gates: "ClusterTrustBundle",
        verbs: "get list watch",
        groups: "certificates.k8s.io",
        resources: "clustertrustbundles",
      },
      {
        gates: "KubeletServiceAccountTokenForCredentialProviders",
        verbs: "get",
        groups: "core",
        resources: "serviceaccounts",
      },
      {
        gates: "PodCertificateRequest",
        verbs: "create get list watch",
        groups: "certificates.k8s.io",
        resources: "podcertificaterequests",
      },
    ],
  },
  {
    name: "system:node-bootstrapper",
    rules: [{ verbs: "create get list watch", groups: "certificates.k8s.io", resources: "certificatesigningrequests" }],
  },
  {
    name: "system:node-problem-detector",
    rules: [
      { verbs: "get", groups: "core", resources: "nodes" },
      { verbs: "patch", groups: "core", resources: "nodes/status" },
      { verbs: "create patch update", groups: "core events.k8s.io", resources: "events" },
    ],
  },
  {
    name: "system:node-proxier",
    rules: [
      { verbs: "list watch", groups: "core", resources: "endpoints services" },
      { verbs: "get list watch", groups: "core", resources: "nodes" },
      { verbs: "create patch update", groups: "core events.k8s.io", resources: "events" },
      { verbs: "list watch", groups: "networking.k8s.io", resources: "servicecidrs" },
      { verbs: "list watch", groups: "discovery.k8s.io", resources: "endpointslices" },
    ],
  },
  {
    name: "system:persistent-volume-provisioner",
    rules: [
      { verbs: "create delete get list watch", groups: "core", resources: "persistentvolumes" },
      { verbs: "get list update watch", groups: "core", resources: "persistentvolumeclaims" },
      { verbs: "get list watch", groups: "storage.k8s.io", resources: "storageclasses" },
      { verbs: "watch", groups: "core", resources: "events" },
      { verbs: "create patch update", groups: "core events.k8s.io", resources: "events" },
    ],
  },
  { name: "system:public-info-viewer", rules: [{ verbs: "get", urls: "/healthz /livez /readyz /version /version/" }] },
  {
    name: "system:service-account-issuer-discovery",
    rules: [
      {
        verbs: "get",
        urls: "/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/",
      },
    ],
  },
  {
    name: "system:volume-scheduler",
    rules: [
      { verbs: "get list patch update watch", groups: "core", resources: "persistentvolumes" },
      { verbs: "get list watch", groups: "storage.k8s.io", resources: "storageclasses" },
      { verbs: "get list patch update watch", groups: "core", resources: "persistentvolumeclaims" },
    ],
  },
];
