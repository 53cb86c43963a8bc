/** A session of @kubernetes/client-node is recorded, and replayed strictly. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { recordCommand } from "../../src/cli/record/command.ts";
import { replayCommand } from "../../src/cli/replay/command.ts";
import { runCommand } from "../support/run-command.ts";
import { startTestServer } from "../support/start-test-server.ts";

/** Three writers at once, and an informer; reports what the client has seen. */
const program = `
import { writeFileSync } from "node:fs";
import * as k8s from ${JSON.stringify(import.meta.resolve("@kubernetes/client-node"))};
const config = new k8s.KubeConfig();
config.loadFromDefault();
const api = config.makeApiClient(k8s.CoreV1Api);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);
const namespace = "default";
const seen = [];
const informer = k8s.makeInformer(config, "/api/v1/namespaces/default/configmaps", () => api.listNamespacedConfigMap({ namespace }));
const waiting = new Map();
for (const type of ["add", "update", "delete"])
  informer.on(type, ({ metadata, data }) => {
    const text = type + " " + metadata.name + " " + (data?.x ?? "");
    seen.push(text);
    waiting.get(text)?.();
  });
informer.on("error", (error) => seen.push(String(error)));
const sees = (text) => new Promise((resolve) => (seen.includes(text) ? resolve() : waiting.set(text, resolve)));
await informer.start();
const named = (name, x) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { x } });
await Promise.all(["a", "b", "c"].map(async (name) => {
  await api.createNamespacedConfigMap({ namespace, body: named(name, "1") });
  await sees("add " + name + " 1");
  await objects.patch(named(name, "2"), undefined, undefined, "tester", true, k8s.PatchStrategy.ServerSideApply);
  await sees("update " + name + " 2");
  await api.patchNamespacedConfigMap({ name, namespace, body: [{ op: "replace", path: "/data/x", value: "3" }] });
  await api.deleteNamespacedConfigMap({ name, namespace });
  await sees("delete " + name + " 3");
}));
const failed = await api.readNamespacedConfigMap({ name: "a", namespace }).catch((error) => error.code);
const rejected = await new k8s.Exec(config)
  .exec(namespace, "missing", "c", ["true"], null, null, null, false)
  .then(() => "connected", (error) => String(error.message ?? error));
await informer.stop();
writeFileSync(process.env.REPORT, JSON.stringify({ seen: seen.sort(), failed, rejected }));
process.exit();
`;

test("parallel writers and an informer end the same way", async () => {
  const server = await startTestServer();
  const newFile = (name: string): string => join(server.directory, name);
  const [file, script, report] = [newFile("session.jsonl"), newFile("program.mjs"), newFile("report")];
  writeFileSync(script, program);
  const command = [process.execPath, script];
  const env = { ...process.env, REPORT: report };
  const session = ["--kubeconfig", server.kubeconfigPath, "--to", file, "--", ...command];
  const ran = await runCommand((output) => recordCommand.run(session, output, env));
  assert.deepEqual(ran, { code: 0, out: "", err: "" });
  const first = readFileSync(report, "utf8");
  const { failed, rejected } = JSON.parse(first);
  assert.equal(failed, 404);
  assert.match(rejected, /404/);
  writeFileSync(report, "");
  const again = await runCommand((output) => replayCommand.run([file, "--", ...command], output, env));
  assert.deepEqual(again, { code: 0, out: "", err: "" });
  assert.equal(readFileSync(report, "utf8"), first);
  await server.close();
});
