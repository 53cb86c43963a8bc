/**
 * Dry runs of every write: answers are complete, and no state changes: no revision is used, no
 * watch has an event, no address or port is allocated or released. Source: Kubernetes docs,
 * Kubernetes API Concepts, Dry-run.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { createDefaultAccounts } from "../support/pod-namespaces.ts";
import type { Answer } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { http2Watches } from "../support/watch-connection.ts";

const core = "/api/v1/namespaces/default";
const apps = "/apis/apps/v1/namespaces/default";
const container = { name: "c", image: "i" };
const template = { metadata: { labels: { a: "b" } }, spec: { containers: [container] } };
const deployment = (replicas: number): object => ({
  metadata: { name: "there" },
  spec: { replicas, selector: { matchLabels: { a: "b" } }, template },
});
const service = (name: string, spec: object = {}): object => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
});

/** Objects that exist before the dry runs. */
const existing: readonly (readonly [path: string, object: object])[] = [
  [`${core}/configmaps`, { metadata: { name: "there", labels: { of: "dry" } }, data: { k: "v" } }],
  [`${core}/configmaps`, { metadata: { name: "held", finalizers: ["example.com/f"] } }],
  [`${core}/configmaps`, { metadata: { name: "orphaning", finalizers: ["orphan"] } }],
  [
    `${core}/services`,
    service("there", { type: "NodePort", clusterIP: "10.9.0.5", ports: [{ port: 80, nodePort: 30005 }] }),
  ],
  [`${core}/pods`, { metadata: { name: "there" }, spec: { containers: [container] } }],
  [`${core}/pods`, { metadata: { name: "running" }, spec: { containers: [container], nodeName: "node" } }],
  [`${apps}/deployments`, deployment(2)],
  ["/api/v1/namespaces", { metadata: { name: "there" } }],
  [
    "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    { metadata: { name: "there" }, spec: { holderIdentity: "me" } },
  ],
];

/**
 * A request, its body, the status, and a part of the answer. `MERGE`, `STRATEGIC` and `JSON` are
 * patches; `set` in the answer matches any text or number.
 */
type Row = readonly [request: string, body: object | undefined, status: number, want: object];
const set = Symbol("set");
const generated = { metadata: { uid: set, creationTimestamp: set } };

const rows: readonly Row[] = [
  // Creation: fields that the server sets are in the answer, a resourceVersion is not.
  [`POST ${core}/configmaps`, { metadata: { name: "new" } }, 201, generated],
  [`POST ${core}/configmaps`, { metadata: { generateName: "new-" } }, 201, { metadata: { name: set, uid: set } }],
  [`POST ${core}/configmaps`, { metadata: { name: "there" } }, 409, { reason: "AlreadyExists" }],
  [
    `POST ${core}/secrets`,
    { metadata: { name: "new" }, stringData: { a: "b" } },
    201,
    { type: "Opaque", data: { a: "Yg==" } },
  ],
  [
    `POST ${core}/pods`,
    { metadata: { name: "new" }, spec: { containers: [container] } },
    201,
    { spec: { restartPolicy: "Always" }, status: { phase: "Pending" } },
  ],
  [`POST ${core}/serviceaccounts`, { metadata: { name: "new" } }, 201, generated],
  [
    `POST ${apps}/deployments`,
    { ...deployment(1), metadata: { name: "new" } },
    201,
    { metadata: { generation: 1 }, spec: { replicas: 1 } },
  ],
  ["POST /api/v1/namespaces", { metadata: { name: "new" } }, 201, { status: { phase: "Active" } }],
  ["POST /api/v1/nodes", { metadata: { name: "new" } }, 201, generated],
  [
    "POST /apis/batch/v1/namespaces/default/jobs",
    { metadata: { name: "new" }, spec: { template: { spec: { containers: [container], restartPolicy: "Never" } } } },
    201,
    { spec: { selector: { matchLabels: { "batch.kubernetes.io/controller-uid": set } } } },
  ],
  [`POST ${core}/configmaps`, { metadata: { name: "Not valid" } }, 422, { reason: "Invalid" }],
  // Addresses and ports.
  [`POST ${core}/services`, service("a"), 201, { spec: { clusterIP: set, clusterIPs: [set] } }],
  [
    `POST ${core}/services`,
    service("a", { type: "NodePort" }),
    201,
    { spec: { clusterIP: set, ports: [{ nodePort: set }] } },
  ],
  [
    `POST ${core}/services`,
    service("a", { type: "LoadBalancer", externalTrafficPolicy: "Local" }),
    201,
    { spec: { clusterIP: set, ports: [{ nodePort: set }] } },
  ],
  [`POST ${core}/services`, service("a", { clusterIP: "10.9.0.7" }), 201, { spec: { clusterIP: "10.9.0.7" } }],
  [
    `POST ${core}/services`,
    service("a", { type: "NodePort", ports: [{ port: 80, nodePort: 30007 }] }),
    201,
    { spec: { ports: [{ nodePort: 30007 }] } },
  ],
  [`POST ${core}/services`, service("a", { clusterIP: "10.9.0.5" }), 422, { reason: "Invalid" }],
  [
    `PUT ${core}/services/there`,
    service("there", { type: "ExternalName", externalName: "example.com" }),
    200,
    { spec: { type: "ExternalName" } },
  ],
  [
    `MERGE ${core}/services/there`,
    { spec: { ports: [{ port: 80, nodePort: 30008 }] } },
    200,
    { spec: { ports: [{ nodePort: 30008 }] } },
  ],
  [`MERGE ${core}/services/there`, { spec: { type: "ClusterIP" } }, 200, { spec: { clusterIP: "10.9.0.5" } }],
  [`DELETE ${core}/services/there`, undefined, 200, {}],
  [`POST ${core}/services`, service("a", { clusterIP: "10.9.0.5" }), 422, { reason: "Invalid" }],
  // Updates.
  [
    `PUT ${core}/configmaps/there`,
    { metadata: { name: "there" }, data: { k: "w" } },
    200,
    { data: { k: "w" }, metadata: { resourceVersion: set } },
  ],
  [`PUT ${core}/configmaps/there`, { metadata: { name: "there", resourceVersion: "1" } }, 409, { reason: "Conflict" }],
  [`PUT ${core}/configmaps/none`, { metadata: { name: "none" } }, 404, {}],
  [`PUT ${apps}/deployments/there`, deployment(5), 200, { metadata: { generation: 2 }, spec: { replicas: 5 } }],
  [
    `PUT ${apps}/deployments/there/status`,
    { ...deployment(2), status: { replicas: 2 } },
    200,
    { status: { replicas: 2 } },
  ],
  [
    `PUT ${apps}/deployments/there/scale`,
    { metadata: { name: "there" }, spec: { replicas: 7 } },
    200,
    { spec: { replicas: 7 } },
  ],
  [
    "PUT /apis/coordination.k8s.io/v1/namespaces/default/leases/new",
    { metadata: { name: "new" }, spec: { holderIdentity: "me" } },
    201,
    generated,
  ],
  ["PUT /api/v1/namespaces/there/finalize", { metadata: { name: "there" }, spec: {} }, 200, { spec: {} }],
  // Patches.
  [`MERGE ${core}/configmaps/there`, { data: { p: "q" } }, 200, { data: { k: "v", p: "q" } }],
  [`STRATEGIC ${core}/configmaps/there`, { data: { p: "q" } }, 200, { data: { k: "v", p: "q" } }],
  [`JSON ${core}/configmaps/there`, [{ op: "replace", path: "/data/k", value: "w" }], 200, { data: { k: "w" } }],
  [`MERGE ${apps}/deployments/there/scale`, { spec: { replicas: 9 } }, 200, { spec: { replicas: 9 } }],
  [`MERGE ${core}/pods/there/status`, { status: { phase: "Running" } }, 200, { status: { phase: "Running" } }],
  [`MERGE ${core}/configmaps/held`, { metadata: { finalizers: null } }, 200, {}],
  // Subresources.
  [
    `POST ${core}/pods/there/binding`,
    { metadata: { name: "there" }, target: { name: "node" } },
    201,
    { status: "Success" },
  ],
  [`POST ${core}/pods/there/eviction`, { metadata: { name: "there" } }, 201, { status: "Success" }],
  // Deletion.
  [`DELETE ${core}/configmaps/there`, undefined, 200, { status: "Success" }],
  [`DELETE ${core}/configmaps/held`, undefined, 200, { metadata: { deletionTimestamp: set } }],
  [
    `DELETE ${core}/configmaps/there`,
    { preconditions: { uid: "other" }, dryRun: ["All"] },
    409,
    { reason: "Conflict" },
  ],
  [`DELETE ${core}/configmaps/none`, undefined, 404, {}],
  // The last finalizers would be removed: an object of which nothing is set.
  [
    `DELETE ${core}/configmaps/orphaning`,
    { propagationPolicy: "Background", dryRun: ["All"] },
    200,
    { kind: "ConfigMap", metadata: { name: undefined } },
  ],
  [
    `DELETE ${core}/configmaps/orphaning`,
    { propagationPolicy: "Orphan", dryRun: ["All"] },
    200,
    { metadata: { name: "orphaning", deletionTimestamp: set } },
  ],
  [`DELETE ${core}/pods/there`, undefined, 200, { kind: "Pod" }],
  [`DELETE ${core}/pods/running`, undefined, 200, { metadata: { deletionGracePeriodSeconds: 30 } }],
  [`DELETE ${core}/pods/running`, { gracePeriodSeconds: 0, dryRun: ["All"] }, 200, { kind: "Pod" }],
  [
    `DELETE ${apps}/deployments/there`,
    { propagationPolicy: "Foreground", dryRun: ["All"] },
    200,
    { metadata: { finalizers: ["foregroundDeletion"] } },
  ],
  ["DELETE /api/v1/namespaces/there", undefined, 200, { status: { phase: "Terminating" } }],
  [`DELETE ${core}/configmaps`, undefined, 200, { kind: "ConfigMapList" }],
];

const patchTypes: Readonly<Record<string, string>> = {
  JSON: "application/json-patch+json",
  MERGE: "application/merge-patch+json",
  STRATEGIC: "application/strategic-merge-patch+json",
};

/** Watches of these would see a write. */
const watched = [
  `${core}/configmaps`,
  `${core}/secrets`,
  `${core}/services`,
  `${core}/pods`,
  `${core}/serviceaccounts`,
  `${core}/events`,
  "/api/v1/namespaces",
  "/api/v1/nodes",
  `${apps}/deployments`,
  "/apis/batch/v1/namespaces/default/jobs",
  "/apis/coordination.k8s.io/v1/namespaces/default/leases",
];

/** Checks that the answer contains the expected part; `set` matches any text or number. */
function checkPart(got: unknown, want: unknown, where: string): void {
  if (want === set) assert.ok((typeof got === "string" && got !== "") || typeof got === "number", where);
  else if (typeof want === "object" && want !== null) {
    for (const key of Object.keys(want))
      checkPart((got as Record<string, unknown>)?.[key], (want as Record<string, unknown>)[key], `${where}.${key}`);
  } else assert.equal(got, want, where);
}

const { server, client } = await startServerWithClient({ serviceClusterIpRange: "10.9.0.0/28" });

describe("dry runs", () => {
  before(async () => {
    await createDefaultAccounts(client, "default");
    for (const [path, body] of existing) {
      const answer = await client.send({ method: "POST", path, body });
      assert.equal(answer.status, 201, answer.text);
    }
  });

  /** The revision of the whole store. */
  const revision = async (): Promise<string> =>
    (await client.send({ path: `${core}/configmaps?limit=1` })).body.metadata.resourceVersion;

  const dryRun = (request: string, body: object | undefined): Promise<Answer> => {
    const [word = "", path = ""] = request.split(" ");
    const type = patchTypes[word];
    const inBody = word === "DELETE" && body !== undefined;
    return client.send({
      method: type === undefined ? word : "PATCH",
      path: inBody ? path : `${path}?dryRun=All`,
      ...(type !== undefined && { headers: { "content-type": type } }),
      ...(body !== undefined && { body }),
    });
  };

  test("are answered in full and change no state", async () => {
    const from = await revision();
    const watches = http2Watches(server.kubeconfig);
    const events = new Map(watched.map((path) => [path, [] as string[]]));
    const arrived = Promise.withResolvers<void>();
    for (const path of watched) {
      watches.open(`${path}?watch=1&resourceVersion=${from}`, {
        event: ({ type, object }) => {
          (events.get(path) as string[]).push(`${type} ${(object as { metadata?: { name?: string } }).metadata?.name}`);
          if ([...events.values()].every((list) => list.length > 0)) arrived.resolve();
        },
        end: (status) => arrived.reject(new Error(`the watch of ${path} ended: ${JSON.stringify(status)}`)),
      });
    }
    for (const [request, body, status, want] of rows) {
      const answer = await dryRun(request, body);
      const where = `${request}: ${answer.text}`;
      assert.equal(answer.status, status, where);
      checkPart(answer.body, want, where);
      if (request.startsWith("POST") && status === 201)
        assert.equal(answer.body.metadata?.resourceVersion, undefined, where);
    }
    assert.equal(await revision(), from, "no revision was used");
    for (const path of watched) await client.send({ method: "POST", path, body: markerFor(path) });
    await arrived.promise;
    watches.break();
    for (const [path, seen] of events) assert.deepEqual(seen.slice(0, 1), ["ADDED marker"], path);
  });

  test("neither allocate nor release addresses and ports", async () => {
    const taken = async (body: object): Promise<number> =>
      (await client.send({ method: "POST", path: `${core}/services`, body })).status;
    assert.equal(await taken(service("b", { clusterIP: "10.9.0.5" })), 422, "still allocated to the existing service");
    assert.equal(
      await taken(service("b", { type: "NodePort", clusterIP: "10.9.0.7", ports: [{ port: 80, nodePort: 30007 }] })),
      201,
    );
    assert.equal(
      await taken(service("c", { type: "NodePort", clusterIP: "10.9.0.8", ports: [{ port: 80, nodePort: 30008 }] })),
      201,
    );
    for (let at = 0; at < 40; at++)
      assert.equal((await dryRun(`POST ${core}/services`, service(`dry-${at}`))).status, 201);
    const statuses: number[] = [];
    for (let at = 0; at < 14; at++) statuses.push(await taken(service(`real-${at}`)));
    // 14 addresses, without those of the server, the existing service, the marker and the two
    // services above.
    assert.equal(statuses.filter((status) => status === 201).length, 14 - 5);
  });
});

/** An object to create, which every watch must see first. */
function markerFor(path: string): object {
  const metadata = { name: "marker" };
  if (path.endsWith("/services")) return service("marker", { clusterIP: "10.9.0.2" });
  if (path.endsWith("/pods")) return { metadata, spec: { containers: [container] } };
  if (path.endsWith("/deployments")) return { ...deployment(1), metadata };
  if (path.endsWith("/jobs"))
    return { metadata, spec: { template: { spec: { containers: [container], restartPolicy: "Never" } } } };
  if (path.endsWith("/events")) return { metadata, involvedObject: { namespace: "default" } };
  return { metadata };
}
