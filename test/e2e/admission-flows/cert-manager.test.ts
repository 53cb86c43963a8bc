/**
 * Webhooks as cert-manager configures them: its cainjector applies the CA bundle to configurations
 * and to the definition with the conversion webhook, and the certificate authority is rotated.
 * Source: https://cert-manager.io/docs/concepts/ca-injector
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { created, outcome, patchOf, type Reviewed, startPolicyEngine } from "../../support/policy-engine.ts";
import { startServerWithClient } from "../../support/server-with-client.ts";

const group = "/apis/admissionregistration.k8s.io/v1";
const configurations = {
  MutatingWebhookConfiguration: `${group}/mutatingwebhookconfigurations`,
  ValidatingWebhookConfiguration: `${group}/validatingwebhookconfigurations`,
};
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const definitionName = "issuers.cert-manager.io";
const name = "cert-manager-webhook";

const { client } = await startServerWithClient();
const engine = await startPolicyEngine(client, { namespace: "cert-manager", service: name, decide });
after(() => engine.stop());

function decide(path: string, { object }: Reviewed): Record<string, unknown> | undefined {
  if (object.apiVersion !== "cert-manager.io/v1") throw new Error(object.apiVersion);
  if (path === "/mutate") return patchOf([{ op: "add", path: "/spec/user", value: "someone" }]);
  if (object.spec.acme !== undefined || object.spec.ca !== undefined) return undefined;
  return {
    allowed: false,
    status: { code: 422, message: "spec: Required value: at least one issuer must be configured" },
  };
}

/** The configurations and the definition have no CA bundle before the injection. */
const webhook = (path: string): object => ({
  name: "webhook.cert-manager.io",
  admissionReviewVersions: ["v1"],
  clientConfig: engine.clientConfig(path, ""),
  rules: [
    { apiGroups: ["cert-manager.io"], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["*/*"] },
  ],
  matchPolicy: "Equivalent",
  failurePolicy: "Fail",
  sideEffects: "None",
  timeoutSeconds: 30,
});
const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
const version = (at: string, storage: boolean): object => ({ name: at, served: true, storage, schema });
const { service } = engine.clientConfig("/convert") as { service: object };
const definition = {
  metadata: { name: definitionName },
  spec: {
    group: "cert-manager.io",
    names: { plural: "issuers", kind: "Issuer" },
    scope: "Namespaced",
    versions: [version("v1", false), version("v1alpha2", true)],
    conversion: { strategy: "Webhook", webhook: { clientConfig: { service }, conversionReviewVersions: ["v1"] } },
  },
};
await created(client, definitions, definition);
for (const [kind, path] of Object.entries(configurations))
  await created(client, path, {
    metadata: { name },
    webhooks: [webhook(kind.startsWith("M") ? "/mutate" : "/validate")],
  });

/** Applies only the CA bundle, as cainjector's field manager. */
async function inject(caBundle: string): Promise<void> {
  const clientConfig = { caBundle };
  const apply = async (path: string, body: object): Promise<void> => {
    const headers = { "content-type": "application/apply-patch+yaml" };
    const query = "?fieldManager=cert-manager-cainjector&force=true";
    const answer = await client.send({ method: "PATCH", path: path + query, headers, body });
    assert.equal(answer.status, 200, answer.text);
  };
  for (const [kind, path] of Object.entries(configurations)) {
    const webhooks = [{ name: "webhook.cert-manager.io", clientConfig }];
    await apply(`${path}/${name}`, {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind,
      metadata: { name },
      webhooks,
    });
  }
  await apply(`${definitions}/${definitionName}`, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: definitionName },
    spec: { conversion: { webhook: { clientConfig } } },
  });
}

async function create(at: string, issuer: string, spec: object): Promise<unknown[]> {
  const path = `/apis/cert-manager.io/${at}/namespaces/default/issuers`;
  const body = { apiVersion: `cert-manager.io/${at}`, kind: "Issuer", metadata: { name: issuer }, spec };
  const answer = await client.send({ method: "POST", path, body });
  return [outcome(answer), answer.body.spec, engine.reviewed()];
}

const reviews = (issuer: string): string[] =>
  ["/mutate", "/validate"].map((path) => `${path} CREATE issuers default/${issuer}`);
const ca = { ca: { secretName: "ca" } };

const untrusted = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
const conversionFailed = (): string =>
  "500 Internal error occurred: Internal error occurred: conversion webhook for cert-manager.io/v1alpha2, Kind=Issuer " +
  `failed: Post "${engine.origin}/convert?timeout=30s": ${untrusted}`;

test("without a CA bundle, no certificate of the webhook is trusted", async () => {
  const called = `failed calling webhook "webhook.cert-manager.io": failed to call webhook: Post "${engine.origin}/mutate?timeout=30s"`;
  const notCalled = `500 Internal error occurred: ${called}: ${untrusted}`;
  assert.deepEqual(await create("v1", "a", ca), [notCalled, undefined, []]);
  assert.deepEqual(await create("v1alpha2", "a", ca), [conversionFailed(), undefined, []]);
});

test("an applied CA bundle is used by the next request, for conversions and reviews of version v1", async () => {
  await inject(engine.caBundle());
  for (const at of ["v1", "v1alpha2"])
    assert.deepEqual(await create(at, `b-${at}`, ca), ["201", { ...ca, user: "someone" }, reviews(`b-${at}`)]);
  assert.deepEqual(await create("v1alpha2", "c", {}), [
    '422 admission webhook "webhook.cert-manager.io" denied the request: spec: Required value: at least one issuer must be configured',
    undefined,
    reviews("c"),
  ]);
});

test("after a rotation, certificates of the new authority are trusted once its bundle is applied", async () => {
  const old = engine.caBundle();
  await engine.stop();
  await engine.start();
  const [message] = await create("v1alpha2", "d", ca);
  const why = 'possibly because of "x509: ECDSA verification failure" while trying to verify candidate authority';
  assert.equal(message, `${conversionFailed()} (${why} certificate "webhooks")`);
  await inject(Buffer.from(decoded(old) + decoded(engine.caBundle())).toString("base64")); // While both are in use.
  assert.deepEqual(await create("v1alpha2", "d", ca), ["201", { ...ca, user: "someone" }, reviews("d")]);
  await inject(engine.caBundle());
  assert.deepEqual(await create("v1", "e", ca), ["201", { ...ca, user: "someone" }, reviews("e")]);
  const managers = (await client.send({ path: `${configurations.MutatingWebhookConfiguration}/${name}` })).body.metadata
    .managedFields;
  const own = managers.find(({ manager }: { manager: string }) => manager === "cert-manager-cainjector");
  assert.deepEqual(own.fieldsV1, {
    "f:webhooks": {
      'k:{"name":"webhook.cert-manager.io"}': { ".": {}, "f:clientConfig": { "f:caBundle": {} }, "f:name": {} },
    },
  });
});

const decoded = (text: string): string => Buffer.from(text, "base64").toString();
