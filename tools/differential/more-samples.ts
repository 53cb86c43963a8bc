/** Valid objects of kinds without fixtures of writes. */
const signingRequest = [
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0=", // Not a request: rejected by both.
].join("");

/** By resource. */
export const moreSamples: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  roles: [{ rules: [{ apiGroups: [""], resources: ["pods"], resourceNames: ["a"], verbs: ["get", "list"] }] }],
  clusterroles: [
    { rules: [{ apiGroups: ["apps"], resources: ["deployments", "*/scale"], verbs: ["*"] }] },
    { rules: [{ nonResourceURLs: ["/healthz", "/logs/*"], verbs: ["get"] }] },
    { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { "example.com/aggregate": "$ns" } }] }, rules: [] },
  ],
  rolebindings: [
    {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [{ kind: "User", name: "$ns-alice", apiGroup: "rbac.authorization.k8s.io" }],
    },
  ],
  clusterrolebindings: [
    {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [{ kind: "ServiceAccount", name: "default", namespace: "$ns" }],
    },
  ],
  certificatesigningrequests: [
    { spec: { request: signingRequest, signerName: "example.com/signer", usages: ["client auth"] } },
  ],
};
