/** A kubelet's day against a real server with NodeRestriction: what it may write, what it may not, and that others are not held back. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type RawClient, type RawRequest, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

let server: TestServer;
let admin: RawClient;
let node: RawClient;

before(async () => {
  server = await startTestServer({ admission: { enable: ["NodeRestriction"], disable: [] } });
  admin = rawClient(server.kubeconfig);
  node = rawClient((await server.as("system:node:n1", ["system:nodes"])).kubeconfig);
});

after(async () => {
  admin.close();
  node.close();
  await server.close();
});

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

/** In this order. `uid:name` in a body stands for what was given out; the answer is a status, or the message of a refusal. */
const steps: [what: string, who: "admin" | "node", request: () => RawRequest, want: number | string][] = [
  [
    "registers",
    "node",
    () => post(`${core}/nodes`, { metadata: { name: "n1", labels: { "kubernetes.io/hostname": "n1" } } }),
    201,
  ],
  [
    "registers another",
    "node",
    () => post(`${core}/nodes`, { metadata: { name: "n2" } }),
    forbidden('nodes "n2"', 'node "n1" is not allowed to modify node "n2"'),
  ],
  ["gets a neighbour", "admin", () => post(`${core}/nodes`, { metadata: { name: "n2" } }), 201],
  [
    "labels itself",
    "node",
    () => patch(`${core}/nodes/n1`, { metadata: { labels: { "kubernetes.io/os": "linux", "example.com/rack": "7" } } }),
    200,
  ],
  [
    "makes itself a master",
    "node",
    () => patch(`${core}/nodes/n1`, { metadata: { labels: { "node-role.kubernetes.io/control-plane": "" } } }),
    forbidden('nodes "n1"', "is not allowed to modify labels: node-role.kubernetes.io/control-plane"),
  ],
  [
    "is tainted",
    "admin",
    () => patch(`${core}/nodes/n1`, { spec: { taints: [{ key: "k", effect: "NoSchedule" }] } }),
    200,
  ],
  [
    "frees itself of taints",
    "node",
    () => patch(`${core}/nodes/n1`, { spec: { taints: [] } }),
    forbidden('nodes "n1"', 'node "n1" is not allowed to modify taints'),
  ],
  [
    "tells its status",
    "node",
    () => patch(`${core}/nodes/n1/status`, { status: { conditions: [{ type: "Ready", status: "True" }] } }),
    200,
  ],
  [
    "tells another's status",
    "node",
    () => patch(`${core}/nodes/n2/status`, { status: {} }),
    forbidden('nodes "n2"', 'node "n1" is not allowed to modify node "n2"'),
  ],
  [
    "holds its lease",
    "node",
    () => post("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", { metadata: { name: "n1" } }),
    201,
  ],
  [
    "holds another's lease",
    "node",
    () => post("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", { metadata: { name: "n2" } }),
    forbidden(
      'leases.coordination.k8s.io "n2"',
      "can only access node lease with the same name as the requesting node",
    ),
  ],
  [
    "shows a pod of a file",
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
    "starts a pod",
    "node",
    () => post(`${inDefault}/pods`, { metadata: { name: "p" }, spec: { nodeName: "n1", containers } }),
    forbidden(
      'pods "p"',
      'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
    ),
  ],
  [
    "has an account to serve",
    "admin",
    () => post(`${inDefault}/serviceaccounts`, { metadata: { name: "robot" } }),
    201,
  ],
  [
    "gets a pod",
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
    "has a neighbour with a pod",
    "admin",
    () => post(`${inDefault}/pods`, { metadata: { name: "other" }, spec: { nodeName: "n2", containers } }),
    201,
  ],
  [
    "tells its pod's status",
    "node",
    () => patch(`${inDefault}/pods/mine/status`, { status: { phase: "Running" } }),
    200,
  ],
  [
    "labels its pod",
    "node",
    () => patch(`${inDefault}/pods/mine/status`, { metadata: { labels: { a: "b" } } }),
    forbidden('pods "mine"', 'node "n1" cannot update labels through pod status'),
  ],
  [
    "tells another's pod's status",
    "node",
    () => patch(`${inDefault}/pods/other/status`, { status: { phase: "Running" } }),
    forbidden('pods "other"', 'node "n1" can only update pod status for pods with spec.nodeName set to itself'),
  ],
  [
    "asks for its pod's token",
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
    "asks for a token of another audience",
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
    "may ask for all audiences",
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
    "is bound to that",
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
    "asks for a token of another audience again",
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
    "evicts another's pod",
    "node",
    () => post(`${inDefault}/pods/other/eviction`, { metadata: { name: "other" } }),
    forbidden('pods "other"', "node n1 can only evict pods with spec.nodeName set to itself"),
  ],
  ["evicts its pod", "node", () => post(`${inDefault}/pods/mine/eviction`, { metadata: { name: "mine" } }), 201],
  [
    "ends another's pod",
    "node",
    () => remove(`${inDefault}/pods/other`),
    forbidden('pods "other"', 'node "n1" can only delete pods with spec.nodeName set to itself'),
  ],
  ["shows its devices", "node", () => post(slices, slice("s1", "n1")), 201],
  [
    "shows another's devices",
    "node",
    () => post(slices, slice("s2", "n2")),
    forbidden(
      'resourceslices.resource.k8s.io "s2"',
      "can only create ResourceSlice with the same NodeName as the requesting node",
    ),
  ],
  ["has a neighbour with devices", "admin", () => post(slices, slice("s2", "n2")), 201],
  [
    "takes all devices away",
    "node",
    () => remove(slices),
    forbidden(
      "resourceslices.resource.k8s.io",
      'User "system:node:n1" cannot deletecollection resource "resourceslices" in API group "resource.k8s.io" at the cluster scope: can only list/watch/deletecollection resourceslices with nodeName field selector',
    ),
  ],
  ["takes its devices away", "node", () => remove(`${slices}?fieldSelector=spec.nodeName%3Dn1`), 200],
  [
    "gets a pod with a volume",
    "admin",
    () => post(`${inDefault}/pods`, { metadata: { name: "stores" }, spec: { nodeName: "n1", containers, volumes } }),
    201,
  ],
  [
    "gets the claim of the volume",
    "admin",
    () => post(`${inDefault}/persistentvolumeclaims`, { metadata: { name: "claim" }, spec: claimSpec }),
    201,
  ],
  [
    "tells how large it is",
    "node",
    () => patch(`${inDefault}/persistentvolumeclaims/claim/status`, { status: { capacity: { storage: "2Gi" } } }),
    200,
  ],
  [
    "says that it is lost",
    "node",
    () => patch(`${inDefault}/persistentvolumeclaims/claim/status`, { status: { phase: "Lost" } }),
    forbidden(
      'persistentvolumeclaims "claim"',
      'node "n1" is not allowed to update fields other than status.quantity and status.conditions: status.phase',
    ),
  ],
  ["ends its pod", "node", () => remove(`${inDefault}/pods/static?gracePeriodSeconds=0`), 200],
];

test("a node", async (context) => {
  for (const [what, who, request, want] of steps) {
    await context.test(what, async () => {
      const { body, ...rest } = request();
      const text = Buffer.isBuffer(body)
        ? body
        : JSON.stringify(body)?.replaceAll(/"uid:([\w/]+)"/g, (_, name: string) => JSON.stringify(uids.get(name)));
      const answer = await (who === "admin" ? admin : node).send({
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
