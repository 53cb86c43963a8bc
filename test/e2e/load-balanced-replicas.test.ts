/**
 * Three servers over one etcd behind HAProxy, as docs/replicas.md describes them. Guarantees: when a
 * server is killed, its clients are soon served by another; a rolling restart loses no request of
 * clients that retry as client-go does, and no event of their watches; a server is ready only when
 * it serves stored definitions and rights; a token of one server is valid at each.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { freePort } from "../support/aggregated-server.ts";
import { type EtcdCluster, skipWithoutEtcd, startEtcd } from "../support/etcd.ts";
import { type Haproxy, probes, skipWithoutHaproxy, startHaproxy } from "../support/haproxy.ts";
import { peerLatency } from "../support/peer-latency.ts";
import { type ClientCredentials, type RetryingClient, retryingClient } from "../support/retrying-client.ts";
import { type ServerProcess, startServerProcess } from "../support/server-process.ts";
import { type SharedCertificates, writeSharedCertificates } from "../support/shared-certificates.ts";
import { eventually, until } from "../support/until.ts";

const isFull = process.env.COXSWAIN_TEST_FULL === "1";
/** The goal is 2 s; the short run has a margin for slow machines. */
const takeoverMs = isFull ? 2_000 : 10_000;
const writers = isFull ? 16 : 4;
const clients = 6;
const group = "replicas.example.com";
const things = `/apis/${group}/v1/namespaces/default/things`;
/** As docs/replicas.md has it: longer than the load balancer needs to find a server that is not ready. */
const delayMs = 2 * probes.intervalMs * probes.fall;

interface Replica {
  readonly port: number;
  readonly start: () => Promise<void>;
  process: ServerProcess;
}

describe("three servers behind HAProxy", { skip: skipWithoutEtcd || skipWithoutHaproxy, timeout: 600_000 }, () => {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-replicas-"));
  const replicas: Replica[] = [];
  let etcd: EtcdCluster;
  let haproxy: Haproxy;
  let certificates: SharedCertificates;
  let admin: ClientCredentials;
  /** May only read and write things. */
  let worker: ClientCredentials;

  before(async () => {
    etcd = await startEtcd();
    certificates = await writeSharedCertificates(directory);
    const { ca } = certificates;
    admin = { ca, ...(await certificates.client("admin", ["system:masters"])) };
    worker = { ca, ...(await certificates.client("worker")) };
    for (let at = 0; at < 3; at++) replicas.push(await startReplica(at));
    haproxy = await startHaproxy(
      directory,
      replicas.map(({ port }) => port),
    );
    await allUp();
    await prepare();
  });
  after(async () => {
    await Promise.all(replicas.map(({ process: one }) => one.end("SIGKILL")));
    await haproxy?.close();
    await etcd?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  async function startReplica(at: number): Promise<Replica> {
    const port = await freePort();
    const { servingFlags, tokenFlags } = certificates;
    const flags = [
      ...["--data-dir", join(directory, `server-${at}`)],
      ...["--etcd-servers", etcd.urls[0] as string, "--shutdown-delay-duration", `${delayMs}ms`],
      ...servingFlags,
      ...tokenFlags,
    ];
    const open = (): Promise<ServerProcess> => startServerProcess({ port, flags, ca: certificates.ca });
    const replica: Replica = {
      port,
      process: await open(),
      async start() {
        replica.process = await open();
      },
    };
    return replica;
  }

  const connect = (credentials: ClientCredentials): RetryingClient =>
    retryingClient(`https://localhost:${haproxy.port}`, credentials);

  /** Waits until the load balancer sends connections to all servers. */
  function allUp(): Promise<true> {
    return until(async () => (await haproxy.state()).every(({ isUp }) => isUp));
  }

  async function send(client: RetryingClient, method: string, path: string, body?: object) {
    const { status, text } = await client.send(method, path, body);
    assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
    return JSON.parse(text);
  }

  /** Creates a definition, and the right of the worker to its objects. */
  async function prepare(): Promise<void> {
    const client = connect(admin);
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    await send(client, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: `things.${group}` },
      spec: {
        group,
        names: { plural: "things", kind: "Thing" },
        scope: "Namespaced",
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    });
    const rbac = "/apis/rbac.authorization.k8s.io/v1";
    const rules = [{ apiGroups: [group], resources: ["things"], verbs: ["*"] }];
    await send(client, "POST", `${rbac}/clusterroles`, { metadata: { name: "things" }, rules });
    await send(client, "POST", `${rbac}/clusterrolebindings`, {
      metadata: { name: "things" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "things" },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "worker" }],
    });
    client.close();
    for (const { port } of replicas) {
      const direct = retryingClient(`https://localhost:${port}`, worker);
      await until(async () => (await direct.send("GET", things)).status === 200);
      direct.close();
    }
  }

  test("a token of one server is valid at each", async () => {
    const client = connect(admin);
    const path = "/api/v1/namespaces/default/serviceaccounts";
    await send(client, "POST", path, { metadata: { name: "bearer" } });
    const { token } = (await send(client, "POST", `${path}/bearer/token`, { spec: {} })).status;
    client.close();
    for (const { port } of replicas) {
      const direct = retryingClient(`https://localhost:${port}`, { ca: certificates.ca, token });
      const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
      const { status } = await send(direct, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review);
      assert.equal(status.userInfo.username, "system:serviceaccount:default:bearer");
      direct.close();
    }
  });

  test("the clients of a killed server are served by another", async (t) => {
    const reading = Array.from({ length: clients }, read);
    await Promise.all(reading.map(({ first }) => first));
    const at = (await haproxy.state()).findIndex(({ connections }) => connections > 0);
    const killed = replicas[at] as Replica;
    await killed.process.end("SIGKILL");
    await until(async () => (await haproxy.state())[at]?.isUp === false);
    const results = await Promise.all(reading.map(({ stop }) => stop()));
    const gapMs = Math.max(...results.map(({ longestMs }) => longestMs));
    const retried = results.filter(({ retries }) => retries > 0).length;
    t.diagnostic(`${retried} of ${clients} clients retried; the longest took ${gapMs.toFixed(0)} ms`);
    assert.ok(retried > 0, "a connection was to the killed server");
    assert.ok(gapMs < takeoverMs, `${gapMs} ms`);
    await killed.start();
    await allUp();
  });

  /** Reads things until it is stopped. */
  function read() {
    const client = connect(worker);
    let stopped = false;
    let longestMs = 0;
    const once = async (): Promise<void> => {
      const startedAt = performance.now();
      await send(client, "GET", `${things}?limit=1`);
      longestMs = Math.max(longestMs, performance.now() - startedAt);
    };
    const first = once();
    const all = first.then(async () => {
      while (!stopped) await once();
    });
    return {
      first,
      async stop() {
        stopped = true;
        await all;
        client.close();
        return { longestMs, retries: client.retries };
      },
    };
  }

  test("a rolling restart loses no request and no event", async (t) => {
    const watching = await watchThings();
    const running = Array.from({ length: writers }, (_, writer) => write(writer));
    for (const replica of replicas) {
      assert.equal(await replica.process.end("SIGTERM"), 0, replica.process.output());
      await replica.start();
      await checkServes(replica);
      await allUp();
    }
    for (const one of running) one.stop();
    const done = await Promise.all(running.map(({ finished }) => finished));
    const written = done.flatMap(({ versions }) => versions);
    const retries = done.reduce((sum, one) => sum + one.retries, 0);
    const seen = await watching.until(Math.max(...written));
    t.diagnostic(`${written.length} writes, ${retries} retries, ${watching.opened()} watches`);
    assert.deepEqual(seen.toSorted(ascending), written.toSorted(ascending), "each event is seen once");
    assert.ok(watching.opened() > 1, "the watch was moved");
  });

  /** A server that is ready has read definitions and rights. */
  async function checkServes({ port }: Replica): Promise<void> {
    const direct = retryingClient(`https://localhost:${port}`, worker);
    await send(direct, "GET", things);
    direct.close();
  }

  interface Writer {
    stop(): void;
    readonly finished: Promise<{ versions: number[]; retries: number }>;
  }

  /** Creates, reads and updates things until it is stopped. */
  function write(writer: number): Writer {
    let stopped = false;
    const client = connect(worker);
    const run = async () => {
      const versions: number[] = [];
      const version = ({ metadata }: { metadata: { resourceVersion: string } }) => Number(metadata.resourceVersion);
      for (let at = 0; !stopped; at++) {
        const name = `thing-${writer}-${at}`;
        const object = { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name } };
        versions.push(version(await send(client, "POST", things, object)));
        const stored = await send(client, "GET", `${things}/${name}`);
        versions.push(version(await send(client, "PUT", `${things}/${name}`, { ...stored, value: at })));
        await peerLatency(5);
      }
      client.close();
      return { versions, retries: client.retries };
    };
    return {
      stop() {
        stopped = true;
      },
      finished: run(),
    };
  }

  /** Watches things, again from the last event when a watch ends. */
  async function watchThings() {
    const client = connect(worker);
    const seen: number[] = [];
    let opened = 0;
    let last = Number((await send(client, "GET", things)).metadata.resourceVersion);
    let stopped = false;
    const run = async (): Promise<void> => {
      while (!stopped) {
        opened++;
        await client.watch(`${things}?watch=1&resourceVersion=${last}&allowWatchBookmarks=true`, (line) => {
          const { type, object } = JSON.parse(line);
          assert.ok(["ADDED", "MODIFIED", "BOOKMARK"].includes(type), line);
          last = Number(object.metadata.resourceVersion);
          if (type !== "BOOKMARK") seen.push(last);
        });
      }
    };
    const running = run();
    return {
      opened: () => opened,
      async until(revision: number): Promise<number[]> {
        const failed = running.then(() => Promise.reject(new Error("the watch ended")));
        failed.catch(() => {});
        await Promise.race([failed, eventually(`revision ${revision} is watched`, () => last >= revision)]);
        stopped = true;
        client.close();
        await running;
        return seen;
      },
    };
  }
});

const ascending = (a: number, b: number): number => a - b;
