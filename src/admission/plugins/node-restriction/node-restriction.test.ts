import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loadX509 } from "../../../../test/support/load-x509.ts";
import { type MemoryRegistry, openMemoryRegistry } from "../../../../test/support/memory-registry.ts";
import { ApiError } from "../../../apimachinery/errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { UserInfo } from "../../../apimachinery/user.ts";
import type { Authorizer } from "../../../authorization/contract.ts";
import { setMember } from "../../../lib/json/values.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../../contract.ts";
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

/** The existing objects. */
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
const authorizeAudience: Authorizer = ({ verb, resource, namespace, name }) => {
  const requested = `${verb} ${resource} ${namespace}/${name}`;
  return {
    decision: requested === "request-serviceaccounts-token-audience granted ns/robot" ? "allow" : "noOpinion",
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
  /** Feature gates whose state differs from the default of the test. */
  readonly gates?: readonly string[];
}

/**
 * @returns the error message, after the code if that is not 403; undefined if the plugin accepts
 *   the write
 */
async function rejectionOf({
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
    done: [],
    joint: [],
  } as unknown as AdmissionAttributes;
  const plugin: AdmissionPlugin = nodeRestriction({
    catalog,
    authorize: authorizeAudience,
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

/** Replaces `uid:/pods/mine` by the uid of that object. */
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

const podRows: [what: string, write: Write, rejection?: string][] = [
  ["a mirror pod of its own", { request: "CREATE /pods p", object: newMirror() }],
  [
    "a pod that is not a mirror pod",
    { request: "CREATE /pods p", object: { metadata: meta("p"), spec: podOn("n1") } },
    pods("p", `pod does not have "${mirror}" annotation, ${n1} can only create mirror pods`),
  ],
  [
    "a mirror pod bound to another node",
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
    "a mirror pod with an owner reference that is not a controller",
    { request: "CREATE /pods p", object: newMirror({}, [{ ...owner, controller: false }]) },
    pods("p", `${n1} can only create pods with a controller owner reference set to itself`),
  ],
  [
    "a mirror pod with blockOwnerDeletion",
    { request: "CREATE /pods p", object: newMirror({}, [{ ...owner, blockOwnerDeletion: true }]) },
    pods("p", `${n1} must not set blockOwnerDeletion on an owner reference`),
  ],
  [
    "a mirror pod with blockOwnerDeletion set to false",
    { request: "CREATE /pods p", object: newMirror({}, [{ ...owner, blockOwnerDeletion: false }]) },
  ],
  [
    "a mirror pod before its Node exists",
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
    "a mirror pod with a ConfigMap",
    {
      request: "CREATE /pods p",
      object: newMirror({ initContainers: [{ ...container, envFrom: [{ configMapRef: { name: "c" } }] }] }),
    },
    references("configmaps"),
  ],
  [
    "a mirror pod with a ResourceClaim",
    { request: "CREATE /pods p", object: newMirror({ resourceClaims: [{ name: "x" }] }) },
    references("resourceclaims"),
  ],
  ["a mirror pod with an emptyDir", { request: "CREATE /pods p", object: withVolume({ emptyDir: {} }) }],
  ["a mirror pod with a hostPath", { request: "CREATE /pods p", object: withVolume({ hostPath: { path: "/" } }) }],
  [
    "a mirror pod with a downwardAPI projection",
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
    "a mirror pod with a glusterfs volume",
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
    "a mirror pod with an empty projection",
    { request: "CREATE /pods p", object: withVolume({ projected: { sources: [{}] } }) },
    pods("p", 'error checking mirror pod for API references: unknown source for projected volume "v"'),
  ],
  [
    "a mirror pod with an empty volume",
    { request: "CREATE /pods p", object: withVolume({}) },
    pods("p", 'error checking mirror pod for API references: unknown volume type for volume  "v"'),
  ],
  [
    "an update of a pod",
    { request: "UPDATE /pods mine", object: { spec: podOn("n1") }, old: { spec: podOn("n1") } },
    pods("mine", `unexpected operation "UPDATE", ${n1} can only create and delete mirror pods`),
  ],
  ["a deletion of its pod", { request: "DELETE /pods mine", old: { spec: podOn("n1") } }],
  [
    "a deletion of another node's pod",
    { request: "DELETE /pods other", old: { spec: podOn("n2") } },
    pods("other", `${n1} can only delete pods with spec.nodeName set to itself`),
  ],
  [
    "a deletion of an unbound pod",
    { request: "DELETE /pods waiting", old: { spec: podOn(undefined) } },
    pods("waiting", `${n1} can only delete pods with spec.nodeName set to itself`),
  ],
  [
    "a new ephemeral container of its pod",
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
    "an eviction of another node's pod",
    { request: "CREATE /pods/eviction other", object: {} },
    pods("other", "node n1 can only evict pods with spec.nodeName set to itself"),
  ],
  ["an eviction of a missing pod", { request: "CREATE /pods/eviction gone", object: {} }, '404 pod "gone" not found'],
  [
    "an eviction without a pod name",
    { request: "CREATE /pods/eviction", object: {} },
    pods("Unknown", "could not determine pod from request data"),
  ],
  [
    "an update of an eviction",
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

const statusRows: [what: string, write: Write, rejection?: string][] = [
  ["the phase", updateStatus(status({ a: "b" }, { phase: "Running" }), status({ a: "b" }))],
  [
    "the phase of another node's pod",
    updateStatus(status({}, {}), status({}, {}, "n2")),
    pods("mine", `${n1} can only update pod status for pods with spec.nodeName set to itself`),
  ],
  [
    "a creation",
    { request: "CREATE /pods/status mine", object: status({}) },
    pods("mine", 'unexpected operation "CREATE"'),
  ],
  [
    "a deletion",
    { request: "DELETE /pods/status mine", old: status({}) },
    pods("mine", 'unexpected operation "DELETE"'),
  ],
  ["more labels", updateStatus(status({ a: "b" }), status({})), labels],
  ["fewer labels", updateStatus(status({}), status({ a: "b" })), labels],
  ["another label", updateStatus(status({ a: "c" }), status({ a: "b" })), labels],
  ["the same claims", updateStatus(status({}, claimStatus("x", "y")), status({}, claimStatus("x", "y")))],
  ["an added claim", updateStatus(status({}, claimStatus("x", "y")), status({})), claims],
  ["another claim", updateStatus(status({}, claimStatus("x", "y")), status({}, claimStatus("x", "z"))), claims],
  [
    "a claim without a ResourceClaim",
    updateStatus(status({}, claimStatus("x")), status({}, claimStatus("x", "z"))),
    claims,
  ],
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
const strange = self({ labels: withMember({ plain: "v" }, "__proto__", "x") });

function withMember(target: Record<string, unknown>, key: string, value: unknown): object {
  setMember(target, key, value);
  return target;
}

const nodeRows: [what: string, write: Write, rejection?: string][] = [
  ["itself", create(self({}, { taints: [taint] }))],
  ["itself, with a label called __proto__", create(strange)],
  [
    "another Node",
    { request: "CREATE /nodes n2", namespace: "", object: { metadata: { name: "n2" } } },
    nodes(`${n1} is not allowed to modify node "n2"`, "n2"),
  ],
  [
    "a Node without a name",
    { request: "CREATE /nodes", namespace: "", object: { metadata: { generateName: "n" } } },
    nodes(`${n1} is not allowed to modify node ""`, "n"),
  ],
  [
    "itself with a configSource",
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
    "itself with labels of node-restriction.kubernetes.io",
    create(labelled("node-restriction.kubernetes.io/a", "b.node-restriction.kubernetes.io/a")),
    mayNot("b.node-restriction.kubernetes.io/a, node-restriction.kubernetes.io/a"),
  ],
  ["nothing of itself", update(self(), self())],
  ["its status", { request: "UPDATE /nodes/status n1", namespace: "", object: self(), old: self() }],
  ["its deletion", { request: "DELETE /nodes n1", namespace: "", old: self() }],
  [
    "the deletion of another Node",
    { request: "DELETE /nodes n2", namespace: "", old: self() },
    nodes(`${n1} is not allowed to modify node "n2"`, "n2"),
  ],
  [
    "the status of another Node",
    { request: "UPDATE /nodes/status n2", namespace: "", object: self(), old: self() },
    nodes(`${n1} is not allowed to modify node "n2"`, "n2"),
  ],
  ["the removal of its configSource", update(self(), self({}, { configSource }))],
  ["an unchanged configSource", update(self({}, { configSource }), self({}, { configSource }))],
  [
    "another configSource",
    update(self({}, { configSource: {} }), self({}, { configSource })),
    nodes(`${n1} is not allowed to update configSource to a new non-nil configSource`),
  ],
  [
    "a new configSource",
    update(self({}, { configSource: {} }), self()),
    nodes(`${n1} is not allowed to update configSource to a new non-nil configSource`),
  ],
  ["no taints", update(self(), self({}, { taints: [taint] })), nodes(`${n1} is not allowed to modify taints`)],
  ["more taints", update(self({}, { taints: [taint] }), self()), nodes(`${n1} is not allowed to modify taints`)],
  [
    "the same taints in another form",
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
  ["unchanged labels of Kubernetes", update(labelled("kubernetes.io/role", "a"), labelled("kubernetes.io/role"))],
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

const tokenRows: [what: string, write: Write, rejection?: string][] = [
  ["a token for its pod", tokenFor("mine")],
  ["a token for its pod's audience", tokenFor("mine", ["good"])],
  ["a token for an audience that the authorizer allows", tokenFor("mine", ["granted"])],
  ["a token for an audience that no volume names", tokenFor("mine", ["bad"]), notFound("bad")],
  [
    "a token for an audience that no volume names, when the feature gate is off",
    { ...tokenFor("mine", ["bad"]), gates: ["ServiceAccountNodeAudienceRestriction"] },
  ],
  ["a token for two audiences", tokenFor("mine", ["good", "good"]), accounts("node may only request 0 or 1 audiences")],
  ["a token for the audience of the API server, which no volume names", tokenFor("mounts"), notFound("")],
  ["a token for the audience of a CSI driver", tokenFor("mounts", ["direct"])],
  ["a token for the audience of a claim's driver", tokenFor("mounts", ["claimed-too"])],
  ["a token for the audience of an ephemeral volume's driver", tokenFor("mounts", ["ephemeral"])],
  ["a token for the audience of a migrated volume's driver", tokenFor("mounts", ["inline"])],
  ["a token for the audience of a claim's migrated driver", tokenFor("mounts", ["translated"])],
  ["a token for an audience no driver has", tokenFor("mounts", ["none"]), notFound("none")],
  [
    "a token for a pod whose claim is missing",
    tokenFor("broken", ["x"]),
    accounts('error validating audience "x": persistentvolumeclaim "gone" not found'),
  ],
  [
    "a token for a pod whose volume is missing",
    tokenFor("unbound", ["x"]),
    accounts('error validating audience "x": persistentvolume "nowhere" not found'),
  ],
  [
    "a token for a pod whose driver and claim are missing",
    tokenFor("twice", ["x"]),
    accounts(
      'error validating audience "x": [csidriver.storage.k8s.io "absent.csi" not found, persistentvolumeclaim "gone" not found]',
    ),
  ],
  [
    "a token bound to nothing",
    { request: "CREATE /serviceaccounts/token robot", object: { spec: {} } },
    accounts("node requested token not bound to a pod"),
  ],
  [
    "a token bound to a secret",
    tokenFor("mine", [], { kind: "Secret" }),
    accounts("node requested token not bound to a pod"),
  ],
  [
    "a token bound to a pod without its uid",
    tokenFor("mine", [], { uid: "" }),
    accounts("node requested token with a pod binding without a uid"),
  ],
  ["a token bound to a missing pod", tokenFor("gone", [], { uid: "u" }), '404 pod "gone" not found'],
  [
    "a token bound to a pod of another uid",
    tokenFor("mine", [], { uid: "u" }),
    accounts(
      "the UID in the bound object reference (u) does not match the UID in record. The object might have been deleted and then recreated",
    ),
  ],
  [
    "a token bound to another node's pod",
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

const objectRows: [what: string, write: Write, rejection?: string][] = [
  ["its lease", { request: "CREATE coordination.k8s.io/leases", object: named("n1"), ...inNodeLease }],
  ["an update of its lease", { request: "UPDATE coordination.k8s.io/leases n1", object: named("n1"), ...inNodeLease }],
  [
    "another node's lease",
    { request: "CREATE coordination.k8s.io/leases n2", object: named("n2"), ...inNodeLease },
    leases(sameName, "n2"),
  ],
  [
    "an update of another node's lease",
    { request: "UPDATE coordination.k8s.io/leases n2", object: named("n1"), ...inNodeLease },
    leases(sameName, "n2"),
  ],
  [
    "the deletion of another node's lease",
    { request: "DELETE coordination.k8s.io/leases n2", ...inNodeLease },
    leases(sameName, "n2"),
  ],
  [
    "a lease in another namespace",
    { request: "CREATE coordination.k8s.io/leases n1", object: named("n1") },
    leases('can only access leases in the "kube-node-lease" system namespace', "n1"),
  ],
  ["its CSINode", { request: "CREATE storage.k8s.io/csinodes n1", object: named("n1") }],
  ["another node's CSINode", { request: "CREATE storage.k8s.io/csinodes n2", object: named("n2") }, csiNodes],
  ["the deletion of another node's CSINode", { request: "DELETE storage.k8s.io/csinodes n2" }, csiNodes],
  ["its slice", { ...sliceRequest("CREATE"), object: slice("n1") }],
  ["a slice without a node", { ...sliceRequest("CREATE"), object: slice() }, slices("create")],
  ["another node's slice", { ...sliceRequest("CREATE"), object: slice("n2") }, slices("create")],
  [
    "an update of a slice, which the authorizer checks",
    { ...sliceRequest("UPDATE"), object: slice("n2"), old: slice("n2") },
  ],
  ["the deletion of its slice", { ...sliceRequest("DELETE"), old: slice("n1") }],
  ["the deletion of another node's slice", { ...sliceRequest("DELETE"), old: slice("n2") }, slices("delete")],
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
  ["a ConfigMap, which the authorizer rejects", { request: "CREATE /configmaps c", object: named("c") }],
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

/** `$1` represents a uid. */
const certificateRows: [what: string, write: Write, rejection?: string][] = [
  ["a request for its pod", certificate()],
  [
    "a request without the gate",
    certificate({}, { gates: [] }),
    pcrs("PodCertificateRequest feature gate is disabled"),
  ],
  [
    "a request in an update",
    certificate({}, { request: "UPDATE certificates.k8s.io/podcertificaterequests r" }),
    pcrs("unexpected operation UPDATE"),
  ],
  [
    "a request in a status update",
    certificate({}, { request: "CREATE certificates.k8s.io/podcertificaterequests/status r" }),
    pcrs("unexpected subresource status"),
  ],
  [
    "a request for another node",
    certificate({ nodeName: "n2" }),
    pcrs('PodCertificateRequest.Spec.NodeName="n2", which is not the requesting node "n1"'),
  ],
  [
    "a request before its Node exists",
    certificate({ nodeName: "n9" }, on9),
    '500 while retrieving node "n9" named in the PodCertificateRequest: node "n9" not found',
  ],
  [
    "a request with another uid of the node",
    certificate({ nodeUID: "u" }),
    '500 PodCertificateRequest for pod "ns/mine" names node UID "u", inconsistent with the running node ("$1")',
  ],
  [
    "a request for a missing pod",
    certificate({ podName: "gone" }),
    '500 while retrieving pod "ns/gone" named in the PodCertificateRequest: pod "gone" not found',
  ],
  [
    "a request for a pod of another uid",
    certificate({ podUID: "u" }),
    '500 PodCertificateRequest for pod "ns/mine" contains pod UID ("u") which differs from running pod "$1"',
  ],
  [
    "a request for another node's pod",
    certificate({ podName: "other", podUID: "uid:/pods/other" }),
    pcrs('pod "ns/other" is not running on node "n1" named in the PodCertificateRequest'),
  ],
  [
    "a request for a mirror pod",
    certificate({ podName: "shown", podUID: "uid:/pods/shown" }),
    pcrs('pod "ns/shown" is a mirror pod'),
  ],
  [
    "a request for another service account",
    certificate({ serviceAccountName: "x" }),
    pcrs(
      'PodCertificateRequest for pod "ns/mine" contains serviceAccountName ("x") that differs from running pod ("robot")',
    ),
  ],
  [
    "a request for a service account of another uid",
    certificate({ serviceAccountUID: "u" }),
    '500 PodCertificateRequest for pod "ns/mine" names service account UID "u", which differs from the running service account ("$1")',
  ],
];

for (const [subject, rows] of [
  ["pods", podRows],
  ["pod status", statusRows],
  ["Nodes", nodeRows],
  ["service account tokens", tokenRows],
  ["other kinds", objectRows],
  ["PodCertificateRequests", certificateRows],
] as const) {
  for (const [what, write, rejection] of rows) {
    test(`${subject}: ${rejection === undefined ? "accepts" : "rejects"} ${what}`, async () => {
      const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
      assert.equal((await rejectionOf(write))?.replace(uid, "$1"), rejection);
    });
  }
}

test("rejects a mirror pod whose owner reference has another uid", async () => {
  const write: Write = { request: "CREATE /pods p", object: newMirror({}, [{ ...owner, uid: "u" }]) };
  assert.equal(await rejectionOf(write), pods("p", `node n1 UID mismatch: expected u got ${uids.get("/nodes/n1")}`));
});

const commonNames: [what: string, signerName: string, subject: string, gates: string[], rejection?: string][] = [
  ["its own name", "kubernetes.io/kubelet-serving", "O=system:nodes,CN=system:node:n1", []],
  ["its own name, as a client", "kubernetes.io/kube-apiserver-client-kubelet", "O=system:nodes,CN=system:node:n1", []],
  [
    "the name of another node",
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
  ["the name of another node, for another signer", "example.com/signer", "CN=system:node:n2", []],
  [
    "the name of another node, when the feature gate disables the check",
    "kubernetes.io/kubelet-serving",
    "CN=system:node:n2",
    ["AllowInsecureKubeletCertificateSigningRequests"],
  ],
];

for (const [what, signerName, subject, gates, rejection] of commonNames) {
  test(`${rejection === undefined ? "accepts" : "rejects"} a certificate request with ${what}`, async () => {
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
    const expected = rejection && forbidden("certificatesigningrequests.certificates.k8s.io", "r", rejection);
    assert.equal(
      await rejectionOf({
        request: "CREATE certificates.k8s.io/certificatesigningrequests r",
        namespace: "",
        object,
        gates,
      }),
      expected,
    );
  });
}

test("rejects a certificate request that cannot be parsed", async () => {
  const check = async (pem: string): Promise<string | undefined> => {
    const object = {
      metadata: { name: "r" },
      spec: { signerName: "kubernetes.io/kubelet-serving", request: Buffer.from(pem).toString("base64") },
    };
    return rejectionOf({ request: "CREATE certificates.k8s.io/certificatesigningrequests r", namespace: "", object });
  };
  const unread = forbidden("certificatesigningrequests.certificates.k8s.io", "r", "unable to parse csr: ");
  for (const pem of ["", "x", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]) {
    assert.equal(await check(pem), `${unread}PEM block type must be CERTIFICATE REQUEST`);
  }
  assert.ok(
    (await check("-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"))?.startsWith(
      `${unread}asn1: `,
    ),
  );
});

test("ignores users that are not nodes, and rejects all writes of a node without a name", async () => {
  const write: Write = { request: "CREATE /pods p", object: { metadata: meta("p"), spec: podOn("n1") } };
  assert.equal(await rejectionOf({ ...write, as: { name: "ann" } }), undefined);
  assert.equal(await rejectionOf({ ...write, as: { groups: [] } }), undefined);
  assert.equal(
    await rejectionOf({ ...write, as: { name: "system:node:" } }),
    pods("p", 'could not determine node from user "system:node:"'),
  );
  assert.equal(await rejectionOf({ ...write, request: "CONNECT /pods/exec p" }), undefined);
});
