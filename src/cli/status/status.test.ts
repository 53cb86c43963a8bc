/** `coxswain status` against real servers. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { main } from "../../../test/support/program.ts";
import { rawClient } from "../../../test/support/raw-client.ts";
import { runCommand } from "../../../test/support/run-command.ts";
import { startTestServer, type TestServer } from "../../../test/support/start-test-server.ts";
import { defaultEngine } from "../../../test/support/test-engine.ts";
import { until } from "../../../test/support/until.ts";
import { statusCommand } from "./command.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-status-"));
let server: TestServer;
let annKubeconfig: string;

before(async () => {
  server = await startTestServer();
  const admin = rawClient(server.kubeconfig);
  const post = async (path: string, body: object): Promise<void> => {
    assert.equal((await admin.send({ method: "POST", path, body })).status, 201);
  };
  for (const name of ["a", "b", "c"])
    await post("/api/v1/namespaces/default/configmaps", { metadata: { name: `mine-${name}` } });
  await post("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", {
    metadata: { name: "scheduler" },
    spec: { holderIdentity: "host-1", leaseDurationSeconds: 15, renewTime: "2020-01-01T00:00:00.000000Z" },
  });
  await post("/apis/rbac.authorization.k8s.io/v1/clusterroles", {
    metadata: { name: "config-reader" },
    rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }],
  });
  await post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: "ann" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "config-reader" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ann" }],
  });
  admin.close();
  annKubeconfig = (await server.as("ann")).kubeconfigPath;
});
after(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function status(argv: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const { code, out, err } = await runCommand((output) => statusCommand.run(argv, output, env));
  return { code, stdout: out, stderr: err };
}

/** As {@link status}, as a process. Not spawnSync: the server is in this process. */
async function statusOfProcess(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  const child = spawn(process.execPath, [main, "status", ...argv], { env: { ...process.env, ...env } });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code, stdout, stderr };
}

test("prints what the server serves", async () => {
  const { code, stdout, stderr } = await statusOfProcess([], { KUBECONFIG: server.kubeconfigPath });
  assert.deepEqual([code, stderr], [0, ""]);
  const lines: RegExp[] = [
    new RegExp(`^Server: {5}${server.url}$`, "m"),
    /^Version: {4}v1\.36\.\d+\+coxswain \w+\/\w+$/m,
    /^Ready: {6}yes$/m,
    /^Uptime: {5}\d/m,
    new RegExp(`^Storage: {4}${defaultEngine}$`, "m"),
    /^Pods: {7}nothing runs them: no kubelet has renewed the Lease of a node \(docs\/nothing-runs\.md\)$/m,
    /^Serves: {5}v1, .*apps\/v1/m,
    /^Leases: {5}scheduler: host-1, expired$/m,
    /^Objects: {4}\d+, and \d+ resources without any$/m,
    /^ {2} *\d+ {2}configmaps$/m,
    /^ {2} *\d+ {2}clusterroles\.rbac\.authorization\.k8s\.io$/m,
  ];
  for (const line of lines) assert.match(stdout, line);
  assert.doesNotMatch(stdout, /Not allowed/);
});

test("-o json has exact numbers", async () => {
  const { code, stdout } = await status(["-o", "json", "--kubeconfig", server.kubeconfigPath]);
  const answer = JSON.parse(stdout);
  assert.equal(code, 0);
  const counts = Object.fromEntries(
    answer.objects.map(({ resource, count }: { resource: string; count: number }) => [resource, count]),
  );
  const admin = rawClient(server.kubeconfig);
  for (const [resource, path] of [
    ["configmaps", "/api/v1/configmaps"],
    ["namespaces", "/api/v1/namespaces"],
    ["clusterroles.rbac.authorization.k8s.io", "/apis/rbac.authorization.k8s.io/v1/clusterroles"],
  ] as const) {
    assert.equal(counts[resource], (await admin.send({ path })).body.items.length, resource);
  }
  admin.close();
  assert.deepEqual([answer.server, answer.ready, answer.failingChecks], [server.url, true, []]);
  assert.deepEqual(answer.forbidden, []);
  assert.deepEqual(answer.leases, [{ name: "scheduler", holder: "host-1", isCurrent: false }]);
});

test("counts the nodes whose Lease is renewed", async () => {
  const admin = rawClient(server.kubeconfig);
  const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
  for (const [name, renewTime] of [
    ["gone", "2020-01-01T00:00:00.000000Z"],
    ["runs", "2999-01-01T00:00:00.000000Z"],
  ]) {
    const body = { metadata: { name }, spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime } };
    assert.equal((await admin.send({ method: "POST", path: leases, body })).status, 201);
  }
  const { stdout } = await status(["--kubeconfig", server.kubeconfigPath]);
  assert.match(stdout, /^Pods: {7}run on 1 node$/m);
  await admin.send({ method: "DELETE", path: leases });
  admin.close();
});

test("shows a user only what the user may read", async () => {
  const { code, stdout } = await status(["-o", "json", "--kubeconfig", annKubeconfig]);
  const answer = JSON.parse(stdout);
  assert.equal(code, 0);
  const admin = rawClient(server.kubeconfig);
  const { body } = await admin.send({ path: "/api/v1/configmaps" });
  admin.close();
  assert.deepEqual(answer.objects, [{ resource: "configmaps", count: body.items.length }]);
  assert.deepEqual(
    [answer.leases, answer.servers, answer.addresses, answer.uptimeSeconds, answer.storage],
    Array(5).fill(undefined),
  );
  assert.equal(answer.runningNodes, undefined);
  for (const what of [
    "/metrics",
    "leases in kube-system",
    "leases in kube-node-lease",
    "endpointslices in default",
    "secrets",
    "deployments.apps",
  ])
    assert.ok(answer.forbidden.includes(what), what);
});

const rejected: [argv: string[], message: RegExp][] = [
  [
    ["--data-dir=a", "--context=b"],
    /^Error: --data-dir cannot be combined with --kubeconfig or --context\nRun coxswain status --help/,
  ],
  [["--data-dir=/nothing"], /^Error: \/nothing\/kubeconfig cannot be read: no such file or directory\n$/],
  [["--output=yaml"], /^Error: option '-o, --output <format>' argument 'yaml' is invalid/],
];
for (const [argv, message] of rejected) {
  test(`coxswain status ${argv.join(" ")} is rejected`, async () => {
    const { code, stderr } = await status(argv);
    assert.match(stderr, message);
    assert.equal(code, 2);
  });
}

/** Starts the command and waits until it serves. */
async function startProcess(dataDir: string): Promise<ChildProcess> {
  const flags = ["--storage=memory", "--secure-port=0", "--shutdown-delay-duration=1h", "--data-dir", dataDir];
  const child = spawn(process.execPath, [main, "serve", ...flags], { stdio: ["ignore", "pipe", "ignore"] });
  const { promise: isServing, resolve } = Promise.withResolvers<void>();
  let output = "";
  child.stdout.on("data", (piece) => {
    output += piece;
    if (output.includes("kubeconfig: ")) resolve();
  });
  await Promise.race([isServing, once(child, "exit")]);
  return child;
}

test("a server that stops is not ready, and one that has stopped does not answer", async (context) => {
  const dataDir = join(directory, "stops");
  const child = await startProcess(dataDir);
  context.after(() => child.kill("SIGKILL"));
  assert.equal((await status(["--data-dir", dataDir])).code, 0);
  child.kill("SIGTERM");
  const ran = await until(async () => {
    const one = await status(["--data-dir", dataDir]);
    return one.code !== 0 && one; // Until the signal has arrived.
  });
  assert.deepEqual([ran.code, ran.stderr], [1, ""]);
  assert.match(ran.stdout, /^Ready: {6}no, failing checks: shutdown$/m);
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  const gone = await status(["--data-dir", dataDir]);
  assert.equal(gone.code, 2);
  assert.match(gone.stderr, /^Error: https:\/\/127\.0\.0\.1:\d+ does not answer: connect ECONNREFUSED/);
});
