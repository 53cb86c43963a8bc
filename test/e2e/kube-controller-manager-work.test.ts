/**
 * kube-controller-manager works against this server as against kube-apiserver.
 * Guarantees, for embedded stores and etcd: its controllers do their work, and
 * it logs no error that kube-apiserver would not cause.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type CandidateCluster, durableEngines, openCandidateCluster } from "../support/candidate-cluster.ts";
import { type ControllerManager, startControllerManager } from "../support/kube-controller-manager.ts";
import { peerLatency } from "../support/peer-latency.ts";
import { skipWithoutUpstream } from "../support/upstream-programs.ts";

const core = "/api/v1/namespaces/work";
const apps = "/apis/apps/v1/namespaces/work";
const batch = "/apis/batch/v1/namespaces/work";
const things = "/apis/work.example.com/v1/namespaces/work/things";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** What kube-controller-manager also logs with kube-apiserver, without a cause in the server. */
const usual = [
  /The manifest file is empty/,
  // Its controllers try again when their informers are behind their own writes.
  /is not as new as written version/,
  /the object has been modified; please apply your changes to the latest version/,
  // Its controllers read what has just been deleted.
  /because it is being terminated/,
  /failed with replicasets\.apps "[^"]+" not found/,
  /can't adopt ControllerRevisions/,
];

const podSpec = { containers: [{ name: "c", image: "i", ports: [{ containerPort: 80 }] }] };
const template = (app: string): object => ({ metadata: { labels: { app } }, spec: podSpec });
const selector = (app: string): object => ({ matchLabels: { app } });
const claimTemplate = {
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage: "1Gi" } } },
};

const creations: [path: string, body: object][] = [
  ["/api/v1/nodes", { metadata: { name: "node" } }],
  [
    "/api/v1/persistentvolumes",
    {
      metadata: { name: "volume" },
      spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/none" } },
    },
  ],
  [`${core}/services`, { metadata: { name: "service" }, spec: { selector: { app: "d" }, ports: [{ port: 80 }] } }],
  [`${core}/resourcequotas`, { metadata: { name: "quota" }, spec: { hard: { pods: "30" } } }],
  [
    `${core}/secrets`,
    {
      metadata: { name: "token", annotations: { "kubernetes.io/service-account.name": "default" } },
      type: "kubernetes.io/service-account-token",
    },
  ],
  [
    "/apis/policy/v1/namespaces/work/poddisruptionbudgets",
    { metadata: { name: "budget" }, spec: { minAvailable: 2, selector: selector("d") } },
  ],
  [
    `${apps}/deployments`,
    { metadata: { name: "d" }, spec: { replicas: 3, selector: selector("d"), template: template("d") } },
  ],
  [
    `${apps}/statefulsets`,
    {
      metadata: { name: "s" },
      spec: {
        replicas: 1,
        serviceName: "s",
        selector: selector("s"),
        template: template("s"),
        volumeClaimTemplates: [claimTemplate],
      },
    },
  ],
  [
    `${batch}/jobs`,
    {
      metadata: { name: "j" },
      spec: { completions: 2, parallelism: 2, template: { spec: { restartPolicy: "Never", ...podSpec } } },
    },
  ],
  [
    definitions,
    {
      metadata: { name: "things.work.example.com" },
      spec: {
        group: "work.example.com",
        names: { plural: "things", kind: "Thing" },
        scope: "Namespaced",
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    },
  ],
];

/** The pods of the Job have ended, the others are ready. */
function statusOf({ metadata }: { metadata: { name: string } }, number: number): object {
  const now = new Date().toISOString().replace(/\.\d+Z/, "Z");
  const isJob = metadata.name.startsWith("j-");
  const ended = { terminated: { exitCode: 0, startedAt: now, finishedAt: now } };
  const state = isJob ? ended : { running: { startedAt: now } };
  const ip = `10.1.0.${number}`;
  return {
    phase: isJob ? "Succeeded" : "Running",
    podIP: ip,
    podIPs: [{ ip }],
    startTime: now,
    conditions: [{ type: "Ready", status: isJob ? "False" : "True", lastTransitionTime: now }],
    containerStatuses: [{ name: "c", image: "i", imageID: "i", ready: !isJob, restartCount: 0, state }],
  };
}

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
type Holds = (body: any) => boolean;

const reached: [what: string, path: string, holds: Holds][] = [
  ["the Deployment is complete", `${apps}/deployments/d`, ({ status }) => status.availableReplicas === 3],
  ["the StatefulSet is complete", `${apps}/statefulsets/s`, ({ status }) => status.availableReplicas === 1],
  [
    "the Job has ended",
    `${batch}/jobs/j`,
    ({ status }) => status.succeeded === 2 && status.completionTime !== undefined,
  ],
  ["the claim is bound", `${core}/persistentvolumeclaims/data-s-0`, ({ status }) => status.phase === "Bound"],
  ["the volume is bound", "/api/v1/persistentvolumes/volume", ({ status }) => status.phase === "Bound"],
  [
    "the Service has endpoints",
    "/apis/discovery.k8s.io/v1/namespaces/work/endpointslices",
    ({ items }) => items[0]?.endpoints?.length === 3,
  ],
  [
    "the budget allows a disruption",
    "/apis/policy/v1/namespaces/work/poddisruptionbudgets/budget",
    ({ status }) => status.disruptionsAllowed === 1,
  ],
  ["the quota counts pods", `${core}/resourcequotas/quota`, ({ status }) => Number(status.used.pods) === 4],
  ["the Secret has a token", `${core}/secrets/token`, ({ data }) => data?.token !== undefined],
];

for (const [engine, skipEngine] of durableEngines) {
  describe(`with ${engine}`, {
    skip: skipWithoutUpstream("kube-controller-manager") || skipEngine,
    timeout: 600_000,
  }, () => {
    const directory = mkdtempSync(join(tmpdir(), "coxswain-manager-"));
    let cluster: CandidateCluster;
    let manager: ControllerManager;

    before(async () => {
      cluster = await openCandidateCluster({ engine, directory, flags: [], candidateFlags: [] });
      const times = ["--leader-elect-lease-duration=120s", "--leader-elect-renew-deadline=110s"];
      manager = await startControllerManager({ ...cluster, directory, flags: times });
    });
    after(async () => {
      await manager?.end("SIGKILL");
      await cluster?.close();
      rmSync(directory, { recursive: true, force: true });
    });

    /** Does what a scheduler and a kubelet do. */
    async function runPods(): Promise<void> {
      const { items } = await cluster.send("GET", `${core}/pods`);
      for (const pod of items) {
        const { name, deletionTimestamp } = pod.metadata;
        const path = `${core}/pods/${name}`;
        if (deletionTimestamp !== undefined) await tryWrite("DELETE", path, { gracePeriodSeconds: 0 });
        else if (pod.spec.nodeName === undefined)
          await tryWrite("POST", `${path}/binding`, { metadata: { name }, target: { kind: "Node", name: "node" } });
        else if (pod.status.phase === "Pending")
          await tryWrite("PUT", `${path}/status`, { ...pod, status: statusOf(pod, items.indexOf(pod) + 1) });
      }
    }

    /** Another writer may win. */
    async function tryWrite(method: string, path: string, body: object): Promise<void> {
      const { status, text } = await cluster.client.send(method, path, body);
      assert.ok(status < 300 || status === 404 || status === 409, `${method} ${path}: ${text}`);
    }

    /** Waits until the body of an answer holds, while pods run; undefined for 404. */
    async function until(what: string, path: string, holds: Holds): Promise<void> {
      let isOver = false;
      const running = (async () => {
        while (!isOver) {
          await runPods();
          await peerLatency(200);
        }
      })();
      await cluster.until(what, path, holds).finally(() => {
        isOver = true;
      });
      await running;
    }

    const untilHolds = (what: string, path: string, holds: Holds): Promise<void> =>
      until(what, path, (body) => body !== undefined && holds(body));
    const untilGone = (path: string): Promise<void> => until(`${path} goes`, path, (body) => body === undefined);
    const remove = (path: string, propagationPolicy: string): Promise<unknown> =>
      cluster.send("DELETE", path, { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy });

    test("a namespace gets its ServiceAccount and the authority of the server", async () => {
      await cluster.send("POST", "/api/v1/namespaces", { metadata: { name: "work" } });
      await untilHolds("the ServiceAccount", `${core}/serviceaccounts/default`, () => true);
      await untilHolds(
        "the authority",
        `${core}/configmaps/kube-root-ca.crt`,
        ({ data }) => data["ca.crt"] === cluster.certificates.ca,
      );
    });

    test("workloads run", async () => {
      for (const [path, body] of creations) await cluster.send("POST", path, body);
      for (const [what, path, holds] of reached) await untilHolds(what, path, holds);
    });

    test("a Deployment is updated", async () => {
      const path = `${apps}/deployments/d`;
      const deployment = await cluster.send("GET", path);
      deployment.spec.template.spec.containers[0].image = "next";
      const { metadata } = await cluster.send("PUT", path, deployment);
      await untilHolds(
        "the Deployment has only updated pods",
        path,
        ({ status }) =>
          status.observedGeneration === metadata.generation && status.updatedReplicas === 3 && status.replicas === 3,
      );
      const { items } = await cluster.send("GET", `${apps}/replicasets`);
      const replicas = items.map(({ spec }: { spec: { replicas: number } }) => spec.replicas);
      assert.deepEqual(replicas.sort(), [0, 3]);
    });

    test("dependents are deleted and orphaned", async () => {
      await untilHolds("Things are served", things, () => true);
      const thing = { apiVersion: "work.example.com/v1", kind: "Thing", metadata: { name: "owner" } };
      const { metadata: owner } = await cluster.send("POST", things, thing);
      const ownerReferences = [{ apiVersion: thing.apiVersion, kind: thing.kind, name: owner.name, uid: owner.uid }];
      await cluster.send("POST", `${core}/configmaps`, { metadata: { name: "owned", ownerReferences } });
      await remove(`${things}/owner`, "Background");
      await untilGone(`${core}/configmaps/owned`);

      await remove(`${apps}/deployments/d`, "Foreground");
      await untilGone(`${apps}/deployments/d`);
      const { items } = await cluster.send("GET", `${core}/pods?labelSelector=app%3Dd`);
      assert.deepEqual(items, []);

      await remove(`${apps}/statefulsets/s`, "Orphan");
      await untilGone(`${apps}/statefulsets/s`);
      const { metadata } = await cluster.send("GET", `${core}/pods/s-0`);
      assert.equal(metadata.ownerReferences, undefined);
    });

    test("a namespace is deleted with its objects", async () => {
      await cluster.send("POST", things, {
        apiVersion: "work.example.com/v1",
        kind: "Thing",
        metadata: { name: "left" },
      });
      await remove("/api/v1/namespaces/work", "Background");
      await untilGone("/api/v1/namespaces/work");
      const { items } = await cluster.send("GET", "/apis/work.example.com/v1/things");
      assert.deepEqual(items, []);
    });

    test("it has logged no errors", async () => {
      assert.equal(await manager.leads(), true);
      const errors = manager
        .log()
        .split("\n")
        .filter((line) => /^[EF]\d{4} /.test(line));
      const unusual = errors.filter((line) => !usual.some((pattern) => pattern.test(line)));
      assert.deepEqual(unusual, []);
    });
  });
}
