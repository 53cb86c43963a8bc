/** A server with static manifests reports them in its metrics, and warns about configuration without effect. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startServerWithClient } from "../../test/support/server-with-client.ts";
import { defaultOptions } from "../index.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-manifests-"));
after(() => rmSync(directory, { recursive: true }));
const apiVersion = "apiserver.config.k8s.io/v1";
const webhooks = { apiVersion, kind: "WebhookAdmissionConfiguration", staticManifestsDir: directory };
const configFile = join(directory, "configuration"); // Without an extension it is not a manifest.
const plugins = [
  { name: "ValidatingAdmissionWebhook", configuration: webhooks },
  { name: "OtherPlugin", path: "missing" },
];
writeFileSync(configFile, JSON.stringify({ apiVersion, kind: "AdmissionConfiguration", plugins }));
writeFileSync(
  join(directory, "a.yaml"),
  "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: a.static.k8s.io}\n",
);

const warnings: unknown[] = [];
const { client } = await startServerWithClient({
  admission: { ...defaultOptions.admission, configFile },
  featureGates: "ManifestBasedAdmissionControlConfig=true",
  logger: {
    info: () => undefined,
    warn: (message, fields) => warnings.push([message, fields?.plugin]),
    error: () => undefined,
  },
});

test("counts the load of static manifests", async () => {
  const { text } = await client.send({ path: "/metrics" });
  const line =
    /^apiserver_manifest_admission_config_controller_automatic_reloads_total\{.*\} 1$/m.exec(text)?.[0] ?? "";
  assert.match(line, /plugin="ValidatingAdmissionWebhook",status="success"/);
  assert.match(text, /last_config_info\{.*hash="sha256:[0-9a-f]{64}",plugin="ValidatingAdmissionWebhook"\} 1$/m);
});

test("warns about the configuration of a plugin that it does not have", () =>
  assert.ok(
    warnings.some(
      (one) => JSON.stringify(one) === '["Configuration of the admission plugin has no effect","OtherPlugin"]',
    ),
  ));

test("rejects the names of static manifests through the API", async () => {
  const body = { metadata: { name: "b.static.k8s.io" } };
  const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  const { status, body: answer } = await client.send({ method: "POST", path, body });
  assert.equal(status, 422);
  assert.match(answer.message, /names ending with "\.static\.k8s\.io" are reserved/);
});
