/**
 * metrics-server behind this server, with a kubelet that the test serves. Runs with
 * COXSWAIN_TEST_FULL=1 if Go and kubectl are installed.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createAuthority, issueCertificate } from "../../src/server/serving/x509.ts";
import { freePort, frontProxyOptions } from "../support/aggregated-server.ts";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { skipWithout } from "../support/needs.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { podControllers, startTestServer, type TestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";

const commands = kubectls();
const skip = skipWithout("full", "go", "kubectl");

describe("metrics-server", { skip, timeout: 1_800_000 }, () => {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-metrics-server-"));
  let server: TestServer;
  let client: RawClient;
  let kubelet: https.Server;
  let metrics: ChildProcess;
  let output = "";

  before(async () => {
    const binary = join(directory, "metrics-server");
    const built = spawnSync("go", ["build", "-o", binary, "."], { cwd: join(import.meta.dirname, "metrics-server") });
    assert.equal(built.status, 0, built.stderr?.toString());
    server = await startTestServer({ controllers: podControllers, ...(await frontProxyOptions(directory)) });
    client = rawClient(server.kubeconfig);
    kubelet = await startKubelet();
    const port = await freePort();
    await createCluster((kubelet.address() as AddressInfo).port, port);
    const { kubeconfigPath } = server;
    const own = ["--kubelet-insecure-tls", "--kubelet-use-node-status-port", "--kubelet-request-timeout=5s"];
    const resolution = "--metric-resolution=10s"; // The shortest.
    const kubeconfigs = ["--kubeconfig", "--authentication-kubeconfig", "--authorization-kubeconfig"];
    const flags = ["--secure-port", String(port), "--cert-dir", directory, resolution, ...own];
    metrics = spawn(binary, [...flags, ...kubeconfigs.flatMap((flag) => [flag, kubeconfigPath])]);
    metrics.stderr?.on("data", (piece) => {
      output = (output + piece).slice(-20_000);
    });
    const hasMetrics = async (path: string): Promise<boolean> =>
      (await client.send({ path: `/apis/metrics.k8s.io/v1beta1/${path}` })).status === 200;
    await eventually(
      () => output,
      async () => (await hasMetrics("nodes/n1")) && (await hasMetrics("namespaces/default/pods/p")),
    );
  });

  after(async () => {
    metrics?.stdin?.end();
    client?.close();
    kubelet?.closeAllConnections();
    kubelet?.close();
    await server?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  async function createCluster(kubeletPort: number, port: number): Promise<void> {
    const create = async (path: string, body: object): Promise<object> => {
      const answer = await client.send({ method: "POST", path, body });
      assert.equal(answer.status, 201, answer.text);
      return answer.body;
    };
    const capacity = { cpu: "2", memory: "4Gi" };
    const addresses = [{ type: "InternalIP", address: "127.0.0.1" }];
    const daemonEndpoints = { kubeletEndpoint: { Port: kubeletPort } };
    const status = { addresses, daemonEndpoints, capacity, allocatable: capacity };
    await create("/api/v1/nodes", { metadata: { name: "n1" }, status });
    const pods = "/api/v1/namespaces/default/pods";
    const podSpec = { nodeName: "n1", containers: [{ name: "c", image: "i" }] };
    const pod = await create(pods, { metadata: { name: "p" }, spec: podSpec });
    await client.send({ method: "PUT", path: `${pods}/p/status`, body: { ...pod, status: { phase: "Running" } } });
    await create("/api/v1/namespaces/kube-system/services", {
      metadata: { name: "metrics-server" },
      spec: { type: "ExternalName", externalName: "localhost" },
    });
    const service = { namespace: "kube-system", name: "metrics-server", port };
    const priorities = { groupPriorityMinimum: 100, versionPriority: 100 };
    const spec = { group: "metrics.k8s.io", version: "v1beta1", ...priorities, service, insecureSkipTLSVerify: true };
    await create("/apis/apiregistration.k8s.io/v1/apiservices", { metadata: { name: "v1beta1.metrics.k8s.io" }, spec });
  }

  for (const command of commands) {
    const release = command.split(".").slice(-2).join(".");
    test(`kubectl ${release} top`, async () => {
      const top = (what: string) =>
        runKubectl(command, ["top", what], { directory, kubeconfigPath: server.kubeconfigPath });
      assert.match((await top("nodes")).output, /^n1 +2[45]\dm +1[23]% +1024Mi +25% *$/m);
      assert.match((await top("pods")).output, /^p +12\dm +100Mi *$/m);
    });
  }
});

/** A node that uses a quarter of a CPU, half of it in one container. */
async function startKubelet(): Promise<https.Server> {
  const life = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 86_400_000 };
  const authority = await createAuthority({ subject: { commonName: "kubelets" }, ...life });
  const subject = { commonName: "node" };
  const pair = await issueCertificate(authority, { subject, usage: "server", names: ["127.0.0.1"], ...life });
  const startedAt = Date.now() / 1000 - 600;
  const labels = '{container="c",namespace="default",pod="p"}';
  const server = https.createServer(pair, (_request, response) => {
    const now = Date.now();
    const cpu = (now / 1000 - startedAt) / 4;
    const samples = [
      `node_cpu_usage_seconds_total ${cpu} ${now}`,
      `node_memory_working_set_bytes ${1024 << 20} ${now}`,
      `container_start_time_seconds${labels} ${startedAt} ${now}`,
      `container_cpu_usage_seconds_total${labels} ${cpu / 2} ${now}`,
      `container_memory_working_set_bytes${labels} ${100 << 20} ${now}`,
    ];
    response.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(`${samples.join("\n")}\n`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
