/**
 * A kube-apiserver and this server over one etcd. Guarantees:
 * - each of them answers the same bytes of objects that the other has written;
 * - watches of both receive the same events;
 * - writers at both lose no update.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../../src/apimachinery/clock.ts";
import { nodePortsKey } from "../../src/registry/node-port-range.ts";
import { EtcdClient } from "../../src/storage/etcd/api/client.ts";
import { etcdDefaults } from "../../src/storage/etcd/options.ts";
import { type EtcdCluster, skipWithoutEtcd, startEtcd } from "../support/etcd.ts";
import { type Http2Answer, type Http2Client, http2Client, type WatchEvent } from "../support/http2-client.ts";
import { type KubeApiserver, startKubeApiserver } from "../support/kube-apiserver.ts";
import { quietControllers, startTestServer, type TestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";
import { skipWithoutUpstream } from "../support/upstream-programs.ts";

const merge = "application/merge-patch+json";
const apply = "application/apply-patch+yaml";
const skip = skipWithoutUpstream("kube-apiserver") || skipWithoutEtcd;
const core = "/api/v1/namespaces/shared";

const template = {
  metadata: { labels: { a: "b" } },
  spec: { containers: [{ name: "c", image: "i", resources: { limits: { cpu: "1500m", memory: "1Gi" } } }] },
};
const schema = { type: "object", properties: { spec: { type: "object", properties: { n: { type: "integer" } } } } };

/** Created at one server after the other. */
const creations: [path: string, body: object][] = [
  [`${core}/configmaps`, { metadata: { name: "map" }, data: { z: "1", a: "2" }, binaryData: { b: "AAEC" } }],
  [`${core}/secrets`, { metadata: { name: "secret" }, stringData: { k: "v" } }],
  [`${core}/pods`, { metadata: { name: "pod" }, spec: { ...template.spec, automountServiceAccountToken: false } }],
  [`${core}/services`, { metadata: { name: "service" }, spec: { selector: { a: "b" }, ports: [{ port: 80 }] } }],
  [`${core}/services`, { metadata: { name: "node-port" }, spec: { type: "NodePort", ports: [{ port: 80 }] } }],
  [
    `${core}/persistentvolumeclaims`,
    {
      metadata: { name: "claim" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    },
  ],
  [
    `${core}/events`,
    {
      metadata: { name: "event" },
      involvedObject: { namespace: "shared", name: "pod", kind: "Pod" },
      reason: "R",
      type: "Normal",
    },
  ],
  [`${core}/resourcequotas`, { metadata: { name: "quota" }, spec: { hard: { pods: "10" } } }],
  [
    "/apis/apps/v1/namespaces/shared/deployments",
    { metadata: { name: "deployment" }, spec: { replicas: 2, selector: { matchLabels: { a: "b" } }, template } },
  ],
  [
    "/apis/apps/v1/namespaces/shared/statefulsets",
    { metadata: { name: "set" }, spec: { serviceName: "s", selector: { matchLabels: { a: "b" } }, template } },
  ],
  [
    "/apis/batch/v1/namespaces/shared/cronjobs",
    {
      metadata: { name: "cron" },
      spec: {
        schedule: "* * * * *",
        jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: "Never" } } } },
      },
    },
  ],
  [
    "/apis/autoscaling/v2/namespaces/shared/horizontalpodautoscalers",
    {
      metadata: { name: "hpa" },
      spec: { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "deployment", apiVersion: "apps/v1" } },
    },
  ],
  [
    "/apis/networking.k8s.io/v1/namespaces/shared/ingresses",
    { metadata: { name: "ingress" }, spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } } },
  ],
  [
    "/apis/coordination.k8s.io/v1/namespaces/shared/leases",
    { metadata: { name: "lease" }, spec: { holderIdentity: "me", renewTime: "2026-01-02T03:04:05.123456Z" } },
  ],
  [
    "/apis/rbac.authorization.k8s.io/v1/namespaces/shared/roles",
    { metadata: { name: "role" }, rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
  ],
  [
    "/apis/discovery.k8s.io/v1/namespaces/shared/endpointslices",
    {
      metadata: { name: "slice" },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.1.1.1"] }],
      ports: [{ port: 80 }],
    },
  ],
  [
    "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
    { metadata: { name: "level" }, spec: { type: "Limited", limited: { limitResponse: { type: "Reject" } } } },
  ],
  [
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    {
      metadata: { name: "things.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    },
  ],
];

describe("a kube-apiserver and this server over one etcd", { skip }, () => {
  let cluster: EtcdCluster;
  let server: TestServer;
  let upstream: KubeApiserver;
  let ours: Http2Client;
  let theirs: Http2Client;
  const both = (): [string, Http2Client][] => [
    ["ours", ours],
    ["theirs", theirs],
  ];

  before(async () => {
    cluster = await startEtcd();
    server = await startTestServer({
      storage: "etcd",
      etcd: { ...etcdDefaults, servers: cluster.urls },
      controllers: [...quietControllers, "-resourcequota-controller"], // It would write to the quotas that are compared.
    });
    const { kubeconfig } = await server.as("admin", ["system:masters"]);
    upstream = await startKubeApiserver({ etcd: cluster.urls, flags: ["--disable-admission-plugins=ServiceAccount"] });
    ours = http2Client(kubeconfig);
    theirs = http2Client(upstream.kubeconfig);
    assert.equal((await ours.send("POST /api/v1/namespaces", { metadata: { name: "shared" } })).status, 201);
    await ours.send(`POST ${core}/serviceaccounts`, { metadata: { name: "default" } });
  });
  after(async () => {
    ours?.close();
    theirs?.close();
    await upstream?.close();
    await server?.close();
    await cluster?.close();
  });

  /** Reads at both servers until the answers are equal, because each has a cache. */
  async function checkEqual(path: string): Promise<Http2Answer> {
    return eventually(`equal answers at ${path}`, async () => {
      const [mine, other] = await Promise.all([ours.send(`GET ${path}`), theirs.send(`GET ${path}`)]);
      assert.deepEqual(mine, other);
      return mine;
    });
  }

  for (const [index, [path, body]] of creations.entries()) {
    for (const [who, writer] of [
      ["ours", () => ours],
      ["theirs", () => theirs],
    ] as const) {
      const name = `${(body as { metadata: { name: string } }).metadata.name}`;
      const isDefinition = path.endsWith("definitions");
      test(`${path.split("/").at(-1)} ${index} written by ${who}`, {
        skip: isDefinition && who === "ours" && "both would write definitions of the same name",
      }, async () => {
        const own = isDefinition ? name : `${name}-${who}`;
        const created = await writer().send(`POST ${path}`, { ...body, metadata: { name: own } });
        assert.equal(created.status, 201, JSON.stringify(created.body));
        const read = await checkEqual(`${path}/${own}`);
        if (!isDefinition) assert.deepEqual(read.body, created.body);
        const labeled = await writer().send(`PATCH ${path}/${own}`, { metadata: { labels: { x: "y" } } }, merge);
        assert.equal(labeled.status, 200, JSON.stringify(labeled.body));
        for (const [reader, client] of both()) {
          const label = (await client.send(`GET ${path}/${own}`)).body.metadata.labels?.x;
          assert.equal(label, "y", `read by ${reader}`);
        }
      });
    }
  }

  test("custom resources", async () => {
    const things = "/apis/example.com/v1/namespaces/shared/things";
    for (const [who, client] of both()) {
      await eventually("things are served", async () => (await client.send(`GET ${things}`)).status === 200);
      const body = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: who }, spec: { n: 1, pruned: 2 } };
      assert.equal((await client.send(`POST ${things}`, body)).status, 201);
    }
    for (const [who] of both()) assert.deepEqual((await checkEqual(`${things}/${who}`)).body.spec, { n: 1 });
  });

  test("server-side apply by both merges, and reports conflicts with the other's fields", async () => {
    const path = `${core}/configmaps/applied`;
    const object = (data: object): object => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "applied" },
      data,
    });
    assert.equal((await ours.send(`PATCH ${path}?fieldManager=one`, object({ a: "1" }), apply)).status, 201);
    assert.equal((await theirs.send(`PATCH ${path}?fieldManager=two`, object({ b: "1" }), apply)).status, 200);
    const conflicts = await Promise.all(
      both().map(([, client]) => client.send(`PATCH ${path}?fieldManager=three`, object({ a: "2" }), apply)),
    );
    assert.equal(conflicts[0]?.status, 409);
    assert.deepEqual(conflicts[0]?.body, conflicts[1]?.body);
    const { body } = await checkEqual(path);
    assert.deepEqual(body.data, { a: "1", b: "1" });
  });

  test("lists of every resource are equal", async () => {
    const { body } = await theirs.send("GET /apis");
    const versions = [
      "/api/v1",
      ...body.groups.map(
        (group: { preferredVersion: { groupVersion: string } }) => `/apis/${group.preferredVersion.groupVersion}`,
      ),
    ];
    for (const version of versions) {
      const { body: found } = await theirs.send(`GET ${version}`);
      for (const { name, verbs } of found.resources as { name: string; verbs: string[] }[]) {
        // Leases are renewed, and both servers write the endpoints of the Service kubernetes.
        if (!verbs.includes("list") || ["leases", "endpoints", "endpointslices", "componentstatuses"].includes(name))
          continue;
        const [mine, other] = await Promise.all(both().map(([, client]) => client.send(`GET ${version}/${name}`)));
        assert.deepEqual(mine?.body.items, other?.body.items, `${version}/${name}`);
      }
    }
  });

  test("watches of both receive the same events, whichever server writes, and no update is lost", async () => {
    const { body: list } = await ours.send(`GET ${core}/configmaps`);
    const seen = both().map(([, client]) => {
      const events: WatchEvent[] = [];
      const query = `watch=1&resourceVersion=${list.metadata.resourceVersion}`;
      const stop = client.watch(`${core}/configmaps?${query}`, (event) => void events.push(event));
      return { events, stop };
    });
    await ours.send(`POST ${core}/configmaps`, { metadata: { name: "counter" }, data: { n: "0" } });
    const increments = 10;
    const writer = async ([, client]: [string, Http2Client]): Promise<void> => {
      for (let done = 0; done < increments; ) {
        const { body } = await client.send(`GET ${core}/configmaps/counter`);
        body.data.n = String(Number(body.data.n) + 1);
        const { status } = await client.send(`PUT ${core}/configmaps/counter`, body);
        assert.ok(status === 200 || status === 409, String(status));
        if (status === 200) done++;
      }
    };
    await Promise.all([...both(), ...both()].map(writer));
    await theirs.send(`DELETE ${core}/configmaps/counter`);
    const deleted = ({ type, object }: WatchEvent): boolean => type === "DELETED" && object.metadata.name === "counter";
    for (const { events } of seen) await eventually("the deletion arrives", async () => events.some(deleted));
    for (const { stop } of seen) stop();
    const [mine, other] = seen.map(({ events }) => events.filter(({ object }) => object.metadata.name === "counter"));
    assert.deepEqual(mine, other);
    assert.equal(mine?.length, 4 * increments + 2);
    assert.equal(mine?.at(-1)?.object.data.n, String(4 * increments));
  });

  test("both store the node ports in use as the same bytes", async () => {
    const etcd = new EtcdClient({ servers: cluster.urls, clock: systemClock });
    const stored = async (): Promise<Buffer | undefined> =>
      (await etcd.range({ key: Buffer.from(nodePortsKey) })).kvs?.[0]?.value;
    const service = (name: string): object => ({
      metadata: { name },
      spec: { type: "NodePort", ports: [{ port: 80 }] },
    });
    assert.equal((await ours.send(`POST ${core}/services`, service("ours"))).status, 201);
    const written = await stored();
    assert.equal((await theirs.send(`POST ${core}/services`, service("theirs"))).status, 201);
    assert.notDeepEqual(await stored(), written);
    assert.equal((await theirs.send(`DELETE ${core}/services/theirs`)).status, 200);
    assert.deepEqual(await stored(), written);
    etcd.close();
  });
});
