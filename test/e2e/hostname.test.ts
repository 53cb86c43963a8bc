/** The option `hostname` decides the identity of a server in the metrics of all parts. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { serverIdentity } from "../../src/apimachinery/server-identity.ts";
import { rawClient } from "../support/raw-client.ts";
import { startTestServer } from "../support/start-test-server.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-hostname-"));
after(() => rmSync(directory, { recursive: true, force: true }));
const hostname = "host-1";

function configuration(kind: string, fields: object): string {
  const file = join(directory, kind);
  writeFileSync(file, JSON.stringify({ apiVersion: "apiserver.config.k8s.io/v1", kind, ...fields }));
  return file;
}

function admissionConfiguration(): string {
  const staticManifestsDir = join(directory, "manifests");
  mkdirSync(staticManifestsDir);
  const policies = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyList",
    items: [],
  };
  writeFileSync(join(staticManifestsDir, "policies.json"), JSON.stringify(policies));
  const plugin = "ValidatingAdmissionPolicy";
  const settings = {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: `${plugin}Configuration`,
    staticManifestsDir,
  };
  return configuration("AdmissionConfiguration", { plugins: [{ name: plugin, configuration: settings }] });
}

test("the metrics of configuration files have the identity of the host name", async (context) => {
  const rbac = { authorizers: [{ type: "RBAC", name: "rbac" }] };
  const server = await startTestServer({
    hostname,
    authenticationConfigFile: configuration("AuthenticationConfiguration", { jwt: [], anonymous: { enabled: true } }),
    authorization: { configFile: configuration("AuthorizationConfiguration", rbac), webhook: {} },
    featureGates: "ManifestBasedAdmissionControlConfig=true",
    admission: { enable: [], disable: [], configFile: admissionConfiguration() },
  });
  context.after(() => server.close());
  const client = rawClient(server.kubeconfig);
  context.after(() => client.close());
  const { text } = await client.send({ path: "/metrics" });
  const shown = [
    ...text.matchAll(/^apiserver_(\w+)_config_controller_last_config_info\{apiserver_id_hash="([^"]+)"/gm),
  ];
  const hash = `sha256:${createHash("sha256").update(serverIdentity(hostname)).digest("hex")}`;
  assert.deepEqual(Object.fromEntries(shown.map(([, part, identity]) => [part, identity])), {
    authentication: hash,
    authorization: hash,
    manifest_admission: hash,
  });
});
