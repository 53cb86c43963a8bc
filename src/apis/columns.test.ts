import assert from "node:assert/strict";
import { test } from "node:test";
import { cellAt } from "../../test/support/cell-at.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { builtinDefinitions } from "../catalog/builtin-definitions.ts";
import { builtinConversions, builtinStrategies } from "./index.ts";

const now = Date.UTC(2020, 0, 2);
const created = "2020-01-01T00:00:00Z"; // Makes every age 24h.

type Cells = readonly unknown[];

/** @param object without metadata: an object named `x` */
function cells(resource: string, object: Record<string, unknown>): Cells {
  const metadata = { name: "x", creationTimestamp: created, ...(object.metadata as object | undefined) };
  return (builtinStrategies[resource]?.columns ?? []).map((column) =>
    cellAt(column, { ...object, metadata } as KubeObject, now),
  );
}

const template = {
  spec: {
    containers: [
      { name: "a", image: "i:1" },
      { name: "b", image: "j:2" },
    ],
  },
};
const selector = { matchLabels: { app: "web" } };

const rows: [what: string, resource: string, object: Record<string, unknown>, want: Cells][] = [
  [
    "config map: text and bytes count",
    "/configmaps",
    { data: { a: "1", b: "2" }, binaryData: { c: "AA==" } },
    ["x", 3, "24h"],
  ],
  ["API service: local, without status", "apiregistration.k8s.io/apiservices", {}, ["x", "Local", "Unknown", "24h"]],
  [
    "API service: of another server, unavailable",
    "apiregistration.k8s.io/apiservices",
    {
      spec: { service: { namespace: "ns", name: "s" } },
      status: { conditions: [{ type: "Available", status: "False", reason: "ServiceNotFound" }] },
    },
    ["x", "ns/s", "False (ServiceNotFound)", "24h"],
  ],
  [
    "API service: available",
    "apiregistration.k8s.io/apiservices",
    { status: { conditions: [{ type: "Available", status: "True", reason: "Local" }] } },
    ["x", "Local", "True", "24h"],
  ],
  ["config map: empty", "/configmaps", {}, ["x", 0, "24h"]],
  ["secret", "/secrets", { type: "Opaque", data: { a: "AA==" } }, ["x", "Opaque", 1, "24h"]],
  ["namespace", "/namespaces", { status: { phase: "Active" } }, ["x", "Active", "24h"]],
  ["an age that is not known", "/serviceaccounts", { metadata: { creationTimestamp: undefined } }, ["x", "<unknown>"]],
  [
    "deployment",
    "apps/deployments",
    {
      spec: { replicas: 3, selector, template },
      status: { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 },
    },
    ["x", "1/3", 2, 1, "24h", "a,b", "i:1,j:2", "app=web"],
  ],
  [
    "replica set: nothing selected",
    "apps/replicasets",
    { spec: { replicas: 2, template }, status: { replicas: 2 } },
    ["x", 2, 2, 0, "24h", "a,b", "i:1,j:2", "<none>"],
  ],
  [
    "stateful set",
    "apps/statefulsets",
    { spec: { replicas: 2, template }, status: { readyReplicas: 2 } },
    ["x", "2/2", "24h", "a,b", "i:1,j:2"],
  ],
  [
    "daemon set",
    "apps/daemonsets",
    {
      spec: { selector, template: { spec: { ...template.spec, nodeSelector: { z: "1", disk: "ssd" } } } },
      status: {
        desiredNumberScheduled: 5,
        currentNumberScheduled: 4,
        numberReady: 3,
        updatedNumberScheduled: 2,
        numberAvailable: 1,
      },
    },
    ["x", 5, 4, 3, 2, 1, "disk=ssd,z=1", "24h", "a,b", "i:1,j:2", "app=web"],
  ],
  [
    "controller revision",
    "apps/controllerrevisions",
    {
      metadata: { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", controller: true }] },
      revision: 9007199254740993n,
    },
    ["x", "daemonset.apps/d", 9007199254740993n, "24h"],
  ],
  [
    "replication controller",
    "/replicationcontrollers",
    { spec: { replicas: 1, selector: { a: "b" }, template }, status: {} },
    ["x", 1, 0, 0, "24h", "a,b", "i:1,j:2", "a=b"],
  ],
  [
    "job: running",
    "batch/jobs",
    { spec: { completions: 3, selector, template }, status: { startTime: "2020-01-01T23:59:00Z", succeeded: 1 } },
    ["x", "Running", "1/3", "60s", "24h", "a,b", "i:1,j:2", "app=web"],
  ],
  [
    "job: complete, without desired completions",
    "batch/jobs",
    {
      spec: { parallelism: 2, template },
      status: {
        startTime: created,
        completionTime: "2020-01-01T00:03:05Z",
        succeeded: 1,
        conditions: [{ type: "Complete", status: "True" }],
      },
    },
    ["x", "Complete", "1/1 of 2", "3m5s", "24h", "a,b", "i:1,j:2", "<none>"],
  ],
  [
    "job: not begun, suspended",
    "batch/jobs",
    { spec: {}, status: { conditions: [{ type: "Suspended", status: "True" }] } },
    ["x", "Suspended", "0/1", "", "24h", "", "", "<none>"],
  ],
  [
    "cron job",
    "batch/cronjobs",
    {
      spec: { schedule: "* * * * *", suspend: false, jobTemplate: { spec: { template } } },
      status: { active: [{}], lastScheduleTime: "2020-01-01T23:58:00Z" },
    },
    ["x", "* * * * *", "<none>", "False", 1, "2m", "24h", "a,b", "i:1,j:2", "<none>"],
  ],
  [
    "service: of the cluster",
    "/services",
    {
      spec: {
        type: "ClusterIP",
        clusterIPs: ["10.0.0.1"],
        ports: [{ port: 80, protocol: "TCP" }],
        selector: { a: "b" },
      },
    },
    ["x", "ClusterIP", "10.0.0.1", "<none>", "80/TCP", "24h", "a=b"],
  ],
  [
    "service: node ports",
    "/services",
    {
      spec: {
        type: "NodePort",
        clusterIPs: ["10.0.0.1"],
        externalIPs: ["1.1.1.1", "2.2.2.2"],
        ports: [
          { port: 80, nodePort: 30080, protocol: "TCP" },
          { port: 53, nodePort: 30053, protocol: "UDP" },
        ],
      },
    },
    ["x", "NodePort", "10.0.0.1", "1.1.1.1,2.2.2.2", "80:30080/TCP,53:30053/UDP", "24h", "<none>"],
  ],
  [
    "service: load balancer, pending",
    "/services",
    { spec: { type: "LoadBalancer", clusterIPs: ["10.0.0.1"] }, status: { loadBalancer: {} } },
    ["x", "LoadBalancer", "10.0.0.1", "<pending>", "<none>", "24h", "<none>"],
  ],
  [
    "service: load balancer, ready",
    "/services",
    {
      spec: { type: "LoadBalancer", clusterIPs: ["10.0.0.1"], externalIPs: ["9.9.9.9"] },
      status: { loadBalancer: { ingress: [{ hostname: "lb" }, { ip: "2.2.2.2" }, { ip: "2.2.2.2" }] } },
    },
    ["x", "LoadBalancer", "10.0.0.1", "2.2.2.2,lb,9.9.9.9", "<none>", "24h", "<none>"],
  ],
  [
    "service: a name elsewhere",
    "/services",
    { spec: { type: "ExternalName", externalName: "example.com" } },
    ["x", "ExternalName", "<none>", "example.com", "<none>", "24h", "<none>"],
  ],
  ["endpoints: none", "/endpoints", {}, ["x", "<none>", "24h"]],
  [
    "endpoints: more than three",
    "/endpoints",
    { subsets: [{ addresses: [{ ip: "1.1.1.1" }, { ip: "::1" }], ports: [{ port: 80 }, { port: 443 }] }] },
    ["x", "1.1.1.1:80,[::1]:80,1.1.1.1:443 + 1 more...", "24h"],
  ],
  [
    "endpoint slice",
    "discovery.k8s.io/endpointslices",
    {
      addressType: "IPv4",
      ports: [{ port: 80 }, { name: "n" }, {}],
      endpoints: [{ addresses: ["1.1.1.1"] }, { addresses: ["1.1.1.2"] }],
    },
    ["x", "IPv4", "80,n,*", "1.1.1.1,1.1.1.2", "24h"],
  ],
  [
    "endpoint slice: empty",
    "discovery.k8s.io/endpointslices",
    { addressType: "IPv4", ports: [], endpoints: [] },
    ["x", "IPv4", "<unset>", "<unset>", "24h"],
  ],
  [
    "node",
    "/nodes",
    {
      metadata: {
        labels: { "node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/": "", "kubernetes.io/role": "edge" },
      },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: "Ready", status: "True" }],
        addresses: [{ type: "InternalIP", address: "10.1.1.1" }],
        nodeInfo: { kubeletVersion: "v1.36.0", osImage: "Linux" },
      },
    },
    [
      "x",
      "Ready,SchedulingDisabled",
      "edge,worker",
      "24h",
      "v1.36.0",
      "10.1.1.1",
      "<none>",
      "Linux",
      "<unknown>",
      "<unknown>",
    ],
  ],
  [
    "node: unheard of",
    "/nodes",
    {},
    ["x", "Unknown", "<none>", "24h", "", "<none>", "<none>", "<unknown>", "<unknown>", "<unknown>"],
  ],
  ["ingress: bare", "networking.k8s.io/ingresses", { spec: {} }, ["x", "<none>", "*", "", "80", "24h"]],
  [
    "ingress: many hosts",
    "networking.k8s.io/ingresses",
    {
      spec: {
        ingressClassName: "c",
        tls: [{}],
        rules: [{ host: "a" }, { host: "b" }, {}, { host: "c" }, { host: "d" }],
      },
      status: { loadBalancer: { ingress: [{ ip: "1.1.1.1" }] } },
    },
    ["x", "c", "a,b,c + 2 more...", "1.1.1.1", "80, 443", "24h"],
  ],
  [
    "ingress class",
    "networking.k8s.io/ingressclasses",
    { spec: { controller: "e/c", parameters: { apiGroup: "g", kind: "K", name: "n" } } },
    ["x", "e/c", "K.g/n", "24h"],
  ],
  [
    "IP address",
    "networking.k8s.io/ipaddresses",
    { spec: { parentRef: { resource: "services", namespace: "ns", name: "s" } } },
    ["x", "services/ns/s"],
  ],
  [
    "network policy: all pods",
    "networking.k8s.io/networkpolicies",
    { spec: { podSelector: {} } },
    ["x", "<none>", "24h"],
  ],
  [
    "event: old times",
    "/events",
    {
      type: "Normal",
      reason: "R",
      message: "m\n",
      count: 2,
      lastTimestamp: "2020-01-01T23:59:00Z",
      firstTimestamp: created,
      involvedObject: { kind: "Pod", name: "p", fieldPath: "spec" },
      source: { component: "kubelet", host: "h" },
    },
    ["60s", "Normal", "R", "pod/p", "spec", "kubelet, h", "m", "24h", 2, "x"],
  ],
  [
    "event: a series of the new kind",
    "events.k8s.io/events",
    {
      firstTimestamp: null,
      lastTimestamp: null,
      eventTime: created,
      series: { count: 7, lastObservedTime: "2020-01-01T23:59:30.000000Z" },
      involvedObject: { kind: "Node" },
      reportingComponent: "c",
    },
    ["30s", "", "", "node", "", "c", "", "24h", 7, "x"],
  ],
  [
    "event: only one",
    "/events",
    { firstTimestamp: null, lastTimestamp: null },
    ["<unknown>", "", "", "", "", "", "", "<unknown>", 1, "x"],
  ],
  [
    "volume",
    "/persistentvolumes",
    {
      spec: {
        capacity: { storage: "5Gi" },
        accessModes: ["ReadWriteMany", "ReadWriteOnce", "ReadWriteMany"],
        persistentVolumeReclaimPolicy: "Retain",
        claimRef: { namespace: "ns", name: "c" },
        storageClassName: "fast",
        volumeMode: "Block",
      },
      status: { phase: "Bound" },
    },
    ["x", "5Gi", "RWO,RWX", "Retain", "Bound", "ns/c", "fast", "<unset>", "", "24h", "Block"],
  ],
  [
    "claim: bound, an old annotation",
    "/persistentvolumeclaims",
    {
      metadata: { annotations: { "volume.beta.kubernetes.io/storage-class": "old" } },
      spec: { volumeName: "v", storageClassName: "new" },
      status: { phase: "Bound", capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOncePod"] },
    },
    ["x", "Bound", "v", "1Gi", "RWOP", "old", "<unset>", "24h", "<unset>"],
  ],
  [
    "claim: pending, being deleted",
    "/persistentvolumeclaims",
    {
      metadata: { deletionTimestamp: created },
      spec: { accessModes: ["ReadWriteOnce"] },
      status: { phase: "Pending" },
    },
    ["x", "Terminating", "", "", "", "", "<unset>", "24h", "<unset>"],
  ],
  [
    "storage class: the default one",
    "storage.k8s.io/storageclasses",
    { metadata: { annotations: { "storageclass.kubernetes.io/is-default-class": "true" } }, provisioner: "p" },
    ["x (default)", "p", "Delete", "Immediate", false, "24h"],
  ],
  [
    "autoscaler",
    "autoscaling/horizontalpodautoscalers",
    {
      spec: {
        scaleTargetRef: { kind: "Deployment", name: "web" },
        minReplicas: 1,
        maxReplicas: 4,
        metrics: [
          { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
          { type: "Pods", pods: { target: { averageValue: "10" } } },
          { type: "Object", object: { target: { value: "1" } } },
        ],
      },
      status: {
        currentReplicas: 2,
        currentMetrics: [{ type: "Resource", resource: { current: { averageUtilization: 12 } } }],
      },
    },
    ["x", "Deployment/web", "cpu: 12%/80%, <unknown>/10 + 1 more...", "1", 4, 2, "24h"],
  ],
  [
    "autoscaler: averages of other things",
    "autoscaling/horizontalpodautoscalers",
    {
      spec: {
        metrics: [
          { type: "External", external: { target: { averageValue: "5" } } },
          { type: "Object", object: { target: { value: "1" } } },
        ],
      },
      status: {
        currentMetrics: [{ external: { current: { averageValue: "3" } } }, { object: { current: { value: "2" } } }],
      },
    },
    ["x", "/", "3/5 (avg), 2/1", "<unset>", 0, 0, "24h"],
  ],
  [
    "disruption budget",
    "policy/poddisruptionbudgets",
    { spec: { minAvailable: "50%" }, status: {} },
    ["x", "50%", "N/A", 0, "24h"],
  ],
  [
    "role binding",
    "rbac.authorization.k8s.io/rolebindings",
    {
      roleRef: { kind: "Role", name: "r" },
      subjects: [
        { kind: "User", name: "u" },
        { kind: "User", name: "v" },
        { kind: "Group", name: "g" },
        { kind: "ServiceAccount", namespace: "ns", name: "s" },
      ],
    },
    ["x", "Role/r", "24h", "u, v", "g", "ns/s"],
  ],
  [
    "quota: limits apart",
    "/resourcequotas",
    { status: { hard: { pods: "3", "limits.cpu": "2", constructor: "1" }, used: { pods: "1" } } },
    ["x", "constructor: 0/1, pods: 1/3", "limits.cpu: 0/2", "24h"],
  ],
  ["lease", "coordination.k8s.io/leases", { spec: { holderIdentity: "me" } }, ["x", "me", "24h"]],
  [
    "lease candidate",
    "coordination.k8s.io/leasecandidates",
    { spec: { leaseName: "l", binaryVersion: "1.36.0" } },
    ["x", "l", "1.36.0", "", "24h"],
  ],
  [
    "storage version",
    "internal.apiserver.k8s.io/storageversions",
    { status: { storageVersions: [{ apiServerID: "a", encodingVersion: "v1" }] } },
    ["x", "<unset>", "a=v1", "24h"],
  ],
  [
    "migration",
    "storagemigration.k8s.io/storageversionmigrations",
    {
      spec: { resource: { group: "apps", resource: "deployments" } },
      status: { conditions: [{ type: "Running", status: "True" }] },
    },
    ["x", "deployments.apps", "Running"],
  ],
  [
    "policy binding: a parameter by name",
    "admissionregistration.k8s.io/validatingadmissionpolicybindings",
    { spec: { policyName: "p", paramRef: { name: "n" } } },
    ["x", "p", "*/n", "24h"],
  ],
  [
    "policy binding: parameters by selector",
    "admissionregistration.k8s.io/validatingadmissionpolicybindings",
    {
      spec: {
        policyName: "p",
        paramRef: {
          selector: {
            matchLabels: { b: "2", a: "1" },
            matchExpressions: [{ key: "k", operator: "In", values: ["v", "w"] }],
          },
        },
      },
    },
    [
      "x",
      "p",
      "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[v w],},},}",
      "24h",
    ],
  ],
  [
    "policy binding: no parameter",
    "admissionregistration.k8s.io/validatingadmissionpolicybindings",
    { spec: {} },
    ["x", "", "<unset>", "24h"],
  ],
  [
    "priority class",
    "scheduling.k8s.io/priorityclasses",
    { value: 7, preemptionPolicy: "Never" },
    ["x", 7, false, "24h", "Never"],
  ],
  [
    "certificate request",
    "certificates.k8s.io/certificatesigningrequests",
    {
      spec: { signerName: "e/s", username: "u", expirationSeconds: 3600 },
      status: { conditions: [{ type: "Approved" }, { type: "Failed" }], certificate: "AA==" },
    },
    ["x", "24h", "e/s", "u", "60m", "Approved,Failed,Issued"],
  ],
  [
    "a denied PodCertificateRequest",
    "certificates.k8s.io/podcertificaterequests",
    {
      spec: {
        podName: "p",
        serviceAccountName: "s",
        nodeName: "n",
        signerName: "e/s",
        unverifiedUserAnnotations: { "e/a": "1" },
      },
      status: { conditions: [{ type: "Denied", status: "True" }] },
    },
    ["x", "p", "s", "n", "e/s", "Denied", "e/a=1"],
  ],
  [
    "a group of pods",
    "scheduling.k8s.io/podgroups",
    {
      spec: { schedulingPolicy: { gang: { minCount: 2 } }, podGroupTemplateRef: { workload: { workloadName: "w" } } },
      status: { conditions: [{ type: "PodGroupScheduled", status: "False" }] },
    },
    ["x", "Gang", "w", "Unschedulable", "24h"],
  ],
  [
    "a group of pods that has to go",
    "scheduling.k8s.io/podgroups",
    { status: { conditions: [{ type: "DisruptionTarget", status: "True", reason: "Preempted" }] } },
    ["x", "Basic", "<none>", "Preempted", "24h"],
  ],
  [
    "a taint",
    "resource.k8s.io/devicetaintrules",
    { spec: { taint: { key: "k", value: "v", effect: "NoExecute", timeAdded: created } } },
    ["x", "k", "v", "NoExecute", "24h", "24h"],
  ],
  [
    "pools to be counted",
    "resource.k8s.io/resourcepoolstatusrequests",
    { spec: { driver: "d" } },
    ["x", "d", "-", "-", "-", "-", "-", 0, "Pending", "<none>"],
  ],
  [
    "pools that were counted",
    "resource.k8s.io/resourcepoolstatusrequests",
    {
      spec: { driver: "d" },
      status: {
        poolCount: 3,
        pools: [
          { totalDevices: 4, availableDevices: 1, allocatedDevices: 2, unavailableDevices: 1 },
          { totalDevices: 2, validationError: "no" },
        ],
        conditions: [{ type: "Complete", status: "True", lastTransitionTime: created }],
      },
    },
    ["x", "d", "6", "1", "2", "1", "1", 3, "Complete (2/3 pools)", "24h"],
  ],
  [
    "flow schema",
    "flowcontrol.apiserver.k8s.io/flowschemas",
    { spec: { matchingPrecedence: 9 } },
    ["x", "", 9, "<none>", "24h", "?"],
  ],
  [
    "a claim that is used",
    "resource.k8s.io/resourceclaims",
    { status: { allocation: {}, reservedFor: [{}] } },
    ["x", "allocated,reserved", "24h"],
  ],
];

for (const [what, resource, object, want] of rows) test(what, () => assert.deepEqual(cells(resource, object), want));

test("columns are of existing kinds, have a column Name, and show objects that have metadata only", () => {
  const served = { serves: (_group: string, version: string): boolean => !/alpha|beta/.test(version) };
  const definitions = builtinDefinitions({ strategies: builtinStrategies, conversions: builtinConversions, served });
  const byName = new Map(definitions.map(({ group, resource, strategy }) => [`${group}/${resource}`, strategy]));
  for (const [resource, { columns }] of Object.entries(builtinStrategies)) {
    if (columns === undefined) continue;
    assert.equal(byName.get(resource)?.columns, columns, resource);
    assert.equal(columns.filter(({ name }) => name === "Name").length, 1, resource);
    for (const object of [{}, { spec: {}, status: {} }]) {
      for (const cell of cells(resource, object)) assert.notEqual(cell ?? "undefined", "undefined", resource);
    }
  }
});
