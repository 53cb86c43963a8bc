import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type MemoryRegistry, openMemoryRegistry } from "../../../../test/support/memory-registry.ts";
import { ApiError } from "../../../apimachinery/errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { UserInfo } from "../../../apimachinery/user.ts";
import type { Authorizer } from "../../../authorization/contract.ts";
import { setMember } from "../../../lib/json/values.ts";
import { loadX509 } from "../../../lib/load-x509.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../contract.ts";
import { nodeRestriction } from "./node-restriction.ts";

const mirror = "kubernetes.io/config.mirror";
const forbidden = (resource: string, name: string, why: string): string => `${resource} "${name}" is forbidden: ${why}`;

const meta = (name: string, more: object = {}): KubeObject["metadata"] => ({ name, namespace: "ns", ...more });
const container = { name: "c", image: "i" };
const podOn = (nodeName: string | undefined, more: object = {}): object => ({
  ...(nodeName !== undefined && { nodeName }),
  containers: [container],
  ...more,
});
const token = (audience?: string): object => ({
  name: "t",
  projected: {
    sources: [
      { serviceAccountToken: { path: "t", expirationSeconds: 600, ...(audience !== undefined && { audience }) } },
    ],
  },
});
const csiDriver = (name: string, ...audiences: string[]): KubeObject => ({
  metadata: { name },
  spec: { tokenRequests: audiences.map((audience) => ({ audience })) },
});
const volume = (name: string, source: object): KubeObject => ({
  metadata: { name },
  spec: {
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce"],
    persistentVolumeReclaimPolicy: "Retain",
    ...source,
  },
});
const claim = (name: string, volumeName: string): KubeObject => ({
  metadata: meta(name),
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, volumeName },
});

/** What is there. */
const stored: [resource: string, namespace: string, object: KubeObject][] = [
  ["/namespaces", "", { metadata: { name: "ns" } }],
  ["/nodes", "", { metadata: { name: "n1" }, spec: {} }],
  ["/serviceaccounts", "ns", { metadata: meta("robot") }],
  [
    "/pods",
    "ns",
    {
      metadata: meta("mine"),
      spec: podOn("n1", { serviceAccountName: "robot", volumes: [token("good"), { ...token(), name: "u" }] }),
    },
  ],
  ["/pods", "ns", { metadata: meta("other"), spec: podOn("n2") }],
  ["/pods", "ns", { metadata: meta("waiting"), spec: podOn(undefined) }],
  ["/pods", "ns", { metadata: meta("shown", { annotations: { [mirror]: "x" } }), spec: podOn("n1") }],
  [
    "/pods",
    "ns",
    {
      metadata: meta("mounts"),
      spec: podOn("n1", {
        volumes: [
          { name: "a", csi: { driver: "direct.csi" } },
          { name: "b", persistentVolumeClaim: { claimName: "claim" } },
          {
            name: "c",
            ephemeral: {
              volumeClaimTemplate: {
                spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
              },
            },
          },
          { name: "d", gcePersistentDisk: { pdName: "d" } },
          { name: "e", persistentVolumeClaim: { claimName: "old" } },
        ],
      }),
    },
  ],
  [
    "/pods",
    "ns",
    {
      metadata: meta("broken"),
      spec: podOn("n1", { volumes: [{ name: "b", persistentVolumeClaim: { claimName: "gone" } }] }),
    },
  ],
  [
    "/pods",
    "ns",
    {
      metadata: meta("unbound"),
      spec: podOn("n1", { volumes: [{ name: "b", persistentVolumeClaim: { claimName: "loose" } }] }),
    },
  ],
  [
    "/pods",
    "ns",
    {
      metadata: meta("twice"),
      spec: podOn("n1", {
        volumes: [
          { name: "a", csi: { driver: "absent.csi" } },
          { name: "b", persistentVolumeClaim: { claimName: "gone" } },
        ],
      }),
    },
  ],
  ["/persistentvolumeclaims", "ns", claim("claim", "pv")],
  ["/persistentvolumeclaims", "ns", claim("mounts-c", "pv-c")],
  ["/persistentvolumeclaims", "ns", claim("old", "pv-old")],
  ["/persistentvolumeclaims", "ns", claim("loose", "nowhere")],
  ["/persistentvolumes", "", volume("pv", { csi: { driver: "claimed.csi", volumeHandle: "h" } })],
  ["/persistentvolumes", "", volume("pv-c", { csi: { driver: "ephemeral.csi", volumeHandle: "h" } })],
  ["/persistentvolumes", "", volume("pv-old", { vsphereVolume: { volumePath: "p" } })],
  ["storage.k8s.io/csidrivers", "", csiDriver("direct.csi", "direct")],
  ["storage.k8s.io/csidrivers", "", csiDriver("claimed.csi", "claimed", "claimed-too")],
  ["storage.k8s.io/csidrivers", "", csiDriver("ephemeral.csi", "ephemeral")],
  ["storage.k8s.io/csidrivers", "", csiDriver("pd.csi.storage.gke.io", "inline")],
  ["storage.k8s.io/csidrivers", "", csiDriver("csi.vsphere.vmware.com", "translated")],
];

let cluster: MemoryRegistry;
const uids = new Map<string, string>();

before(async () => {
  cluster = await openMemoryRegistry();
  for (const [resource, namespace, object] of stored) {
    const { metadata } = await cluster.create([resource, namespace], object);
    uids.set(`${resource}/${metadata.name}`, metadata.uid as string);
  }
});
after(() => cluster.close());

const user: UserInfo = {
  name: "system:node:n1",
  uid: "",
  groups: ["system:nodes", "system:authenticated"],
  extra: new Map(),
};
const gatesOff = ["AllowInsecureKubeletCertificateSigningRequests", "PodCertificateRequest"];
const mayAsk: Authorizer = ({ verb, resource, namespace, name }) => {
  const asked = `${verb} ${resource} ${namespace}/${name}`;
  return {
    decision: asked === "request-serviceaccounts-token-audience granted ns/robot" ? "allow" : "noOpinion",
    reason: "",
  };
};

interface Write {
  /** `CREATE group/resource/subresource name` */
  readonly request: string;
  readonly namespace?: string;
  readonly object?: object;
  readonly old?: object;
  readonly as?: Partial<UserInfo>;
  /** Gates that are switched. */
  readonly gates?: readonly string[];
}

/** @returns the refusal's message, with the code before it when that is not 403; undefined when the write may go on */
async function refusalOf({
  request,
  namespace = "ns",
  object,
  old,
  as,
  gates = [],
}: Write): Promise<string | undefined> {
  const [operation = "", what = "", name = ""] = request.split(" ");
  const [group = "", resource = "", subresource = ""] = what.split("/");
  const { catalog } = cluster.registry;
  const definition = catalog.definitions().find((each) => each.group === group && each.resource === resource);
  const target = catalog.find(group, definition?.storage?.version ?? "v1", resource) ?? {
    resource: { definition, store: undefined },
  };
  const attributes = {
    operation,
    target,
    subresource,
    namespace,
    name,
    object: filled(object),
    oldObject: filled(old),
    user: { ...user, ...as },
    dryRun: false,
    warnings: [],
    undo: [],
  } as unknown as AdmissionAttributes;
  const plugin: AdmissionPlugin = nodeRestriction({
    catalog,
    authorize: mayAsk,
    enabled: (gate) => gatesOff.includes(gate) === gates.includes(gate),
  });
  try {
    await plugin.mutate?.(attributes);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return error.status.code === 403 ? error.message : `${error.status.code} ${error.message}`;
  }
}

/** `uid:/pods/mine` stands for what was given out. */
function filled(object: object | undefined): KubeObject | undefined {
  if (object === undefined) return undefined;
  const text = JSON.stringify({ metadata: {}, ...object }).replaceAll(/"uid:([^"]*)"/g, (_, key: string) =>
    JSON.stringify(uids.get(key)),
  );
  return JSON.parse(text);
}

const owner = { apiVersion: "v1", kind: "Node", name: "n1", uid: "uid:/nodes/n1", controller: true };
const newMirror = (spec: object = {}, owners: object[] = [owner], nodeName = "n1"): object => ({
  metadata: meta("p", { annotations: { [mirror]: "x" }, ownerReferences: owners }),
  spec: { ...podOn(nodeName), ...spec },
});
const withVolume = (source: object): object => newMirror({ volumes: [{ name: "v", ...source }] });
const pods = (name: string, why: string): string => forbidden("pods", name, why);
const n1 = 'node "n1"';
const ownerItself = pods("p", `${n1} can only create pods with an owner reference set to itself`);
const references = (what: string): string => pods("p", `${n1} can not create pods that reference ${what}`);

const podRows: [what: string, write: Write, refusal?: string][] = [
  ["a mirror pod of its own", { request: "CREATE /pods p", object: newMirror() }],
  [
    "a pod that is no mirror",
    { request: "CREATE /pods p", object: { metadata: meta("p"), spec: podOn("n1") } },
    pods("p", `pod does not have "${mirror}" annotation, ${n1} can only create mirror pods`),
  ],
  [
    "a mirror pod for another",
    { request: "CREATE /pods p", object: newMirror({}, [owner], "n2") },
    pods("p", `${n1} can only create pods with spec.nodeName set to itself`),
  ],
  ["a mirror pod without owner", { request: "CREATE /pods p", object: newMirror({}, []) }, ownerItself],
  [
    "a mirror pod with two owners",
    { request: "CREATE /pods p", object: newMirror({}, [owner, owner]) },
    pods("p", `${n1} can only create pods with a single owner reference set to itself`),
  ],
  [
    "a mirror pod of another owner",
    { request: "CREATE /pods p", object: newMirror({}, [{ ...owner, name: "n2" }]) },
    ownerItself,
  ],
  [
    "a mirror pod of an owner of another kind",
    { request: "CREATE /pods p", object: newMirror({}, [{ ...owner, kind: "Pod" }]) },
    ownerItself,
  ],
  [
    "a mirror pod of an owner of another version",
    { request: "CREATE /pods p", object: newMirror({}, [{ ...owner, apiVersion: "v2" }]) },
    ownerItself,
  ],
  [
    "a mirror pod it does not control",
    { request: "CREATE /pods p", object: newMirror({}, [{ ...owner, controller: false }]) },
    pods("p", `${n1} can only create pods with a controller owner reference set to itself`),
  ],
  [
    "a mirror pod that blocks it",
    { request: "CREATE /pods p", object: newMirror({}, [{ ...owner, blockOwnerDeletion: true }]) },
    pods("p", `${n1} must not set blockOwnerDeletion on an owner reference`),
  ],
  [
    "a mirror pod that does not block it",
    { request: "CREATE /pods p", object: newMirror({}, [{ ...owner, blockOwnerDeletion: false }]) },
  ],
  [
    "a mirror pod before it is there",
    {
      request: "CREATE /pods p",
      object: newMirror({}, [{ ...owner, name: "n9" }], "n9"),
      as: { name: "system:node:n9" },
    },
    '404 node "n9" not found',
  ],
  [
    "a mirror pod that uses an account",
    { request: "CREATE /pods p", object: newMirror({ serviceAccountName: "a" }) },
    references("serviceaccounts"),
  ],
  [
    "a mirror pod with a pull secret",
    { request: "CREATE /pods p", object: newMirror({ imagePullSecrets: [{ name: "s" }] }) },
    references("secrets"),
  ],
  [
    "a mirror pod with settings",
    {
      request: "CREATE /pods p",
      object: newMirror({ initContainers: [{ ...container, envFrom: [{ configMapRef: { name: "c" } }] }] }),
    },
    references("configmaps"),
  ],
  [
    "a mirror pod with a claim of devices",
    { request: "CREATE /pods p", object: newMirror({ resourceClaims: [{ name: "x" }] }) },
    references("resourceclaims"),
  ],
  ["a mirror pod with an emptyDir", { request: "CREATE /pods p", object: withVolume({ emptyDir: {} }) }],
  [
    "a mirror pod with a path of the host",
    { request: "CREATE /pods p", object: withVolume({ hostPath: { path: "/" } }) },
  ],
  [
    "a mirror pod that projects itself",
    { request: "CREATE /pods p", object: withVolume({ projected: { sources: [{ downwardAPI: { items: [] } }] } }) },
  ],
  [
    "a mirror pod with a secret",
    { request: "CREATE /pods p", object: withVolume({ secret: { secretName: "s" } }) },
    references("secrets"),
  ],
  [
    "a mirror pod with a claim",
    { request: "CREATE /pods p", object: withVolume({ persistentVolumeClaim: { claimName: "c" } }) },
    references("persistentvolumeclaims"),
  ],
  [
    "a mirror pod with an ephemeral volume",
    { request: "CREATE /pods p", object: withVolume({ ephemeral: {} }) },
    references("persistentvolumeclaims (via ephemeral volumes)"),
  ],
  [
    "a mirror pod with a CSI volume",
    { request: "CREATE /pods p", object: withVolume({ csi: { driver: "d" } }) },
    references("csidrivers (via CSI volumes)"),
  ],
  [
    "a mirror pod with an optional secret without a name",
    { request: "CREATE /pods p", object: withVolume({ secret: {} }) },
    references("secrets (via secret volumes)"),
  ],
  [
    "a mirror pod with a gluster",
    { request: "CREATE /pods p", object: withVolume({ glusterfs: {} }) },
    references("endpoints (via glusterFS volumes)"),
  ],
  [
    "a mirror pod with a token",
    { request: "CREATE /pods p", object: newMirror({ volumes: [token()] }) },
    references("serviceaccounts (via projected volumes)"),
  ],
  [
    "a mirror pod with a bundle",
    {
      request: "CREATE /pods p",
      object: withVolume({ projected: { sources: [{ clusterTrustBundle: { path: "p" } }] } }),
    },
    references("clustertrustbundles"),
  ],
  [
    "a mirror pod with a certificate",
    { request: "CREATE /pods p", object: withVolume({ projected: { sources: [{ podCertificate: {} }] } }) },
    references("podcertificates"),
  ],
  [
    "a mirror pod with a projection of nothing",
    { request: "CREATE /pods p", object: withVolume({ projected: { sources: [{}] } }) },
    pods("p", 'error checking mirror pod for API references: unknown source for projected volume "v"'),
  ],
  [
    "a mirror pod with a volume of nothing",
    { request: "CREATE /pods p", object: withVolume({}) },
    pods("p", 'error checking mirror pod for API references: unknown volume type for volume  "v"'),
  ],
  [
    "a change of a pod",
    { request: "UPDATE /pods mine", object: { spec: podOn("n1") }, old: { spec: podOn("n1") } },
    pods("mine", `unexpected operation "UPDATE", ${n1} can only create and delete mirror pods`),
  ],
  ["an end of its pod", { request: "DELETE /pods mine", old: { spec: podOn("n1") } }],
  [
    "an end of another's pod",
    { request: "DELETE /pods other", old: { spec: podOn("n2") } },
    pods("other", `${n1} can only delete pods with spec.nodeName set to itself`),
  ],
  [
    "an end of nobody's pod",
    { request: "DELETE /pods waiting", old: { spec: podOn(undefined) } },
    pods("waiting", `${n1} can only delete pods with spec.nodeName set to itself`),
  ],
  [
    "another container in its pod",
    { request: "UPDATE /pods/ephemeralcontainers mine", object: {}, old: {} },
    pods("mine", "unexpected pod subresource \"ephemeralcontainers\", only 'status' and 'eviction' are allowed"),
  ],
  [
    "a binding",
    { request: "CREATE /pods/binding mine", object: {} },
    pods("mine", "unexpected pod subresource \"binding\", only 'status' and 'eviction' are allowed"),
  ],
  ["an eviction of its pod", { request: "CREATE /pods/eviction mine", object: {} }],
  [
    "an eviction of another's pod",
    { request: "CREATE /pods/eviction other", object: {} },
    pods("other", "node n1 can only evict pods with spec.nodeName set to itself"),
  ],
  [
    "an eviction of a pod that is not there",
    { request: "CREATE /pods/eviction gone", object: {} },
    '404 pod "gone" not found',
  ],
  [
    "an eviction of who knows",
    { request: "CREATE /pods/eviction", object: {} },
    pods("Unknown", "could not determine pod from request data"),
  ],
  [
    "a change of an eviction",
    { request: "UPDATE /pods/eviction mine", object: {}, old: {} },
    pods("mine", "unexpected operation UPDATE"),
  ],
];

const status = (labels: object, more: object = {}, nodeName = "n1"): object => ({
  metadata: meta("mine", { labels }),
  spec: podOn(nodeName),
  status: more,
});
const updateStatus = (object: object, old: object): Write => ({ request: "UPDATE /pods/status mine", object, old });
const claimStatus = (name: string, resourceClaimName?: string): object => ({
  resourceClaimStatuses: [{ name, ...(resourceClaimName && { resourceClaimName }) }],
});
const labels = pods("mine", `${n1} cannot update labels through pod status`);
const claims = pods("mine", `${n1} cannot update resource claim statues`);
const extended = pods("mine", `${n1} cannot update extended resource claim status`);
const extendedClaim = {
  extendedResourceClaimStatus: {
    resourceClaimName: "c",
    requestMappings: [{ containerName: "c", resourceName: "r", requestName: "q" }],
  },
};

const statusRows: [what: string, write: Write, refusal?: string][] = [
  ["the phase", updateStatus(status({ a: "b" }, { phase: "Running" }), status({ a: "b" }))],
  [
    "another's",
    updateStatus(status({}, {}), status({}, {}, "n2")),
    pods("mine", `${n1} can only update pod status for pods with spec.nodeName set to itself`),
  ],
  [
    "a new one",
    { request: "CREATE /pods/status mine", object: status({}) },
    pods("mine", 'unexpected operation "CREATE"'),
  ],
  ["none", { request: "DELETE /pods/status mine", old: status({}) }, pods("mine", 'unexpected operation "DELETE"')],
  ["more labels", updateStatus(status({ a: "b" }), status({})), labels],
  ["fewer labels", updateStatus(status({}), status({ a: "b" })), labels],
  ["another label", updateStatus(status({ a: "c" }), status({ a: "b" })), labels],
  ["the same claims", updateStatus(status({}, claimStatus("x", "y")), status({}, claimStatus("x", "y")))],
  ["a claim more", updateStatus(status({}, claimStatus("x", "y")), status({})), claims],
  ["another claim", updateStatus(status({}, claimStatus("x", "y")), status({}, claimStatus("x", "z"))), claims],
  ["a claim that is none", updateStatus(status({}, claimStatus("x")), status({}, claimStatus("x", "z"))), claims],
  ["the same devices", updateStatus(status({}, extendedClaim), status({}, extendedClaim))],
  ["no devices", updateStatus(status({}), status({}, extendedClaim)), extended],
  ["empty devices", updateStatus(status({}, { extendedResourceClaimStatus: {} }), status({})), extended],
  [
    "other devices",
    updateStatus(
      status(
        {},
        { extendedResourceClaimStatus: { ...extendedClaim.extendedResourceClaimStatus, requestMappings: [] } },
      ),
      status({}, extendedClaim),
    ),
    extended,
  ],
];

const self = (more: object = {}, spec: object = {}): object => ({ metadata: { name: "n1", ...more }, spec });
const create = (object: object): Write => ({ request: "CREATE /nodes n1", namespace: "", object });
const update = (object: object, old: object): Write => ({ request: "UPDATE /nodes n1", namespace: "", object, old });
const nodes = (why: string, name = "n1"): string => forbidden("nodes", name, why);
const taint = { key: "k", effect: "NoSchedule" };
const configSource = { configMap: { namespace: "n", name: "c", kubeletConfigKey: "k" } };
const mayNot = (keys: string): string => nodes(`${n1} is not allowed to set the following labels: ${keys}`);
const mayNotModify = (keys: string): string => nodes(`is not allowed to modify labels: ${keys}`);
const kubeletLabels = [
  "beta.kubernetes.io/arch",
  "beta.kubernetes.io/instance-type",
  "beta.kubernetes.io/os",
  "failure-domain.beta.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "kubernetes.io/arch",
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "node.kubernetes.io/instance-type",
  "topology.kubernetes.io/region",
  "topology.kubernetes.io/zone",
  "kubelet.kubernetes.io/any",
  "a.kubelet.kubernetes.io/any",
  "node.kubernetes.io/any",
  "a.node.kubernetes.io/any",
  "plain",
  "example.com/any",
  "notkubernetes.io/any",
  "notk8s.io/any",
];
const labelled = (...keys: string[]): object => self({ labels: Object.fromEntries(keys.map((key) => [key, "v"])) });
const strange = self({ labels: setMember2({ plain: "v" }, "__proto__", "x") });

function setMember2(target: Record<string, unknown>, key: string, value: unknown): object {
  setMember(target, key, value);
  return target;
}

const nodeRows: [what: string, write: Write, refusal?: string][] = [
  ["itself", create(self({}, { taints: [taint] }))],
  ["itself, with a label called __proto__", create(strange)],
  [
    "another",
    { request: "CREATE /nodes n2", namespace: "", object: { metadata: { name: "n2" } } },
    nodes(`${n1} is not allowed to modify node "n2"`, "n2"),
  ],
  [
    "one that has no name",
    { request: "CREATE /nodes", namespace: "", object: { metadata: { generateName: "n" } } },
    nodes(`${n1} is not allowed to modify node ""`, "n"),
  ],
  [
    "itself with settings from elsewhere",
    create(self({}, { configSource })),
    nodes(`${n1} is not allowed to create pods with a non-nil configSource`),
  ],
  ["itself, with labels of kubelets and others", create(labelled(...kubeletLabels))],
  [
    "itself with labels of Kubernetes",
    create(labelled("kubernetes.io/role", "node-role.kubernetes.io/master", "x.k8s.io/y", "k8s.io/z", "plain")),
    mayNot("k8s.io/z, kubernetes.io/role, node-role.kubernetes.io/master, x.k8s.io/y"),
  ],
  [
    "itself with labels that restrict it",
    create(labelled("node-restriction.kubernetes.io/a", "b.node-restriction.kubernetes.io/a")),
    mayNot("b.node-restriction.kubernetes.io/a, node-restriction.kubernetes.io/a"),
  ],
  ["nothing of itself", update(self(), self())],
  ["its status", { request: "UPDATE /nodes/status n1", namespace: "", object: self(), old: self() }],
  ["its end", { request: "DELETE /nodes n1", namespace: "", old: self() }],
  [
    "another's end",
    { request: "DELETE /nodes n2", namespace: "", old: self() },
    nodes(`${n1} is not allowed to modify node "n2"`, "n2"),
  ],
  [
    "another's status",
    { request: "UPDATE /nodes/status n2", namespace: "", object: self(), old: self() },
    nodes(`${n1} is not allowed to modify node "n2"`, "n2"),
  ],
  ["its settings to none", update(self(), self({}, { configSource }))],
  ["its settings to the same", update(self({}, { configSource }), self({}, { configSource }))],
  [
    "its settings to others",
    update(self({}, { configSource: {} }), self({}, { configSource })),
    nodes(`${n1} is not allowed to update configSource to a new non-nil configSource`),
  ],
  [
    "its settings to some",
    update(self({}, { configSource: {} }), self()),
    nodes(`${n1} is not allowed to update configSource to a new non-nil configSource`),
  ],
  ["no taints", update(self(), self({}, { taints: [taint] })), nodes(`${n1} is not allowed to modify taints`)],
  ["more taints", update(self({}, { taints: [taint] }), self()), nodes(`${n1} is not allowed to modify taints`)],
  [
    "the same taints, in other words",
    update(self({}, { taints: [{ ...taint, value: "" }] }), self({}, { taints: [taint] })),
  ],
  [
    "owners",
    update(self({ ownerReferences: [owner] }), self()),
    nodes(`${n1} is not allowed to modify ownerReferences`),
  ],
  ["no owners", update(self({ ownerReferences: [] }), self())],
  ["labels of kubelets", update(labelled(...kubeletLabels), self())],
  ["labels of kubelets to none", update(self(), labelled(...kubeletLabels))],
  ["a label of Kubernetes", update(labelled("kubernetes.io/role"), self()), mayNotModify("kubernetes.io/role")],
  ["a label of Kubernetes to none", update(self(), labelled("kubernetes.io/role")), mayNotModify("kubernetes.io/role")],
  ["its own labels beside others'", update(labelled("kubernetes.io/role", "a"), labelled("kubernetes.io/role"))],
];

const tokenFor = (pod: string, audiences?: string[], more: object = {}): Write => ({
  request: "CREATE /serviceaccounts/token robot",
  object: {
    spec: { audiences, boundObjectRef: { apiVersion: "v1", kind: "Pod", name: pod, uid: `uid:/pods/${pod}`, ...more } },
  },
});
const accounts = (why: string): string => forbidden("serviceaccounts", "robot", why);
const notFound = (audience: string): string =>
  accounts(
    `audience "${audience}" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience`,
  );

const tokenRows: [what: string, write: Write, refusal?: string][] = [
  ["for its pod", tokenFor("mine")],
  ["for its pod's audience", tokenFor("mine", ["good"])],
  ["for an audience it may ask for", tokenFor("mine", ["granted"])],
  ["for an audience that nobody named", tokenFor("mine", ["bad"]), notFound("bad")],
  [
    "for an audience that nobody named, when nobody looks",
    { ...tokenFor("mine", ["bad"]), gates: ["ServiceAccountNodeAudienceRestriction"] },
  ],
  ["for two audiences", tokenFor("mine", ["good", "good"]), accounts("node may only request 0 or 1 audiences")],
  ["for the server, which no volume names", tokenFor("mounts"), notFound("")],
  ["for the audience of a CSI driver", tokenFor("mounts", ["direct"])],
  ["for the audience of a claim's driver", tokenFor("mounts", ["claimed-too"])],
  ["for the audience of an ephemeral volume's driver", tokenFor("mounts", ["ephemeral"])],
  ["for the audience of a migrated volume's driver", tokenFor("mounts", ["inline"])],
  ["for the audience of a claim's migrated driver", tokenFor("mounts", ["translated"])],
  ["for an audience no driver has", tokenFor("mounts", ["none"]), notFound("none")],
  [
    "where a claim is missing",
    tokenFor("broken", ["x"]),
    accounts('error validating audience "x": persistentvolumeclaim "gone" not found'),
  ],
  [
    "where a volume is missing",
    tokenFor("unbound", ["x"]),
    accounts('error validating audience "x": persistentvolume "nowhere" not found'),
  ],
  [
    "where two things are missing",
    tokenFor("twice", ["x"]),
    accounts(
      'error validating audience "x": [csidriver.storage.k8s.io "absent.csi" not found, persistentvolumeclaim "gone" not found]',
    ),
  ],
  [
    "bound to nothing",
    { request: "CREATE /serviceaccounts/token robot", object: { spec: {} } },
    accounts("node requested token not bound to a pod"),
  ],
  ["bound to a secret", tokenFor("mine", [], { kind: "Secret" }), accounts("node requested token not bound to a pod")],
  [
    "bound to a pod without its uid",
    tokenFor("mine", [], { uid: "" }),
    accounts("node requested token with a pod binding without a uid"),
  ],
  ["bound to a pod that is not there", tokenFor("gone", [], { uid: "u" }), '404 pod "gone" not found'],
  [
    "bound to a pod that was there",
    tokenFor("mine", [], { uid: "u" }),
    accounts(
      "the UID in the bound object reference (u) does not match the UID in record. The object might have been deleted and then recreated",
    ),
  ],
  [
    "bound to another's pod",
    tokenFor("other"),
    accounts("node requested token bound to a pod scheduled on a different node"),
  ],
];

const leases = (why: string, name: string): string => forbidden("leases.coordination.k8s.io", name, why);
const sameName = "can only access node lease with the same name as the requesting node";
const inNodeLease = { namespace: "kube-node-lease" };
const csiNodes = forbidden(
  "csinodes.storage.k8s.io",
  "n2",
  "can only access CSINode with the same name as the requesting node",
);
const named = (name: string): object => ({ metadata: { name } });
const slice = (nodeName?: string): object => ({ metadata: { name: "s" }, spec: { nodeName } });
const slices = (verb: string): string =>
  forbidden(
    "resourceslices.resource.k8s.io",
    "s",
    `can only ${verb} ResourceSlice with the same NodeName as the requesting node`,
  );
const sliceRequest = (operation: string): Pick<Write, "request" | "namespace"> => ({
  request: `${operation} resource.k8s.io/resourceslices s`,
  namespace: "",
});
const claimWith = (spec: object, claimStatusFields: object = {}, metadata: object = {}): object => ({
  metadata: meta("claim", metadata),
  spec: { volumeName: "pv", ...spec },
  status: { phase: "Bound", ...claimStatusFields },
});
const claimUpdate = (object: object): Write => ({
  request: "UPDATE /persistentvolumeclaims/status claim",
  object,
  old: claimWith({}),
});
const pvcs = (why: string): string => forbidden("persistentvolumeclaims", "claim", why);
const otherFields = (fields: string): string =>
  pvcs(`${n1} is not allowed to update fields other than status.quantity and status.conditions: ${fields}`);

const objectRows: [what: string, write: Write, refusal?: string][] = [
  ["its lease", { request: "CREATE coordination.k8s.io/leases", object: named("n1"), ...inNodeLease }],
  ["its lease again", { request: "UPDATE coordination.k8s.io/leases n1", object: named("n1"), ...inNodeLease }],
  [
    "another's lease",
    { request: "CREATE coordination.k8s.io/leases n2", object: named("n2"), ...inNodeLease },
    leases(sameName, "n2"),
  ],
  [
    "another's lease again",
    { request: "UPDATE coordination.k8s.io/leases n2", object: named("n1"), ...inNodeLease },
    leases(sameName, "n2"),
  ],
  [
    "the end of another's lease",
    { request: "DELETE coordination.k8s.io/leases n2", ...inNodeLease },
    leases(sameName, "n2"),
  ],
  [
    "a lease elsewhere",
    { request: "CREATE coordination.k8s.io/leases n1", object: named("n1") },
    leases('can only access leases in the "kube-node-lease" system namespace', "n1"),
  ],
  ["its CSINode", { request: "CREATE storage.k8s.io/csinodes n1", object: named("n1") }],
  ["another's CSINode", { request: "CREATE storage.k8s.io/csinodes n2", object: named("n2") }, csiNodes],
  ["the end of another's CSINode", { request: "DELETE storage.k8s.io/csinodes n2" }, csiNodes],
  ["its slice", { ...sliceRequest("CREATE"), object: slice("n1") }],
  ["nobody's slice", { ...sliceRequest("CREATE"), object: slice() }, slices("create")],
  ["another's slice", { ...sliceRequest("CREATE"), object: slice("n2") }, slices("create")],
  [
    "a change of a slice, which authorization knows",
    { ...sliceRequest("UPDATE"), object: slice("n2"), old: slice("n2") },
  ],
  ["the end of its slice", { ...sliceRequest("DELETE"), old: slice("n1") }],
  ["the end of another's slice", { ...sliceRequest("DELETE"), old: slice("n2") }, slices("delete")],
  [
    "a claim",
    { request: "UPDATE /persistentvolumeclaims claim", object: {}, old: {} },
    pvcs("may only update PVC status"),
  ],
  [
    "a new claim",
    { request: "CREATE /persistentvolumeclaims/status claim", object: {} },
    pvcs('unexpected operation "CREATE"'),
  ],
  [
    "the size of a claim",
    claimUpdate(
      claimWith(
        {},
        {
          capacity: { storage: "2Gi" },
          conditions: [{ type: "Resizing", status: "True" }],
          allocatedResources: { storage: "2Gi" },
          allocatedResourceStatuses: { storage: "NodeResizePending" },
        },
        { resourceVersion: "7", managedFields: [] },
      ),
    ),
  ],
  ["the phase of a claim", claimUpdate(claimWith({}, { phase: "Lost" })), otherFields("status.phase")],
  [
    "labels of a claim, and its volume",
    claimUpdate(claimWith({ volumeName: "x" }, {}, { labels: { a: "b" } })),
    otherFields("metadata.labels, spec.volumeName"),
  ],
  ["a config map, which authorization refuses", { request: "CREATE /configmaps c", object: named("c") }],
];

const pcrSpec = {
  signerName: "example.com/s",
  podName: "mine",
  podUID: "uid:/pods/mine",
  serviceAccountName: "robot",
  serviceAccountUID: "uid:/serviceaccounts/robot",
  nodeName: "n1",
  nodeUID: "uid:/nodes/n1",
};
const certificate = (spec: object = {}, more: Partial<Write> = {}): Write => ({
  request: "CREATE certificates.k8s.io/podcertificaterequests r",
  object: { metadata: meta("r"), spec: { ...pcrSpec, ...spec } },
  gates: ["PodCertificateRequest"],
  ...more,
});
const pcrs = (why: string): string => forbidden("podcertificaterequests.certificates.k8s.io", "r", why);
const on9 = { as: { name: "system:node:n9" } };

/** `$1` stands for a uid. */
const certificateRows: [what: string, write: Write, refusal?: string][] = [
  ["for its pod", certificate()],
  ["without the gate", certificate({}, { gates: [] }), pcrs("PodCertificateRequest feature gate is disabled")],
  [
    "again",
    certificate({}, { request: "UPDATE certificates.k8s.io/podcertificaterequests r" }),
    pcrs("unexpected operation UPDATE"),
  ],
  [
    "whose status it gives",
    certificate({}, { request: "CREATE certificates.k8s.io/podcertificaterequests/status r" }),
    pcrs("unexpected subresource status"),
  ],
  [
    "for another",
    certificate({ nodeName: "n2" }),
    pcrs('PodCertificateRequest.Spec.NodeName="n2", which is not the requesting node "n1"'),
  ],
  [
    "before it is there",
    certificate({ nodeName: "n9" }, on9),
    '500 while retrieving node "n9" named in the PodCertificateRequest: node "n9" not found',
  ],
  [
    "with another uid of its own",
    certificate({ nodeUID: "u" }),
    '500 PodCertificateRequest for pod "ns/mine" names node UID "u", inconsistent with the running node ("$1")',
  ],
  [
    "for a pod that is not there",
    certificate({ podName: "gone" }),
    '500 while retrieving pod "ns/gone" named in the PodCertificateRequest: pod "gone" not found',
  ],
  [
    "for a pod that was there",
    certificate({ podUID: "u" }),
    '500 PodCertificateRequest for pod "ns/mine" contains pod UID ("u") which differs from running pod "$1"',
  ],
  [
    "for another's pod",
    certificate({ podName: "other", podUID: "uid:/pods/other" }),
    pcrs('pod "ns/other" is not running on node "n1" named in the PodCertificateRequest'),
  ],
  [
    "for a mirror pod",
    certificate({ podName: "shown", podUID: "uid:/pods/shown" }),
    pcrs('pod "ns/shown" is a mirror pod'),
  ],
  [
    "for another account",
    certificate({ serviceAccountName: "x" }),
    pcrs(
      'PodCertificateRequest for pod "ns/mine" contains serviceAccountName ("x") that differs from running pod ("robot")',
    ),
  ],
  [
    "for an account that was there",
    certificate({ serviceAccountUID: "u" }),
    '500 PodCertificateRequest for pod "ns/mine" names service account UID "u", which differs from the running service account ("$1")',
  ],
];

for (const [subject, rows] of [
  ["of pods", podRows],
  ["of a pod's status", statusRows],
  ["of nodes", nodeRows],
  ["of a token", tokenRows],
  ["of objects", objectRows],
  ["of a pod's certificate", certificateRows],
] as const) {
  for (const [what, write, refusal] of rows) {
    test(`a node ${refusal === undefined ? "writes" : "may not write"} ${what}, ${subject}`, async () => {
      const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
      assert.equal((await refusalOf(write))?.replace(uid, "$1"), refusal);
    });
  }
}

test("a mirror pod names the node that is there", async () => {
  const write: Write = { request: "CREATE /pods p", object: newMirror({}, [{ ...owner, uid: "u" }]) };
  assert.equal(await refusalOf(write), pods("p", `node n1 UID mismatch: expected u got ${uids.get("/nodes/n1")}`));
});

const commonNames: [what: string, signerName: string, subject: string, gates: string[], refusal?: string][] = [
  ["its own name", "kubernetes.io/kubelet-serving", "O=system:nodes,CN=system:node:n1", []],
  ["its own name, as a client", "kubernetes.io/kube-apiserver-client-kubelet", "O=system:nodes,CN=system:node:n1", []],
  [
    "another's name",
    "kubernetes.io/kubelet-serving",
    "O=system:nodes,CN=system:node:n2",
    [],
    "can only create a node CSR with CN=system:node:n1",
  ],
  [
    "no name",
    "kubernetes.io/kube-apiserver-client-kubelet",
    "O=system:nodes",
    [],
    "can only create a node CSR with CN=system:node:n1",
  ],
  ["another's name, for another signer", "example.com/signer", "CN=system:node:n2", []],
  [
    "another's name, when nobody looks",
    "kubernetes.io/kubelet-serving",
    "CN=system:node:n2",
    ["AllowInsecureKubeletCertificateSigningRequests"],
  ],
];

for (const [what, signerName, subject, gates, refusal] of commonNames) {
  test(`a node ${refusal === undefined ? "asks" : "may not ask"} for a certificate with ${what}`, async () => {
    const { Pkcs10CertificateRequestGenerator } = await loadX509();
    const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
    const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
    const request = await Pkcs10CertificateRequestGenerator.create({
      name: subject,
      keys,
      signingAlgorithm: algorithm,
    });
    const pem = Buffer.from(`${request.toString("pem")}\n`).toString("base64");
    const object = { metadata: { name: "r" }, spec: { signerName, request: pem } };
    const wanted = refusal && forbidden("certificatesigningrequests.certificates.k8s.io", "r", refusal);
    assert.equal(
      await refusalOf({
        request: "CREATE certificates.k8s.io/certificatesigningrequests r",
        namespace: "",
        object,
        gates,
      }),
      wanted,
    );
  });
}

test("a request for a certificate that cannot be read is refused", async () => {
  const refuse = async (pem: string): Promise<string | undefined> => {
    const object = {
      metadata: { name: "r" },
      spec: { signerName: "kubernetes.io/kubelet-serving", request: Buffer.from(pem).toString("base64") },
    };
    return refusalOf({ request: "CREATE certificates.k8s.io/certificatesigningrequests r", namespace: "", object });
  };
  const unread = forbidden("certificatesigningrequests.certificates.k8s.io", "r", "unable to parse csr: ");
  for (const pem of ["", "x", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]) {
    assert.equal(await refuse(pem), `${unread}PEM block type must be CERTIFICATE REQUEST`);
  }
  assert.ok(
    (await refuse("-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"))?.startsWith(
      `${unread}asn1: `,
    ),
  );
});

test("who is no node is not restricted, and a node without a name writes nothing", async () => {
  const write: Write = { request: "CREATE /pods p", object: { metadata: meta("p"), spec: podOn("n1") } };
  assert.equal(await refusalOf({ ...write, as: { name: "ann" } }), undefined);
  assert.equal(await refusalOf({ ...write, as: { groups: [] } }), undefined);
  assert.equal(
    await refusalOf({ ...write, as: { name: "system:node:" } }),
    pods("p", 'could not determine node from user "system:node:"'),
  );
  assert.equal(await refusalOf({ ...write, request: "CONNECT /pods/exec p" }), undefined);
});
