/**
 * User-facing ClusterRoles and the roles that they aggregate. Source: Kubernetes docs, "Using RBAC
 * Authorization", heading "User-facing roles";
 * k8s.io/kubernetes@v1.36.0/plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go.
 */
import type { RoleData } from "./contract.ts";

export const userFacingRoles: readonly RoleData[] = [
  { name: "admin", collects: "admin", rules: [] },
  {
    name: "cluster-admin",
    rules: [
      { verbs: "*", groups: "*", resources: "*" },
      { verbs: "*", urls: "*" },
    ],
  },
  { name: "edit", aggregatesTo: "admin", collects: "edit", rules: [] },
  {
    name: "system:aggregate-to-admin",
    aggregatesTo: "admin",
    rules: [
      { verbs: "create", groups: "authorization.k8s.io", resources: "localsubjectaccessreviews" },
      {
        verbs: "create delete deletecollection get list patch update watch",
        groups: "rbac.authorization.k8s.io",
        resources: "rolebindings roles",
      },
    ],
  },
  {
    name: "system:aggregate-to-edit",
    aggregatesTo: "edit",
    rules: [
      {
        verbs: "get list watch",
        groups: "core",
        resources: "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy",
      },
      { verbs: "impersonate", groups: "core", resources: "serviceaccounts" },
      {
        verbs: "create delete deletecollection patch update",
        groups: "core",
        resources: "pods pods/attach pods/exec pods/portforward pods/proxy",
      },
      { verbs: "create", groups: "core", resources: "pods/eviction" },
      {
        verbs: "create delete deletecollection patch update",
        groups: "core",
        resources:
          "configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy",
      },
      { verbs: "create", groups: "core", resources: "serviceaccounts/token" },
      { verbs: "create delete deletecollection patch update", groups: "core events.k8s.io", resources: "events" },
      {
        verbs: "create delete deletecollection patch update",
        groups: "apps",
        resources:
          "daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale",
      },
      {
        verbs: "create delete deletecollection patch update",
        groups: "autoscaling",
        resources: "horizontalpodautoscalers",
      },
      { verbs: "create delete deletecollection patch update", groups: "batch", resources: "cronjobs jobs" },
      {
        verbs: "create delete deletecollection patch update",
        groups: "extensions",
        resources:
          "daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale",
      },
      { verbs: "create delete deletecollection patch update", groups: "policy", resources: "poddisruptionbudgets" },
      {
        verbs: "create delete deletecollection patch update",
        groups: "networking.k8s.io",
        resources: "ingresses networkpolicies",
      },
      {
        verbs: "create delete deletecollection get list patch update watch",
        groups: "coordination.k8s.io",
        resources: "leases",
      },
      {
        gates: "DynamicResourceAllocation",
        verbs: "create delete deletecollection patch update",
        groups: "resource.k8s.io",
        resources: "resourceclaims resourceclaimtemplates",
      },
      {
        gates: "GenericWorkload",
        verbs: "create delete deletecollection patch update",
        groups: "scheduling.k8s.io",
        resources: "podgroups workloads",
      },
    ],
  },
  {
    name: "system:aggregate-to-view",
    aggregatesTo: "view",
    rules: [
      {
        verbs: "get list watch",
        groups: "core",
        resources:
          "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status",
      },
      {
        verbs: "get list watch",
        groups: "core",
        resources:
          "bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status",
      },
      { verbs: "get list watch", groups: "core", resources: "namespaces" },
      { verbs: "get list watch", groups: "core events.k8s.io", resources: "events" },
      { verbs: "get list watch", groups: "discovery.k8s.io", resources: "endpointslices" },
      {
        verbs: "get list watch",
        groups: "apps",
        resources:
          "controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status",
      },
      {
        verbs: "get list watch",
        groups: "autoscaling",
        resources: "horizontalpodautoscalers horizontalpodautoscalers/status",
      },
      { verbs: "get list watch", groups: "batch", resources: "cronjobs cronjobs/status jobs jobs/status" },
      {
        verbs: "get list watch",
        groups: "extensions",
        resources:
          "daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale",
      },
      { verbs: "get list watch", groups: "policy", resources: "poddisruptionbudgets poddisruptionbudgets/status" },
      { verbs: "get list watch", groups: "networking.k8s.io", resources: "ingresses ingresses/status networkpolicies" },
      {
        gates: "DynamicResourceAllocation",
        verbs: "get list watch",
        groups: "resource.k8s.io",
        resources: "resourceclaims resourceclaims/status resourceclaimtemplates",
      },
      {
        gates: "GenericWorkload",
        verbs: "get list watch",
        groups: "scheduling.k8s.io",
        resources: "podgroups podgroups/status workloads",
      },
    ],
  },
  { name: "view", aggregatesTo: "edit", collects: "view", rules: [] },
];
