import assert from "node:assert/strict";
import { test } from "node:test";
import { parseFeatureGates } from "../../apimachinery/feature-gates.ts";
import { nodeRules } from "../../controllers/bootstrap/rbac/policy.ts";
import type { AuthorizationAttributes, Decision } from "../contract.ts";
import { nodeAuthorizer } from "./node.ts";
import { NodeRelations } from "./relations.ts";

const relations = new NodeRelations();
const meta = (name: string, annotations = {}): { name: string; namespace: string; annotations: object } => ({
  name,
  namespace: "ns",
  annotations,
});
relations.setPod("ns", "p1", {
  metadata: meta("p1") as never,
  spec: {
    nodeName: "n1",
    serviceAccountName: "robot",
    imagePullSecrets: [{ name: "pull" }],
    initContainers: [{ name: "i", envFrom: [{ secretRef: { name: "init" } }, { configMapRef: { name: "initmap" } }] }],
    containers: [
      {
        name: "c",
        env: [
          { name: "A", valueFrom: { secretKeyRef: { name: "env", key: "k" } } },
          { name: "B", value: "x" },
        ],
      },
    ],
    volumes: [
      { name: "a", secret: { secretName: "volume" } },
      {
        name: "b",
        projected: { sources: [{ secret: { name: "projected" } }, { configMap: { name: "projectedmap" } }, {}] },
      },
      { name: "c", persistentVolumeClaim: { claimName: "claim" } },
      { name: "d", ephemeral: {} },
      { name: "e", csi: { nodePublishSecretRef: { name: "csi" } } },
    ],
    resourceClaims: [
      { name: "x", resourceClaimName: "direct" },
      { name: "y", resourceClaimTemplateName: "t" },
    ],
  },
  status: { resourceClaimStatuses: [{ name: "y", resourceClaimName: "made" }] },
});
relations.setPod("ns", "mirror", {
  metadata: meta("mirror", { "kubernetes.io/config.mirror": "x" }) as never,
  spec: { nodeName: "n1", volumes: [{ name: "a", secret: { secretName: "stolen" } }] },
});
relations.setPod("ns", "p2", {
  metadata: meta("p2") as never,
  spec: { nodeName: "n2", volumes: [{ name: "a", secret: { secretName: "other" } }] },
});
relations.setPod("ns", "waiting", {
  metadata: meta("waiting") as never,
  spec: { volumes: [{ name: "a", secret: { secretName: "early" } }] },
});
relations.setVolume("pv", {
  metadata: { name: "pv" },
  spec: {
    claimRef: { namespace: "ns", name: "claim" },
    csi: { nodeStageSecretRef: { namespace: "store", name: "stage" } },
  },
});
relations.setVolume("disk", {
  metadata: { name: "disk" },
  spec: { claimRef: { namespace: "ns", name: "claim" }, cinder: { secretRef: { name: "nowhere" } } },
});
relations.setVolume("image", {
  metadata: { name: "image" },
  spec: { claimRef: { namespace: "ns", name: "claim" }, rbd: { secretRef: { name: "near" } } },
});
relations.setVolume("free", {
  metadata: { name: "free" },
  spec: { azureFile: { secretName: "free", secretNamespace: "store" } },
});
relations.setNode("volumeattachment", "", "va", "n1");
relations.setNode("resourceslice", "", "slice", "n1");

const user: AuthorizationAttributes["user"] = {
  name: "system:node:n1",
  uid: "",
  groups: ["system:nodes", "system:authenticated"],
  extra: new Map(),
};
const base: AuthorizationAttributes = {
  user,
  verb: "get",
  isResourceRequest: true,
  path: "",
  group: "",
  version: "v1",
  resource: "",
  subresource: "",
  namespace: "ns",
  name: "",
  fieldSelector: "",
  labelSelector: "",
};
const authorize = nodeAuthorizer(relations, {
  rules: nodeRules(parseFeatureGates("").gates),
  enabled: (gate) => gate !== "PodCertificateRequest",
});

const yes = "";
const unrelated = "no relationship found between node 'n1' and this object";

/** `verb group/resource/subresource name`, and the reason of the decision. */
const rows: [request: string, more: Partial<AuthorizationAttributes>, reason: string | undefined][] = [
  ...["pull", "init", "env", "volume", "projected", "csi"].map((name): [string, object, string] => [
    `get /secrets ${name}`,
    {},
    yes,
  ]),
  ...["initmap", "projectedmap"].map((name): [string, object, string] => [`watch /configmaps ${name}`, {}, yes]),
  ["get /secrets stage", { namespace: "store" }, yes],
  ["get /secrets free", { namespace: "store" }, unrelated],
  ["get /secrets near", {}, yes],
  ["get /secrets nowhere", {}, unrelated],
  ["get /secrets stolen", {}, unrelated],
  ["get /secrets other", {}, unrelated],
  ["get /secrets early", {}, unrelated],
  ["get /secrets volume", { namespace: "elsewhere" }, unrelated],
  ["get /configmaps volume", {}, unrelated],
  ["list /secrets", {}, "No Object name found"],
  ["list /secrets volume", { namespace: "" }, "can only read namespaced object of this type"],
  ["update /secrets volume", {}, "can only read resources of this type"],
  ["get /persistentvolumeclaims claim", {}, yes],
  ["get /persistentvolumeclaims p1-d", {}, yes],
  ["patch /persistentvolumeclaims/status claim", {}, yes],
  ["get /persistentvolumeclaims/status claim", {}, "can only get/update/patch this type"],
  ["list /persistentvolumeclaims", {}, "can only get individual resources of this type"],
  ["get /persistentvolumes pv", { namespace: "" }, yes],
  ["get /persistentvolumes free", { namespace: "" }, unrelated],
  ["get resource.k8s.io/resourceclaims direct", {}, yes],
  ["get resource.k8s.io/resourceclaims made", {}, yes],
  ["get storage.k8s.io/volumeattachments va", { namespace: "" }, yes],
  ["get storage.k8s.io/volumeattachments vb", { namespace: "" }, unrelated],
  ["create /serviceaccounts/token robot", {}, yes],
  ["create /serviceaccounts/token default", {}, unrelated],
  ["get /serviceaccounts robot", {}, yes],
  ["delete /serviceaccounts robot", {}, "can only create tokens for individual service accounts"],
  ["create coordination.k8s.io/leases", { namespace: "kube-node-lease" }, yes],
  ["update coordination.k8s.io/leases n1", { namespace: "kube-node-lease" }, yes],
  [
    "update coordination.k8s.io/leases n2",
    { namespace: "kube-node-lease" },
    "can only access node lease with the same name as the requesting node",
  ],
  ["update coordination.k8s.io/leases n1", {}, 'can only access leases in the "kube-node-lease" system namespace'],
  [
    "list coordination.k8s.io/leases",
    { namespace: "kube-node-lease" },
    "can only get, create, update, patch, or delete a node lease",
  ],
  ["get storage.k8s.io/csinodes n1", { namespace: "" }, yes],
  [
    "get storage.k8s.io/csinodes n2",
    { namespace: "" },
    "can only access CSINode with the same name as the requesting node",
  ],
  ["create resource.k8s.io/resourceslices", { namespace: "" }, yes],
  ["update resource.k8s.io/resourceslices slice", { namespace: "" }, yes],
  ["watch resource.k8s.io/resourceslices", { namespace: "", fieldSelector: "spec.nodeName=n1" }, yes],
  [
    "watch resource.k8s.io/resourceslices",
    { namespace: "", fieldSelector: "spec.nodeName=n2" },
    "can only list/watch/deletecollection resourceslices with nodeName field selector",
  ],
  ["get /nodes n1", { namespace: "" }, yes],
  ["get /nodes n2", { namespace: "" }, "node 'n1' cannot read 'n2', only its own Node object"],
  ["list /nodes", { namespace: "" }, "node 'n1' cannot read all nodes, only its own Node object"],
  ["create /nodes", { namespace: "" }, yes],
  ["patch /nodes/status n1", { namespace: "" }, yes],
  ["delete /nodes n1", { namespace: "" }, undefined],
  ["get /pods p1", {}, yes],
  ["get /pods p2", {}, unrelated],
  ["list /pods", { namespace: "", fieldSelector: "spec.nodeName=n1" }, yes],
  ["list /pods", { fieldSelector: "spec.nodeName!=n1" }, "can only list/watch pods with spec.nodeName field selector"],
  ["list /pods", { fieldSelector: "=" }, "can only list/watch pods with spec.nodeName field selector"],
  ["watch /pods p1", {}, yes],
  ["create /pods/eviction p2", {}, yes],
  ["create /pods/exec p1", {}, undefined],
  ["create certificates.k8s.io/podcertificaterequests", {}, undefined],
  ["list /services", {}, yes],
  ["create /events", {}, yes],
  ["list apps/deployments", {}, undefined],
];

for (const [request, more, reason] of rows) {
  test(`${request} ${JSON.stringify(more)}: ${reason === yes ? "allowed" : (reason ?? "no opinion")}`, () => {
    const [verb = "", what = "", name = ""] = request.split(" ");
    const [group = "", resource = "", subresource = ""] = what.split("/");
    const decision = authorize({ ...base, verb, group, resource, subresource, name, ...more }) as Decision;
    assert.deepEqual(decision, { decision: reason === yes ? "allow" : "noOpinion", reason: reason ?? "" });
  });
}

test("has no opinion on users that are not nodes, with a reason for a node without a name", () => {
  const request = { ...base, resource: "pods", name: "p1" };
  assert.deepEqual(authorize({ ...request, user: { ...user, groups: [] } }), { decision: "noOpinion", reason: "" });
  assert.deepEqual(authorize({ ...request, user: { ...user, name: "ann" } }), { decision: "noOpinion", reason: "" });
  assert.deepEqual(authorize({ ...request, user: { ...user, name: "system:node:" } }), {
    decision: "noOpinion",
    reason: 'unknown node for user "system:node:"',
  });
});

test("denies access to an object when the last pod or volume that refers to it is deleted", () => {
  const changing = new NodeRelations();
  const pod = (name: string): never =>
    ({ metadata: meta(name), spec: { nodeName: "n1", imagePullSecrets: [{ name: "s" }] } }) as never;
  const reads = (): boolean => changing.areRelated("n1", "secret", "ns", "s");
  changing.setPod("ns", "a", pod("a"));
  changing.setPod("ns", "a", pod("a"));
  changing.setPod("ns", "b", pod("b"));
  changing.setPod("ns", "a", undefined);
  assert.equal(reads(), true);
  changing.setPod("ns", "b", undefined);
  assert.equal(reads(), false);
  changing.setVolume("v", {
    metadata: {},
    spec: { claimRef: { namespace: "ns", name: "c" }, rbd: { secretRef: { name: "s" } } },
  });
  changing.setPod("ns", "c", {
    metadata: meta("c"),
    spec: { nodeName: "n1", volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] },
  } as never);
  assert.equal(reads(), true);
  changing.setVolume("v", undefined);
  assert.equal(reads(), false);
});
