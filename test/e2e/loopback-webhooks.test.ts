/**
 * Webhooks whose Service is `kubernetes` are paths of the server itself, which calls them as its own
 * user. Source: k8s.io/apiserver@v0.36.0/pkg/util/webhook/authentication.go.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { defaultAuditOptions } from "../../src/audit/options.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-loopback-"));
after(() => rmSync(directory, { recursive: true, force: true }));
const policyFile = join(directory, "policy.yaml");
writeFileSync(policyFile, "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: RequestResponse}]}");
const path = join(directory, "audit.log");
const log = { ...defaultAuditOptions.log, path, mode: "blocking" as const };
const { client } = await startServerWithClient({ audit: { ...defaultAuditOptions, policyFile, log } });

/** Creates a ConfigMap that a webhook reviews. @returns the message of the error */
async function reviewBy(name: string, clientConfig: object): Promise<string> {
  const webhook = {
    name: `${name}.example.com`,
    clientConfig,
    rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] }],
    objectSelector: { matchLabels: { name } },
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
  };
  const collection = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  const created = await client.send({
    method: "POST",
    path: collection,
    body: { metadata: { name }, webhooks: [webhook] },
  });
  assert.equal(created.status, 201, created.text);
  const body = { metadata: { name, labels: { name } } };
  const { text } = await client.send({ method: "POST", path: "/api/v1/namespaces/default/configmaps", body });
  return JSON.parse(text).message;
}

const service = (servicePath: string): object => ({
  service: { namespace: "default", name: "kubernetes", path: servicePath },
});

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
const events = (): any[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

test("calls itself as system:apiserver, and treats the review as any client's", async () => {
  const message = await reviewBy("own", service("/apis/rbac.authorization.k8s.io/v1/clusterroles"));
  assert.equal(
    message,
    'Internal error occurred: failed calling webhook "own.example.com": failed to call webhook: AdmissionReview in version "v1" cannot be handled as a ClusterRole: converting (v1.AdmissionReview) to (rbac.ClusterRole): unknown conversion',
  );
  const call = events().find(
    ({ objectRef, stage }) => objectRef?.resource === "clusterroles" && stage === "ResponseComplete",
  );
  assert.equal(call.responseStatus.code, 400);
  assert.equal(call.userAgent, "Go-http-client/1.1");
  assert.match(call.user.uid, /^[0-9a-f-]{36}$/);
  assert.deepEqual(
    [call.user.username, [...call.user.groups].sort()],
    ["system:apiserver", ["system:authenticated", "system:masters"]],
  );
});

test("trusts its own certificate instead of the bundle of the webhook", async () => {
  const caBundle = Buffer.from("not a certificate").toString("base64");
  const message = await reviewBy("bundle", { ...service("/api/v1/namespaces"), caBundle });
  assert.match(message, /AdmissionReview in version "v1" cannot be handled as a Namespace/);
});

test("another port of the Service is not the server itself", async () => {
  const message = await reviewBy("port", {
    service: { namespace: "default", name: "kubernetes", path: "/api/v1/namespaces", port: 6443 },
  });
  assert.match(message, /no service port 6443 found for service \\?"kubernetes\\?"$/);
});
