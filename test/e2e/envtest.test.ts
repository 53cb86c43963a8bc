/** The programs of `coxswain envtest`: their controllers, and their end when the test process is killed. */
import assert from "node:assert/strict";
import { type ChildProcessByStdio, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { after, describe, test } from "node:test";
import { eventually } from "../../src/testing/eventually.ts";
import { main } from "../support/program.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { until } from "../support/until.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-envtest-"));
after(() => rmSync(directory, { recursive: true, force: true }));

/** Creates the programs. @returns the path of kube-apiserver */
function createPrograms(name: string, ...flags: string[]): string {
  const assets = join(directory, name);
  execFileSync(process.execPath, [main, "envtest", assets, ...flags]);
  return join(assets, "kube-apiserver");
}

/** A script that a user starts instead of kube-apiserver, with `TEST_ASSET_KUBE_APISERVER`. */
function createWrapper(name: string, program: string, flags: string): string {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n"${program}" ${flags} "$@"\n`, { mode: 0o755 });
  return path;
}

const clientOf = (dataDir: string): RawClient => rawClient(readFileSync(join(dataDir, "kubeconfig"), "utf8"));
const storeIn = (certDir: string): string => join(certDir, "coxswain");

/** For a loaded machine. */
const waits = { timeoutMs: 60_000 };
const serverFlags = ["--secure-port=0", "--storage=memory"];
const newCertDir = (): string => mkdtempSync(join(directory, "certs-"));

/** Starts a program as envtest does: in a process group of its own, whose output this process reads. */
function start(program: string, argv: readonly string[]): ChildProcessByStdio<null, Readable, null> {
  return spawn(program, argv, { stdio: ["ignore", "pipe", "inherit"], detached: true });
}

/**
 * @param count servers that write to the output
 * @returns the output until all are serving
 */
async function untilServing(output: Readable, count: number): Promise<string> {
  let text = "";
  for await (const piece of output.iterator({ destroyOnReturn: false })) {
    text += piece;
    if (text.split("Next: ").length > count) return text;
  }
  assert.fail(`ended: ${text}`);
}

/** @returns when all processes that can write to the output have ended */
async function untilClosed(output: Readable): Promise<void> {
  output.resume();
  await once(output, "close");
}

const plain = createPrograms("plain");

describe("controllers of kube-apiserver", () => {
  const namespaces = "/api/v1/namespaces";

  async function withServer(
    program: string,
    flags: readonly string[],
    use: (client: RawClient) => Promise<void>,
  ): Promise<void> {
    const certDir = newCertDir();
    const { stdout, pid } = start(program, [`--cert-dir=${certDir}`, ...serverFlags, ...flags]);
    try {
      await untilServing(stdout, 1);
      const client = clientOf(storeIn(certDir));
      await use(client);
      client.close();
    } finally {
      process.kill(-(pid as number), "SIGTERM");
      await untilClosed(stdout);
    }
    assert.deepEqual([existsSync(certDir), existsSync(storeIn(certDir))], [true, false]);
  }

  /** Names in metrics, which only running controllers have. */
  async function queuesOf(client: RawClient): Promise<string[]> {
    const { text } = await client.send({ path: "/metrics" });
    const names = [...text.matchAll(/^workqueue_depth\{.*name="([^"]+)"/gm)].map((found) => found[1] as string);
    return [...new Set(names)].sort();
  }

  const createAndDelete = async (client: RawClient): Promise<void> => {
    await client.send({ method: "POST", path: namespaces, body: { metadata: { name: "a" } } });
    assert.equal((await client.send({ method: "DELETE", path: `${namespaces}/a` })).status, 200);
  };

  const count = async (client: RawClient, path: string): Promise<number> =>
    (await client.send({ path })).body.items.length;

  /** kube-apiserver's own, which always run. */
  const own = [
    "LocalAvailabilityController",
    "RemoteAvailabilityController",
    "autoregister",
    "cluster_authentication_trust_controller",
    "ipaddresses",
    "priority_and_fairness_config_queue",
    "services",
  ];

  const claims = "/api/v1/namespaces/default/persistentvolumeclaims";
  const claim = {
    metadata: { name: "c" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  };
  const pods = "/api/v1/namespaces/default/pods";
  const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };

  async function answersToPod(client: RawClient, status: number): Promise<void> {
    const answer = await client.send({ method: "POST", path: pods, body: pod });
    assert.equal(answer.status, status, answer.text);
  }

  test("by default none runs: deleted namespaces and claims stay, namespaces get no objects, and pods are rejected", () =>
    withServer(plain, [], async (client) => {
      await createAndDelete(client);
      assert.deepEqual(await queuesOf(client), own);
      const { body } = await client.send({ path: `${namespaces}/a` });
      assert.deepEqual([body.status.phase, body.spec.finalizers], ["Terminating", ["kubernetes"]]);
      assert.equal(await count(client, "/api/v1/serviceaccounts"), 0);
      assert.equal(await count(client, "/api/v1/configmaps?fieldSelector=metadata.name=kube-root-ca.crt"), 0);
      const admin = await client.send({ path: "/apis/rbac.authorization.k8s.io/v1/clusterroles/admin" });
      assert.equal(admin.body.rules, null);
      await answersToPod(client, 403);
      assert.equal((await client.send({ method: "POST", path: claims, body: claim })).status, 201);
      const deleted = await client.send({ method: "DELETE", path: `${claims}/c` });
      assert.deepEqual(deleted.body.metadata.finalizers, ["kubernetes.io/pvc-protection"]);
      assert.equal((await client.send({ path: `${claims}/c` })).status, 200);
      const headers = { "content-type": "application/merge-patch+json" };
      await client.send({ method: "PATCH", path: `${claims}/c`, headers, body: { metadata: { finalizers: null } } });
      assert.equal((await client.send({ path: `${claims}/c` })).status, 404);
    }));

  test("flags of the test enable the deletion of namespaces and claims, and a pod with a ServiceAccount that its controller creates", () =>
    withServer(plain, ["--controllers=namespace,pvc-protection,serviceaccount"], async (client) => {
      await createAndDelete(client);
      await eventually(async () => (await client.send({ path: `${namespaces}/a` })).status === 404, waits);
      assert.equal((await client.send({ method: "POST", path: claims, body: claim })).status, 201);
      await client.send({ method: "DELETE", path: `${claims}/c` });
      await until(async () => (await client.send({ path: `${claims}/c` })).status === 404);
      await answersToPod(client, 201);
    }));

  test("a flag of `coxswain envtest` enables the deletion of namespaces, and one of a wrapper script the creation of pods", () => {
    const program = createPrograms("with namespaces", "--controllers=namespace");
    const wrapper = createWrapper("wrapper", program, "--disable-admission-plugins=ServiceAccount");
    return withServer(wrapper, [], async (client) => {
      assert.deepEqual(await queuesOf(client), [...own, "namespace"].sort());
      await createAndDelete(client);
      await eventually(async () => (await client.send({ path: `${namespaces}/a` })).status === 404, waits);
      await answersToPod(client, 201);
    });
  });

  test("--controllers=* enables all", () =>
    withServer(plain, ["--controllers=*"], async (client) => {
      const names = ["ClusterRoleAggregator", "garbage_collector_attempt_to_delete", "namespace"];
      const running = await queuesOf(client);
      assert.deepEqual(
        names.filter((name) => !running.includes(name)),
        [],
      );
      await until(async () => (await count(client, "/api/v1/namespaces/default/serviceaccounts")) > 0);
    }));

  test("an unknown controller is an error", async () => {
    const server = spawn(plain, [...serverFlags, `--cert-dir=${newCertDir()}`, "--controllers=-foo"]);
    const [[text], [code]] = await Promise.all([once(server.stderr, "data"), once(server, "exit")]);
    assert.match(String(text), /^Error: "foo" is not in the list of known controllers\n/);
    assert.equal(code, 1);
  });
});

test("a signal during the start removes what the server has created", async () => {
  const certDir = newCertDir();
  const watcher = watch(certDir);
  const created = once(watcher, "change");
  const server = spawn(plain, ["--secure-port=0", `--cert-dir=${certDir}`], {
    stdio: "ignore",
  });
  const exited = once(server, "exit");
  await created;
  watcher.close();
  assert.ok(existsSync(storeIn(certDir)));
  server.kill("SIGTERM");
  assert.equal((await exited)[1], null, "the process ends itself");
  assert.deepEqual([existsSync(certDir), existsSync(storeIn(certDir))], [true, false]);
});

/** Starts programs as envtest does and prints their ids. */
const testProcess = `
  const { spawn } = require("node:child_process");
  for (const [program, argv, output] of JSON.parse(process.env.PROGRAMS))
    console.log("pid", spawn(program, argv, { stdio: ["ignore", output, "inherit"], detached: true }).pid);
`;

/** @param programs 1 and 2 are the standard output and error of the test process */
function startTestProcess(programs: readonly [path: string, argv: readonly string[], output: 1 | 2][]) {
  return spawn(process.execPath, ["-e", testProcess], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PROGRAMS: JSON.stringify(programs) },
  });
}

test("when the test process is killed, its programs end and remove what they created, and a plain server continues", async () => {
  const [wrapped, earlier, other] = [newCertDir(), newCertDir(), newCertDir()];
  const [dataDir, plainDir] = [join(directory, "kept"), join(directory, "plain server")];
  mkdirSync(storeIn(earlier));
  const tests = startTestProcess([
    [process.execPath, [main, ...serverFlags, `--data-dir=${plainDir}`], 2],
    [createWrapper("pass-on", plain, "--v=1"), [...serverFlags, `--cert-dir=${wrapped}`], 1],
    [plain, [...serverFlags, `--cert-dir=${earlier}`], 1],
    [plain, [...serverFlags, `--cert-dir=${other}`, `--data-dir=${dataDir}`], 1],
    [join(dirname(plain), "etcd"), ["--listen-client-urls=http://127.0.0.1:0"], 1],
  ]);
  after(() => tests.kill());
  await untilServing(tests.stderr, 1);
  const plainPid = Number(/pid (\d+)/.exec(await untilServing(tests.stdout, 3))?.[1]);
  after(() => process.kill(plainPid));
  assert.ok(existsSync(storeIn(wrapped)));
  tests.kill("SIGKILL");
  await untilClosed(tests.stdout);
  assert.deepEqual(
    [wrapped, storeIn(wrapped), storeIn(earlier), dataDir].map((path) => existsSync(path)),
    [true, false, true, true],
  );
  const client = clientOf(plainDir);
  assert.equal((await client.send({ path: "/livez" })).status, 200);
  client.close();
});

test("a program that starts after the end of the test process ends at once", async () => {
  const certDir = newCertDir();
  const argv = [main, "envtest", "kube-apiserver", "999999999", ...serverFlags, `--cert-dir=${certDir}`];
  const [code] = await once(spawn(process.execPath, argv, { stdio: "inherit" }), "exit");
  assert.deepEqual([code, existsSync(storeIn(certDir))], [1, false]);
});
