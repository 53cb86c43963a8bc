/**
 * Controllers and restores at the same time. Guarantee: a controller that has decided on the state before a restore
 * writes nothing after it, and decides again on the restored state. A webhook pauses controllers between decision and
 * write.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  configMap,
  eventually,
  namespace,
  secret,
  serviceAccount,
  startTestServer,
  type TestServer,
  virtualClock,
} from "../../../src/testing/index.ts";
import { startSlowWebhook } from "../../support/slow-webhook.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
type Json = any;

const namespaces = "/api/v1/namespaces";
const inDefault = `${namespaces}/default`;
const webhook = await startSlowWebhook();
after(() => webhook.close());

async function send(server: TestServer, method: string, path: string, body?: object): Promise<Json> {
  const response = await server.fetch(path, { method, ...(body && { body }) });
  const answer = await response.json();
  assert.ok(response.ok, JSON.stringify(answer));
  return answer;
}

interface Row {
  readonly what: string;
  /** The write that the webhook pauses. */
  readonly operation: "CREATE" | "DELETE";
  readonly resource: string;
  /** Which objects of the resource. */
  readonly match: string;
  /** Creates objects that are in the snapshot. */
  prepare(server: TestServer): Promise<unknown>;
  /** Causes the write. */
  change(server: TestServer): Promise<unknown>;
  /** A path, and the status of a GET of it in the restored state; for a collection, the number of its objects. */
  readonly restored: readonly [path: string, expected: number];
}

const rows: readonly Row[] = [
  {
    what: "the garbage collector deletes no object whose owner was restored",
    ...{ operation: "DELETE", resource: "configmaps", match: "request.name == 'dependent'" },
    async prepare(server) {
      const { metadata } = await send(server, "POST", `${inDefault}/configmaps`, configMap("owner"));
      const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: metadata.uid }];
      await send(server, "POST", `${inDefault}/configmaps`, configMap("dependent", { metadata: { ownerReferences } }));
    },
    change: (server) => send(server, "DELETE", `${inDefault}/configmaps/owner`),
    restored: [`${inDefault}/configmaps/dependent`, 200],
  },
  {
    what: "the namespace controller deletes nothing in a namespace that was restored",
    ...{ operation: "DELETE", resource: "configmaps", match: "request.namespace == 'doomed'" },
    async prepare(server) {
      await send(server, "POST", namespaces, namespace("doomed"));
      await send(server, "POST", `${namespaces}/doomed/configmaps`, configMap("a"));
    },
    change: (server) => send(server, "DELETE", `${namespaces}/doomed`),
    restored: [`${namespaces}/doomed/configmaps/a`, 200],
  },
  {
    what: "no object is created in a namespace that a restore has removed",
    ...{ operation: "CREATE", resource: "serviceaccounts", match: "request.namespace == 'discarded'" },
    prepare: async () => {},
    change: (server) => send(server, "POST", namespaces, namespace("discarded")),
    restored: [`${namespaces}/discarded/serviceaccounts/default`, 404],
  },
  {
    what: "the token of a restored service account is not deleted",
    ...{ operation: "DELETE", resource: "secrets", match: "request.name == 'token'" },
    async prepare(server) {
      await send(server, "POST", `${inDefault}/serviceaccounts`, serviceAccount("bot"));
      const annotations = { "kubernetes.io/service-account.name": "bot" };
      const token = secret("token", { metadata: { annotations }, type: "kubernetes.io/service-account-token" });
      await send(server, "POST", `${inDefault}/secrets`, token);
      await eventually(async () => (await send(server, "GET", `${inDefault}/secrets/token`)).data?.token !== undefined);
    },
    change: (server) => send(server, "DELETE", `${inDefault}/serviceaccounts/bot`),
    restored: [`${inDefault}/secrets/token`, 200],
  },
  {
    what: "no Event about an owner in another namespace is created",
    ...{ operation: "CREATE", resource: "events", match: "object.reason == 'OwnerRefInvalidNamespace'" },
    prepare: (server) => send(server, "POST", `${namespaces}/kube-system/configmaps`, configMap("owner")),
    async change(server) {
      const { metadata } = await send(server, "GET", `${namespaces}/kube-system/configmaps/owner`);
      const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: metadata.uid }];
      await send(server, "POST", `${inDefault}/configmaps`, configMap("dependent", { metadata: { ownerReferences } }));
    },
    restored: [`${inDefault}/events`, 0],
  },
];

async function pauseWrites(server: TestServer, { operation, resource, match }: Row): Promise<void> {
  const paused = {
    name: "pause.example.com",
    clientConfig: { url: webhook.url, caBundle: Buffer.from(webhook.ca).toString("base64") },
    rules: [{ apiGroups: ["*"], apiVersions: ["v1"], operations: [operation], resources: [resource] }],
    matchConditions: [{ name: "paused", expression: match }],
    ...{ sideEffects: "None", admissionReviewVersions: ["v1"] },
  };
  const configuration = { metadata: { name: "pause" }, webhooks: [paused] };
  await send(server, "POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", configuration);
}

for (const row of rows) {
  test(row.what, async (context) => {
    const clock = virtualClock();
    const server = await startTestServer({ clock });
    context.after(() => server.close());
    await row.prepare(server);
    await pauseWrites(server, row);
    const snapshot = await server.snapshot();
    await row.change(server);
    await eventually(() => webhook.waiting.length > 0);
    await server.restore(snapshot);
    for (const allow of webhook.waiting.splice(0)) allow();
    await clock.advance("1s"); // Waits for the work of controllers.
    const [path, expected] = row.restored;
    const response = await server.fetch(path);
    const { items } = await response.json();
    assert.equal(items?.length ?? response.status, expected);
  });
}
