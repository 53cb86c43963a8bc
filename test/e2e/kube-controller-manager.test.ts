/**
 * kube-controller-manager and this server's controllers.
 * Guarantees, for embedded stores and etcd, and with coordinated elections:
 * - each waits while the other one holds the Lease, and follows when it stops or is killed;
 * - the controllers of both never write at the same time: each write is in a term of its writer.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type CandidateCluster, durableEngines, openCandidateCluster } from "../support/candidate-cluster.ts";
import { skipWithoutEtcd } from "../support/etcd.ts";
import { type ControllerManager, startControllerManager } from "../support/kube-controller-manager.ts";
import { peerLatency } from "../support/peer-latency.ts";
import { eventually } from "../support/until.ts";
import { skipWithoutUpstream } from "../support/upstream-programs.ts";

const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const leasePath = `${leases}/kube-controller-manager`;
/** Short, but long enough for a loaded machine: kube-controller-manager ends when it loses the lease. */
const times = ["lease-duration=20s", "renew-deadline=15s", "retry-period=1s"].map((time) => `--leader-elect-${time}`);

/** Each runs one controller, which creates one object in every namespace and never changes it. */
const marks = {
  ours: { controller: "serviceaccount-controller", path: "serviceaccounts", name: "default" },
  theirs: { controller: "root-ca-certificate-publisher-controller", path: "configmaps", name: "kube-root-ca.crt" },
} as const;
type Candidate = keyof typeof marks;

interface LeaseState {
  readonly revision: number;
  readonly holder: string;
}

const gates = ["--feature-gates=CoordinatedLeaderElection=true"];
const apis = ["--runtime-config=coordination.k8s.io/v1beta1=true"];
const settings = [
  ...durableEngines.map(([engine, skip]) => ({ title: `with ${engine}`, engine, skip, gates: [], apis: [] })),
  // A restart of the only server, which also elects, may elect another candidate.
  { title: "with coordinated elections", engine: "etcd", skip: skipWithoutEtcd, gates, apis },
] as const;

for (const { title, engine, skip, ...flags } of settings) {
  describe(title, { skip: skipWithoutUpstream("kube-controller-manager") || skip, timeout: 600_000 }, () => {
    const directory = mkdtempSync(join(tmpdir(), "coxswain-manager-"));
    /** Every state of the Lease that the API has reported. */
    const history: LeaseState[] = [];
    const holders = new Map<string, Candidate>();
    let cluster: CandidateCluster;
    let manager: ControllerManager | undefined;
    let isClosed = false;
    let following: Promise<void>;

    before(async () => {
      const candidateFlags = ["--controllers", marks.ours.controller, "--leader-elect=true", ...times];
      cluster = await openCandidateCluster({
        engine,
        directory,
        flags: [...flags.gates, ...flags.apis],
        candidateFlags,
      });
      following = followLease();
    });
    after(async () => {
      isClosed = true;
      await manager?.end("SIGKILL");
      await cluster?.close();
      await following;
      rmSync(directory, { recursive: true, force: true });
    });

    /** Watches the Lease, again after each restart of the API. */
    async function followLease(): Promise<void> {
      while (!isClosed) {
        const path = `${leases}?watch=1&fieldSelector=metadata.name%3Dkube-controller-manager`;
        await cluster.client.watch(path, record).catch(() => {}); // The API restarts.
        await peerLatency(100);
      }
    }

    function record(line: string): void {
      const { metadata, spec } = JSON.parse(line).object;
      if (spec !== undefined)
        history.push({ revision: Number(metadata.resourceVersion), holder: spec.holderIdentity ?? "" });
    }

    async function startManager(): Promise<ControllerManager> {
      const own = ["--controllers", marks.theirs.controller, ...times, ...flags.gates];
      manager = await startControllerManager({ ...cluster, directory, flags: own });
      return manager;
    }

    const isManagerLeading = async (): Promise<boolean> => (await manager?.leads()) ?? false;

    /** Waits until one leads, and checks that the other does not. */
    async function leads(one: Candidate): Promise<void> {
      const state = async () => `ours: ${await cluster.leads()}, theirs: ${manager?.log().slice(-3_000)}`;
      let last = "";
      await eventually(
        () => `${one} does not lead: ${last}`,
        async () => {
          last = await state();
          return one === "ours" ? cluster.leads() : isManagerLeading();
        },
      );
      assert.equal(await (one === "ours" ? isManagerLeading() : cluster.leads()), false);
      const { spec } = await cluster.send("GET", leasePath);
      holders.set(spec.holderIdentity, one);
    }

    /** Creates a namespace, waits until the leader has written to it, and checks that the other has not. */
    async function acts(one: Candidate, namespace: string): Promise<void> {
      await cluster.send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
      const path = (of: Candidate): string => `/api/v1/namespaces/${namespace}/${marks[of].path}/${marks[of].name}`;
      await cluster.until(`${one} acts`, path(one), (body) => body !== undefined);
      const other = await cluster.client.send("GET", path(one === "ours" ? "theirs" : "ours"));
      assert.equal(other.status, 404);
    }

    /** Waits until the holder has renewed the Lease several times, so that another candidate has tried to acquire it. */
    async function renewals(): Promise<void> {
      const seen = new Set<string>();
      await cluster.until("renewals", leasePath, ({ spec }) => seen.add(spec.renewTime).size > 4);
    }

    test("kube-controller-manager waits while this server leads", async () => {
      await cluster.start();
      await leads("ours");
      const one = await startManager();
      await eventually(one.log, async () => one.log().includes("Attempting to acquire leader lease"));
      await renewals();
      assert.equal(await one.leads(), false);
      await acts("ours", "one");
    });

    test("kube-controller-manager leads when this server has stopped", async () => {
      await cluster.stop("SIGTERM");
      await leads("theirs");
      await acts("theirs", "two");
    });

    test("this server waits while kube-controller-manager leads", async () => {
      await cluster.start();
      await renewals();
      await leads("theirs");
      await acts("theirs", "three");
    });

    test("this server leads when kube-controller-manager has stopped", async () => {
      await manager?.end("SIGTERM");
      manager = undefined;
      await leads("ours");
      await acts("ours", "four");
    });

    test("kube-controller-manager leads when this server was killed", async () => {
      await startManager();
      await renewals();
      await cluster.stop("SIGKILL");
      await leads("theirs");
      await acts("theirs", "five");
    });

    test("this server leads when kube-controller-manager was killed", async () => {
      await cluster.start();
      await renewals();
      await manager?.end("SIGKILL");
      manager = undefined;
      await leads("ours");
      await acts("ours", "six");
    });

    test("each write of a controller is in a term of its program", async () => {
      let writes = 0;
      for (const one of ["ours", "theirs"] as const) {
        const { path, name } = marks[one];
        const { items } = await cluster.send("GET", `/api/v1/${path}?fieldSelector=metadata.name%3D${name}`);
        for (const { metadata } of items) {
          const revision = Number(metadata.resourceVersion);
          const at = history.filter((state) => state.revision < revision).at(-1);
          assert.equal(holders.get(at?.holder ?? ""), one, `${name} in ${metadata.namespace} at ${revision}`);
          writes++;
        }
      }
      assert.ok(writes >= 12, String(writes));
      assert.equal(new Set(history.map(({ holder }) => holder).filter((holder) => holder !== "")).size, holders.size);
    });
  });
}
