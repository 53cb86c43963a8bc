/** Webhooks of static manifests: what they see, and the credentials that they receive. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { defaultOptions } from "../../src/index.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { startWebhookServer } from "../support/webhook-server.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-static-webhooks-"));
after(() => rmSync(directory, { recursive: true }));

const hooks = await startWebhookServer(({ body: { apiVersion, kind, request } }) => ({
  apiVersion,
  kind,
  response: { uid: request.uid, allowed: request.name !== "forbidden" },
}));
after(() => hooks.close());

const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const webhook = (name: string, resources: string[]): object => ({
  name,
  clientConfig: { url: `${hooks.url}/${name}`, caBundle: Buffer.from(hooks.ca).toString("base64") },
  rules: [{ apiGroups: ["*"], apiVersions: ["*"], resources, operations: ["CREATE"] }],
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
});

const manifests = join(directory, "manifests");
mkdirSync(manifests);
writeFileSync(
  join(manifests, "webhooks.json"),
  JSON.stringify({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "guard.static.k8s.io" },
    webhooks: [webhook("static.example.com", ["configmaps", "validatingwebhookconfigurations"])],
  }),
);
const kubeConfigFile = join(directory, "kubeconfig");
writeFileSync(
  kubeConfigFile,
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    users: [{ name: `127.0.0.1:${hooks.port}`, user: { token: "for-webhooks" } }],
  }),
);
const apiVersion = "apiserver.config.k8s.io/v1";
const configuration = {
  apiVersion,
  kind: "WebhookAdmissionConfiguration",
  kubeConfigFile,
  staticManifestsDir: manifests,
};
const configFile = join(directory, "configuration.json");
const plugins = [{ name: "ValidatingAdmissionWebhook", configuration }];
writeFileSync(configFile, JSON.stringify({ apiVersion, kind: "AdmissionConfiguration", plugins }));

const { client } = await startServerWithClient({
  admission: { ...defaultOptions.admission, configFile },
  featureGates: "ManifestBasedAdmissionControlConfig=true",
});

const createConfigMap = (name: string): Promise<{ status: number }> =>
  client.send({ method: "POST", path: "/api/v1/namespaces/default/configmaps", body: { metadata: { name } } });

test("a static webhook sees configurations of admission, which other webhooks do not", async () => {
  const create = (name: string): Promise<{ status: number }> =>
    client.send({
      method: "POST",
      path: configurations,
      body: { metadata: { name }, webhooks: [webhook("stored.example.com", ["*"])] },
    });
  assert.equal((await create("stored")).status, 201);
  hooks.requests.length = 0;
  assert.equal((await create("forbidden")).status, 400);
  assert.deepEqual(
    hooks.requests.map(({ path }) => path),
    ["/static.example.com?timeout=10s"],
  );
});

test("static and stored webhooks receive the credentials of the kubeconfig", async () => {
  hooks.requests.length = 0;
  assert.equal((await createConfigMap("a")).status, 201);
  const called = hooks.requests.map(({ path, headers }) => [path, headers.authorization]);
  assert.deepEqual(called.sort(), [
    ["/static.example.com?timeout=10s", "Bearer for-webhooks"],
    ["/stored.example.com?timeout=10s", "Bearer for-webhooks"],
  ]);
});
