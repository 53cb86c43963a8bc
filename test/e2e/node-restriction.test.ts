/**
 * The writes of a kubelet against a real server with NodeRestriction: what the plugin allows, and
 * what it rejects.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createDefaultAccounts } from "../support/pod-namespaces.ts";
import { type RawRequest, rawClient } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const { server, client: admin } = await startServerWithClient({
  admission: { enable: ["NodeRestriction"], disable: [] },
});
await createDefaultAccounts(admin, "default");
const node = rawClient((await server.as("system:node:n1", ["system:nodes"])).kubeconfig);
after(() => node.close());

const core = "/api/v1";
const inDefault = `${core}/namespaces/default`;
const containers = [{ name: "c", image: "i" }];
const uids = new Map<string, string>();

const post = (path: string, body: object): RawRequest => ({ method: "POST", path, body });
const patch = (path: string, body: object): RawRequest => ({
  method: "PATCH",
  path,
  body: Buffer.from(JSON.stringify(body)),
  headers: { "content-type": "application/merge-patch+json" },
});
const remove = (path: string): RawRequest => ({ method: "DELETE", path });
const forbidden = (what: string, why: string): string => `${what} is forbidden: ${why}`;

const slices = "/apis/resource.k8s.io/v1/resourceslices";
const slice = (name: string, nodeName: string): object => ({
  metadata: { name },
  spec: {
    driver: "d.example.com",
    nodeName,
    pool: { name: nodeName, generation: 1, resourceSliceCount: 1 },
    devices: [{ name: "x" }],
  },
});
const volumes = [{ name: "v", persistentVolumeClaim: { claimName: "claim" } }];
const claimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

/**
 * Runs in this order. `uid:kind/name` in a body is the uid of that object; a text is the message of
 * a 403.
 */
const steps: [what: string, user: "admin" | "node", request: () => RawRequest, want: number | string][] = [
  [
    "a node creates its Node",
    "node",
    () => post(`${core}/nodes`, { metadata: { name: "n1", labels: { "kubernetes.io/hostname": "n1" } } }),
    201,
  ],
  [
    "a node cannot create another Node",
    "node",
    () => post(`${core}/nodes`, { metadata: { name: "n2" } }),
    forbidden('nodes "n2"', 'node "n1" is not allowed to modify node "n2"'),
  ],
  ["another user creates another Node", "admin", () => post(`${core}/nodes`, { metadata: { name: "n2" } }), 201],
  [
    "a node labels its Node",
    "node",
    () => patch(`${core}/nodes/n1`, { metadata: { labels: { "kubernetes.io/os": "linux", "example.com/rack": "7" } } }),
    200,
  ],
  [
    "a node cannot set a node-role label",
    "node",
    () => patch(`${core}/nodes/n1`, { metadata: { labels: { "node-role.kubernetes.io/control-plane": "" } } }),
    forbidden('nodes "n1"', "is not allowed to modify labels: node-role.kubernetes.io/control-plane"),
  ],
  [
    "another user taints the Node",
    "admin",
    () => patch(`${core}/nodes/n1`, { spec: { taints: [{ key: "k", effect: "NoSchedule" }] } }),
    200,
  ],
  [
    "a node cannot remove its taints",
    "node",
    () => patch(`${core}/nodes/n1`, { spec: { taints: [] } }),
    forbidden('nodes "n1"', 'node "n1" is not allowed to modify taints'),
  ],
  [
    "a node writes its status",
    "node",
    () => patch(`${core}/nodes/n1/status`, { status: { conditions: [{ type: "Ready", status: "True" }] } }),
    200,
  ],
  [
    "a node cannot write the status of another Node",
    "node",
    () => patch(`${core}/nodes/n2/status`, { status: {} }),
    forbidden('nodes "n2"', 'node "n1" is not allowed to modify node "n2"'),
  ],
  [
    "a node creates its Lease",
    "node",
    () => post("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", { metadata: { name: "n1" } }),
    201,
  ],
  [
    "a node cannot create the Lease of another node",
    "node",
    () => post("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", { metadata: { name: "n2" } }),
    forbidden(
      'leases.coordination.k8s.io "n2"',
      "can only access node lease with the same name as the requesting node",
    ),
  ],
  [
    "a node creates a mirror pod",
    "node",
    () =>
      post(`${inDefault}/pods`, {
        metadata: {
          name: "static",
          annotations: { "kubernetes.io/config.mirror": "x" },
          ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n1", uid: "uid:Node/n1", controller: true }],
        },
        spec: { nodeName: "n1", containers },
      }),
    201,
  ],
  [
    "a node cannot create a pod that is not a mirror pod",
    "node",
    () => post(`${inDefault}/pods`, { metadata: { name: "p" }, spec: { nodeName: "n1", containers } }),
    forbidden(
      'pods "p"',
      'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
    ),
  ],
  [
    "another user creates a ServiceAccount",
    "admin",
    () => post(`${inDefault}/serviceaccounts`, { metadata: { name: "robot" } }),
    201,
  ],
  [
    "another user binds a pod to the node",
    "admin",
    () =>
      post(`${inDefault}/pods`, {
        metadata: { name: "mine" },
        spec: {
          nodeName: "n1",
          serviceAccountName: "robot",
          containers,
          volumes: [{ name: "t", projected: { sources: [{ serviceAccountToken: { path: "t", audience: "vault" } }] } }],
        },
      }),
    201,
  ],
  [
    "another user binds a pod to another node",
    "admin",
    () => post(`${inDefault}/pods`, { metadata: { name: "other" }, spec: { nodeName: "n2", containers } }),
    201,
  ],
  [
    "a node writes the status of its pod",
    "node",
    () => patch(`${inDefault}/pods/mine/status`, { status: { phase: "Running" } }),
    200,
  ],
  [
    "a node cannot label its pod",
    "node",
    () => patch(`${inDefault}/pods/mine/status`, { metadata: { labels: { a: "b" } } }),
    forbidden('pods "mine"', 'node "n1" cannot update labels through pod status'),
  ],
  [
    "a node cannot write the status of a pod on another node",
    "node",
    () => patch(`${inDefault}/pods/other/status`, { status: { phase: "Running" } }),
    forbidden('pods "other"', 'node "n1" can only update pod status for pods with spec.nodeName set to itself'),
  ],
  [
    "a node requests a token for its pod",
    "node",
    () =>
      post(`${inDefault}/serviceaccounts/robot/token`, {
        spec: {
          audiences: ["vault"],
          boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "mine", uid: "uid:Pod/mine" },
        },
      }),
    201,
  ],
  [
    "a node cannot request a token for another audience",
    "node",
    () =>
      post(`${inDefault}/serviceaccounts/robot/token`, {
        spec: {
          audiences: ["bank"],
          boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "mine", uid: "uid:Pod/mine" },
        },
      }),
    forbidden(
      'serviceaccounts "robot"',
      'audience "bank" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience',
    ),
  ],
  [
    "another user creates a role for all audiences",
    "admin",
    () =>
      post("/apis/rbac.authorization.k8s.io/v1/clusterroles", {
        metadata: { name: "audiences" },
        rules: [
          {
            apiGroups: [""],
            resources: ["bank"],
            verbs: ["request-serviceaccounts-token-audience"],
            resourceNames: ["robot"],
          },
        ],
      }),
    201,
  ],
  [
    "another user binds the node to the role",
    "admin",
    () =>
      post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        metadata: { name: "audiences" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "audiences" },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:nodes" }],
      }),
    201,
  ],
  [
    "a node with the role requests a token for another audience",
    "node",
    () =>
      post(`${inDefault}/serviceaccounts/robot/token`, {
        spec: {
          audiences: ["bank"],
          boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "mine", uid: "uid:Pod/mine" },
        },
      }),
    201,
  ],
  [
    "a node cannot evict a pod on another node",
    "node",
    () => post(`${inDefault}/pods/other/eviction`, { metadata: { name: "other" } }),
    forbidden('pods "other"', "node n1 can only evict pods with spec.nodeName set to itself"),
  ],
  ["a node evicts its pod", "node", () => post(`${inDefault}/pods/mine/eviction`, { metadata: { name: "mine" } }), 201],
  [
    "a node cannot delete a pod on another node",
    "node",
    () => remove(`${inDefault}/pods/other`),
    forbidden('pods "other"', 'node "n1" can only delete pods with spec.nodeName set to itself'),
  ],
  ["a node creates its ResourceSlice", "node", () => post(slices, slice("s1", "n1")), 201],
  [
    "a node cannot create the ResourceSlice of another node",
    "node",
    () => post(slices, slice("s2", "n2")),
    forbidden(
      'resourceslices.resource.k8s.io "s2"',
      "can only create ResourceSlice with the same NodeName as the requesting node",
    ),
  ],
  ["another user creates the ResourceSlice of another node", "admin", () => post(slices, slice("s2", "n2")), 201],
  [
    "a node cannot delete all ResourceSlices",
    "node",
    () => remove(slices),
    forbidden(
      "resourceslices.resource.k8s.io",
      'User "system:node:n1" cannot deletecollection resource "resourceslices" in API group "resource.k8s.io" at the cluster scope: can only list/watch/deletecollection resourceslices with nodeName field selector',
    ),
  ],
  ["a node deletes its ResourceSlices", "node", () => remove(`${slices}?fieldSelector=spec.nodeName%3Dn1`), 200],
  [
    "another user binds a pod with a volume to the node",
    "admin",
    () => post(`${inDefault}/pods`, { metadata: { name: "stores" }, spec: { nodeName: "n1", containers, volumes } }),
    201,
  ],
  [
    "another user creates the claim of the volume",
    "admin",
    () => post(`${inDefault}/persistentvolumeclaims`, { metadata: { name: "claim" }, spec: claimSpec }),
    201,
  ],
  [
    "a node writes the capacity of the claim",
    "node",
    () => patch(`${inDefault}/persistentvolumeclaims/claim/status`, { status: { capacity: { storage: "2Gi" } } }),
    200,
  ],
  [
    "a node cannot write the phase of the claim",
    "node",
    () => patch(`${inDefault}/persistentvolumeclaims/claim/status`, { status: { phase: "Lost" } }),
    forbidden(
      'persistentvolumeclaims "claim"',
      'node "n1" is not allowed to update fields other than status.quantity and status.conditions: status.phase',
    ),
  ],
  ["a node deletes its mirror pod", "node", () => remove(`${inDefault}/pods/static?gracePeriodSeconds=0`), 200],
];

test("NodeRestriction", async (context) => {
  for (const [what, user, request, want] of steps) {
    await context.test(what, async () => {
      const { body, ...rest } = request();
      const text = Buffer.isBuffer(body)
        ? body
        : JSON.stringify(body)?.replaceAll(/"uid:([\w/]+)"/g, (_, name: string) => JSON.stringify(uids.get(name)));
      const answer = await (user === "admin" ? admin : node).send({
        ...rest,
        ...(text !== undefined && { body: Buffer.from(text) }),
      });
      if (answer.body?.metadata?.uid !== undefined)
        uids.set(`${answer.body.kind}/${answer.body.metadata.name}`, answer.body.metadata.uid);
      if (typeof want === "number") assert.equal(answer.status, want, answer.text);
      else assert.deepEqual([answer.status, answer.body.message], [403, want]);
    });
  }
});
