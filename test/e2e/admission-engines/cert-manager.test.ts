/**
 * The published webhook and cainjector of cert-manager, outside of a cluster. Runs with
 * COXSWAIN_TEST_FULL=1 if Go is installed.
 */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { created } from "../../support/policy-engine.ts";
import { startServerWithClient } from "../../support/server-with-client.ts";
import { until } from "../../support/until.ts";
import {
  buildTest,
  downloadModule,
  eventually,
  installManifest,
  missing,
  type RunningEngine,
  startEngine,
} from "./engine.ts";

const version = "v1.21.2";
const name = "cert-manager-webhook";
const group = "/apis/admissionregistration.k8s.io/v1";
const secretPath = `/api/v1/namespaces/cert-manager/secrets/${name}-ca`;
const issuers = "/apis/cert-manager.io/v1/namespaces/default/issuers";
const metadata = { name, annotations: { "cert-manager.io/inject-ca-from-secret": `cert-manager/${name}-ca` } };

/** As the chart of cert-manager configures it. */
const webhook = (path: string, groups: string[], operations: string[], resource: string): object => ({
  name: "webhook.cert-manager.io",
  admissionReviewVersions: ["v1"],
  clientConfig: { service: { namespace: "cert-manager", name, path } },
  rules: [{ apiGroups: groups, apiVersions: ["v1"], operations, resources: [resource] }],
  matchPolicy: "Equivalent",
  failurePolicy: "Fail",
  sideEffects: "None",
  timeoutSeconds: 30,
});
const mutating = webhook("/mutate", ["cert-manager.io"], ["CREATE"], "certificaterequests");
const validating = webhook("/validate", ["cert-manager.io", "acme.cert-manager.io"], ["CREATE", "UPDATE"], "*/*");

test("cert-manager", { skip: missing ?? false, timeout: 1_800_000 }, async (context) => {
  let engine: RunningEngine | undefined;
  after(() => engine?.stop("SIGKILL")); // Before the server ends.
  let port = 0;
  const { server, client } = await startServerWithClient({ serviceResolver: () => ({ host: "127.0.0.1", port }) });
  const program = join(server.directory, "cert-manager");
  buildTest(join(import.meta.dirname, "cert-manager"), program);
  await created(client, "/api/v1/namespaces", { metadata: { name: "cert-manager" } });
  const definitions = join(downloadModule(`github.com/cert-manager/cert-manager@${version}`), "deploy/crds");
  for (const file of readdirSync(definitions).filter((one) => one.endsWith(".yaml")))
    await installManifest(client, join(definitions, file), (object) => {
      if (object.spec.names.kind !== "ClusterIssuer") return; // A definition whose conversion is injected too.
      object.metadata.annotations = { ...object.metadata.annotations, ...metadata.annotations };
      const clientConfig = { service: { namespace: "cert-manager", name, path: "/convert" } };
      object.spec.conversion = { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } };
    });
  await created(client, `${group}/mutatingwebhookconfigurations`, { metadata, webhooks: [mutating] });
  await created(client, `${group}/validatingwebhookconfigurations`, { metadata, webhooks: [validating] });
  engine = startEngine(program, ["-test.v", server.kubeconfigPath], {}, join(server.directory, "cert-manager.log"));
  const { stdout } = engine.process;
  assert.ok(stdout);
  for await (const line of createInterface(stdout)) {
    port = Number(/^webhook: https:\/\/127\.0\.0\.1:(\d+)$/.exec(line)?.[1] ?? 0);
    if (port !== 0) break;
  }
  stdout.resume();

  const issuer = (issuerName: string, spec: object) => ({
    method: "POST",
    path: issuers,
    body: { apiVersion: "cert-manager.io/v1", kind: "Issuer", metadata: { name: issuerName }, spec },
  });
  /** The bundles of both configurations and of the definition. */
  const bundles = async (): Promise<unknown[]> => {
    const paths = [`${group}/mutatingwebhookconfigurations`, `${group}/validatingwebhookconfigurations`];
    const found = await Promise.all(paths.map((path) => client.send({ path: `${path}/${name}` })));
    const definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusterissuers.cert-manager.io";
    const { spec } = (await client.send({ path: definition })).body;
    return [
      ...found.map(({ body }) => body.webhooks[0].clientConfig.caBundle),
      spec.conversion.webhook.clientConfig.caBundle,
    ];
  };
  /** Waits until all bundles are the authority in the secret. */
  const injected = async (): Promise<void> => {
    await until(async () => {
      const { data } = (await eventually(client, { path: secretPath }, "200")).body;
      return (await bundles()).every((bundle) => bundle === data["ca.crt"]);
    });
  };

  await context.test("the injected bundle is used, and the webhook validates", async () => {
    await injected();
    await eventually(
      client,
      issuer("a", {}),
      '403 admission webhook "webhook.cert-manager.io" denied the request: spec: Required value: at least one issuer must be configured',
    );
    await eventually(client, issuer("a", { selfSigned: {} }), "201");
  });

  await context.test("the webhook validates requests", async () => {
    const body = {
      apiVersion: "cert-manager.io/v1",
      kind: "CertificateRequest",
      metadata: { name: "a" },
      spec: { request: Buffer.from("no request").toString("base64"), issuerRef: { name: "a" } },
    };
    const path = "/apis/cert-manager.io/v1/namespaces/default/certificaterequests";
    await eventually(client, { method: "POST", path, body }, /"webhook.cert-manager.io" denied the request: /);
  });

  // The cainjector does not inject it again, with kube-apiserver 1.36 either.
  await context.test("a deleted authority is created again", async () => {
    const before = (await client.send({ path: secretPath })).body;
    const { status, text } = await client.send({ method: "DELETE", path: secretPath });
    assert.equal(status, 200, text);
    const { body } = await eventually(client, { path: secretPath }, "200");
    assert.notEqual(body.metadata.uid, before.metadata.uid);
    assert.notEqual(body.data["ca.crt"], before.data["ca.crt"]);
  });
});
