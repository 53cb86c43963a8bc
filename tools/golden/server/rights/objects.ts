/** A minimal valid object of each built-in resource. `$N` is replaced by a letter, `$I` by a number for that letter. */
import { anyCertificate, certificateRequest } from "../../../../test/support/certificate-request.ts";

// biome-ignore lint/suspicious/noExplicitAny: any object of any kind.
type Sent = Record<string, any>;

/** Namespaced objects are in this namespace. */
export const namespace = "rights";

const pod = { containers: [{ name: "c", image: "i" }] };
const template = { metadata: { labels: { app: "a" } }, spec: pod };
const selector = { matchLabels: { app: "a" } };
const resourceRule = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] };
const webhooks = [
  {
    name: "w.example.com",
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    rules: [resourceRule],
    clientConfig: { url: "https://127.0.0.1:1/" },
  },
];
const namedReference = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "missing" };
const matchConstraints = { resourceRules: [resourceRule] };
const mutation = { patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } };
const deviceRequest = { name: "r", exactly: { deviceClassName: "c" } };
const stubPKCS10Request = [
  "MH8wMwIBADAAMCowBQYDK2VwAyEA2YqWfise0WMF1DEVbhj8z6arFCxEfcjW5QlH9iDyenWgADAFBgMrZXADQQAR56higXDfhGD6KtvY06NY",
  "/EBlwORRKwJhjRYs7C1ieuVAgEB1XYA4Xd9KED7taqJPpd5qEad/oRE4GZsYL5QL",
].join("");
const definition = {
  group: "$N.example.com",
  names: { plural: "things", kind: "Thing" },
  scope: "Namespaced",
  versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
};

/** Objects by `group/resource`, or `group/version/resource` for versions with other fields. The name is `$N` by default. */
const objects: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "/componentstatuses": {},
  "/configmaps": { data: { k: "v" } },
  "/endpoints": {},
  "/events": { involvedObject: { kind: "Pod", namespace, name: "x" }, reason: "R" },
  "/limitranges": { spec: { limits: [{ type: "Pod", max: { cpu: "1" } }] } },
  "/namespaces": { metadata: { name: "rights-$N" } },
  "/nodes": {},
  "/persistentvolumeclaims": { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
  "/persistentvolumes": {
    spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } },
  },
  "/pods": { spec: pod },
  "/podtemplates": { template },
  "/replicationcontrollers": { spec: { selector: { app: "a" }, template } },
  "/resourcequotas": { spec: { hard: { pods: "3" } } },
  "/secrets": {},
  "/serviceaccounts": {},
  "/services": { spec: { ports: [{ port: 80 }] } },
  "admissionregistration.k8s.io/mutatingadmissionpolicies": {
    spec: { matchConstraints, reinvocationPolicy: "Never", mutations: [mutation] },
  },
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings": { spec: { policyName: "missing" } },
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": { webhooks },
  "admissionregistration.k8s.io/validatingadmissionpolicies": {
    spec: { matchConstraints, validations: [{ expression: "true" }] },
  },
  "admissionregistration.k8s.io/validatingadmissionpolicybindings": {
    spec: { policyName: "missing", validationActions: ["Audit"] },
  },
  "admissionregistration.k8s.io/validatingwebhookconfigurations": { webhooks },
  "apiextensions.k8s.io/customresourcedefinitions": { metadata: { name: "things.$N.example.com" }, spec: definition },
  "apiregistration.k8s.io/apiservices": {
    metadata: { name: "v1.$N.example.org" },
    spec: { group: "$N.example.org", version: "v1", groupPriorityMinimum: 100, versionPriority: 10 },
  },
  "apps/controllerrevisions": { revision: 1, data: { k: "v" } },
  "apps/daemonsets": { spec: { selector, template } },
  "apps/deployments": { spec: { selector, template } },
  "apps/replicasets": { spec: { selector, template } },
  "apps/statefulsets": { spec: { serviceName: "s", selector, template } },
  "autoscaling/horizontalpodautoscalers": {
    spec: { maxReplicas: 5, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" } },
  },
  "batch/cronjobs": {
    spec: {
      schedule: "*/5 * * * *",
      jobTemplate: { spec: { template: { spec: { ...pod, restartPolicy: "Never" } } } },
    },
  },
  "batch/jobs": { spec: { template: { spec: { ...pod, restartPolicy: "Never" } } } },
  "certificates.k8s.io/certificatesigningrequests": {
    spec: { request: certificateRequest, signerName: "example.com/s", usages: ["client auth"] },
  },
  "certificates.k8s.io/clustertrustbundles": {
    spec: { trustBundle: Buffer.from(anyCertificate, "base64").toString() },
  },
  "certificates.k8s.io/podcertificaterequests": {
    spec: {
      signerName: "example.com/s",
      podName: "p",
      podUID: "u1",
      serviceAccountName: "sa",
      serviceAccountUID: "u2",
      nodeName: "n",
      nodeUID: "u3",
      maxExpirationSeconds: 3600,
      stubPKCS10Request,
    },
  },
  "coordination.k8s.io/leasecandidates": {
    spec: { leaseName: "l", binaryVersion: "1.2.3", emulationVersion: "1.2.3", strategy: "OldestEmulationVersion" },
  },
  "coordination.k8s.io/leases": { spec: { holderIdentity: "h" } },
  "discovery.k8s.io/endpointslices": { addressType: "IPv4", endpoints: [] },
  "events.k8s.io/events": {
    regarding: { kind: "Pod", namespace, name: "x" },
    eventTime: "2024-01-02T03:04:05.000001Z",
    reason: "R",
    action: "A",
    type: "Normal",
    reportingController: "example.com/c",
    reportingInstance: "i",
  },
  "flowcontrol.apiserver.k8s.io/flowschemas": { spec: { priorityLevelConfiguration: { name: "exempt" } } },
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": {
    spec: { type: "Limited", limited: { nominalConcurrencyShares: 1, limitResponse: { type: "Reject" } } },
  },
  "internal.apiserver.k8s.io/storageversions": { metadata: { name: "$N.example.com.things" }, spec: {}, status: {} },
  "networking.k8s.io/ingressclasses": { spec: { controller: "example.com/c" } },
  "networking.k8s.io/ingresses": { spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } } },
  "networking.k8s.io/ipaddresses": {
    metadata: { name: "192.168.77.$I" },
    spec: { parentRef: { resource: "services", namespace, name: "n" } },
  },
  "networking.k8s.io/networkpolicies": { spec: { podSelector: {} } },
  "networking.k8s.io/servicecidrs": { spec: { cidrs: ["10.78.$I.0/24"] } },
  "node.k8s.io/runtimeclasses": { handler: "x" },
  "policy/poddisruptionbudgets": { spec: { minAvailable: 1, selector } },
  "rbac.authorization.k8s.io/clusterrolebindings": { roleRef: namedReference },
  "rbac.authorization.k8s.io/clusterroles": { rules: [] },
  "rbac.authorization.k8s.io/rolebindings": { roleRef: namedReference },
  "rbac.authorization.k8s.io/roles": { rules: [] },
  "resource.k8s.io/deviceclasses": { spec: {} },
  "resource.k8s.io/devicetaintrules": {
    spec: { deviceSelector: { driver: "d.example.com" }, taint: { key: "a.b/c", value: "v", effect: "NoSchedule" } },
  },
  "resource.k8s.io/resourceclaims": { spec: { devices: { requests: [deviceRequest] } } },
  "resource.k8s.io/resourceclaimtemplates": { spec: { spec: { devices: { requests: [deviceRequest] } } } },
  "resource.k8s.io/v1beta1/resourceclaims": { spec: { devices: { requests: [{ name: "r", deviceClassName: "c" }] } } },
  "resource.k8s.io/v1beta1/resourceclaimtemplates": {
    spec: { spec: { devices: { requests: [{ name: "r", deviceClassName: "c" }] } } },
  },
  "resource.k8s.io/resourceslices": {
    spec: {
      driver: "d.example.com",
      nodeName: "n",
      pool: { name: "p", resourceSliceCount: 1, generation: 1 },
      devices: [],
    },
  },
  "resource.k8s.io/resourcepoolstatusrequests": { spec: { driver: "d.example.com" } },
  "scheduling.k8s.io/podgroups": { spec: { schedulingPolicy: { basic: {} } } },
  "scheduling.k8s.io/priorityclasses": { value: 5 },
  "scheduling.k8s.io/workloads": { spec: { podGroupTemplates: [{ name: "g", schedulingPolicy: { basic: {} } }] } },
  "storage.k8s.io/csidrivers": { spec: {} },
  "storage.k8s.io/csinodes": { spec: { drivers: [] } },
  "storage.k8s.io/csistoragecapacities": { storageClassName: "sc" },
  "storage.k8s.io/storageclasses": { provisioner: "p" },
  "storage.k8s.io/volumeattachments": {
    spec: { attacher: "d.example.com", nodeName: "n", source: { persistentVolumeName: "pv" } },
  },
  "storage.k8s.io/volumeattributesclasses": { driverName: "d.example.com", parameters: { a: "b" } },
  "storagemigration.k8s.io/storageversionmigrations": { spec: { resource: { group: "", resource: "configmaps" } } },
  // Custom resources, of the definitions in custom-definitions.ts.
  "rights.example.com/widgets": { spec: { replicas: 1 } },
  "rights.example.com/gadgets": {},
};

/** @param letter the name, a single letter */
export function objectOf(
  { group, version, resource, kind }: Record<"group" | "version" | "resource" | "kind", string>,
  letter: string,
): Sent {
  const found = objects[`${group}/${version}/${resource}`] ?? objects[`${group}/${resource}`];
  if (found === undefined) throw new Error(`there is no object of ${group}/${resource}`);
  const text = JSON.stringify(found)
    .replaceAll("$N", letter)
    .replaceAll("$I", String(letter.charCodeAt(0)));
  const { metadata, ...rest } = JSON.parse(text);
  const apiVersion = group === "" ? version : `${group}/${version}`;
  return { apiVersion, kind, metadata: { name: letter, labels: { of: "rights" }, ...metadata }, ...rest };
}
