/**
 * Writes random clusters (pods, volumes and other objects that name nodes) with requests of nodes, one JSON object a line. main.go adds upstream's
 * decisions.
 */
import { seededRandom } from "../../../../test/support/seeded-random.ts";

const worlds = 36;
const requestsPerWorld = 150;
const random = seededRandom(136);
const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T;
const upTo = <T>(count: number, make: () => T): T[] => Array.from({ length: random(count + 1) }, make);
const sometimes = (oneIn: number, part: object): object => (random(oneIn) === 0 ? part : {});

const namespaces = ["a", "kube-node-lease"];
const name = (): string => pick(["x", "y", "n1", "n2", "p-x"]);
const local = (): object => ({ name: name() });
const reference = (): object => ({ name: name(), ...sometimes(2, { namespace: pick(namespaces) }) });

const podVolume = (): object => ({
  name: name(),
  ...pick([
    { secret: { secretName: name() } },
    { configMap: local() },
    { persistentVolumeClaim: { claimName: name() } },
    { ephemeral: { volumeClaimTemplate: { spec: {} } } },
    { projected: { sources: [{ secret: local() }, { configMap: local() }] } },
    { csi: { driver: "d", nodePublishSecretRef: local() } },
    { azureFile: { secretName: name(), shareName: "s" } },
    { cephfs: { monitors: [], secretRef: local() } },
    { cinder: { volumeID: "v", secretRef: local() } },
    { flexVolume: { driver: "d", secretRef: local() } },
    { iscsi: { targetPortal: "", iqn: "", lun: 0, secretRef: local() } },
    { rbd: { monitors: [], image: "", secretRef: local() } },
    { scaleIO: { gateway: "", system: "", secretRef: local() } },
    { storageos: { secretRef: local() } },
    { emptyDir: {} },
  ]),
});

const container = (): object => ({
  name: "c",
  env: [
    {
      name: "A",
      ...pick([
        { valueFrom: { secretKeyRef: { ...local(), key: "k" } } },
        { valueFrom: { configMapKeyRef: { ...local(), key: "k" } } },
        { value: "x" },
      ]),
    },
  ],
  envFrom: [pick([{ secretRef: local() }, { configMapRef: local() }])],
});

const pod = (): object => ({
  metadata: {
    name: pick(["p", "q", "r"]),
    namespace: pick(namespaces),
    ...sometimes(8, { annotations: { "kubernetes.io/config.mirror": "" } }),
  },
  spec: {
    nodeName: pick(["n1", "n2"]),
    ...sometimes(2, { serviceAccountName: name() }),
    ...sometimes(3, { imagePullSecrets: [local()] }),
    volumes: upTo(2, podVolume),
    initContainers: upTo(1, container),
    containers: upTo(1, container),
    ephemeralContainers: random(4) === 0 ? [container()] : [],
    resourceClaims: upTo(1, () => ({
      name: name(),
      ...pick([{ resourceClaimName: name() }, { resourceClaimTemplateName: "t" }]),
    })),
  },
  status: {
    resourceClaimStatuses: upTo(1, () => ({ name: name(), ...sometimes(2, { resourceClaimName: name() }) })),
    ...sometimes(4, { extendedResourceClaimStatus: { resourceClaimName: name(), requestMappings: [] } }),
  },
});

const csiSecrets = [
  "nodePublishSecretRef",
  "nodeStageSecretRef",
  "nodeExpandSecretRef",
  "controllerPublishSecretRef",
  "controllerExpandSecretRef",
];

const volume = (): object => ({
  metadata: { name: name() },
  spec: {
    ...(random(5) > 0 && { claimRef: { namespace: pick(namespaces), name: name() } }),
    ...pick([
      { azureFile: { secretName: name(), shareName: "s", ...sometimes(2, { secretNamespace: pick(namespaces) }) } },
      { cephfs: { monitors: [], secretRef: reference() } },
      { cinder: { volumeID: "v", secretRef: reference() } },
      { csi: { driver: "d", volumeHandle: "h", [pick(csiSecrets)]: reference() } },
      { flexVolume: { driver: "d", secretRef: reference() } },
      { iscsi: { targetPortal: "", iqn: "", lun: 0, secretRef: reference() } },
      { rbd: { monitors: [], image: "", secretRef: reference() } },
      { scaleIO: { gateway: "", system: "", secretRef: reference() } },
      { storageos: { secretRef: reference() } },
      { hostPath: { path: "/" } },
    ]),
  },
});

const own = (): object => {
  const kind = pick(["volumeattachment", "resourceslice", "podcertificaterequest"]);
  return {
    kind,
    namespace: kind === "podcertificaterequest" ? pick(namespaces) : "",
    name: name(),
    node: pick(["n1", "n2"]),
  };
};

const resources = [
  "/secrets",
  "/configmaps",
  "/persistentvolumeclaims",
  "/persistentvolumes",
  "resource.k8s.io/resourceclaims",
  "storage.k8s.io/volumeattachments",
  "/serviceaccounts",
  "coordination.k8s.io/leases",
  "storage.k8s.io/csinodes",
  "resource.k8s.io/resourceslices",
  "/nodes",
  "/pods",
  "certificates.k8s.io/podcertificaterequests",
  "/services",
  "/events",
  "apps/deployments",
  "node.k8s.io/runtimeclasses",
];
const clusterScoped = [
  "persistentvolumes",
  "volumeattachments",
  "csinodes",
  "resourceslices",
  "nodes",
  "runtimeclasses",
];
const selectors = [
  "spec.nodeName=n1",
  "spec.nodeName==n2",
  "spec.nodeName!=n1",
  "metadata.name=x,spec.nodeName=n1",
  "spec.nodeName=",
];
const verbs = ["get", "get", "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

const request = (): object => {
  const [group = "", resource = ""] = pick(resources).split("/");
  const plainGet = random(3) === 0;
  return {
    user: pick(["system:node:n1", "system:node:n1", "system:node:n2", "system:node:", "ann"]),
    groups: random(10) === 0 ? [] : ["system:nodes"],
    verb: plainGet ? "get" : pick(verbs),
    group,
    resource,
    subresource: plainGet || random(4) > 0 ? "" : pick(["status", "token", "eviction", "log"]),
    namespace: clusterScoped.includes(resource) || random(6) === 0 ? "" : pick(namespaces),
    name: random(4) === 0 ? "" : name(),
    fieldSelector: random(3) === 0 ? pick(selectors) : "",
  };
};

const gates = ["", "PodCertificateRequest=true", "KubeletServiceAccountTokenForCredentialProviders=false"];

for (let at = 0; at < worlds; at++) {
  const world = { gates: gates[at % gates.length], pods: upTo(5, pod), volumes: upTo(4, volume), own: upTo(4, own) };
  console.log(JSON.stringify({ ...world, requests: Array.from({ length: requestsPerWorld }, request) }));
}
