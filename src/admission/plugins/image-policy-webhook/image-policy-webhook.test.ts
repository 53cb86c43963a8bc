/** ImagePolicyWebhook in a server, in addition to the recorded requests: credentials, large answers, lost connections, starts. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startServerWithClient } from "../../../../test/support/server-with-client.ts";
import { startTestServer } from "../../../../test/support/start-test-server.ts";
import { startWebhookServer, type WebhookReply } from "../../../../test/support/webhook-server.ts";
import { defaultOptions } from "../../../index.ts";
import type { ServerOptions } from "../../../server/options.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-images-"));
after(() => rmSync(directory, { recursive: true }));

let reply: WebhookReply = {};
const webhook = await startWebhookServer(() => reply);
after(() => webhook.close());

const kubeconfig = (cluster: object): object => ({
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "c", cluster }],
  users: [{ name: "u", user: { token: "secret" } }],
  contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
  "current-context": "x",
});

/** Writes the files, of which the configuration is one in the format without a kind. */
function admission(name: string, cluster: object): ServerOptions["admission"] {
  const [file, kubeConfigFile] = [join(directory, name), join(directory, `${name}.kubeconfig`)];
  writeFileSync(kubeConfigFile, JSON.stringify(kubeconfig(cluster)));
  writeFileSync(file, JSON.stringify({ imagePolicy: { kubeConfigFile, retryBackoff: 1 } }));
  const disable = ["ServiceAccount", ...defaultOptions.admission.disable];
  return { ...defaultOptions.admission, enable: ["ImagePolicyWebhook"], disable, configFile: file };
}

const ca = Buffer.from(webhook.ca).toString("base64");
const { client } = await startServerWithClient({
  admission: admission("valid", { server: `${webhook.url}/images`, "certificate-authority-data": ca }),
});

async function createPod(name: string): Promise<{ status: number; message: string }> {
  const body = { metadata: { name }, spec: { containers: [{ name: "c", image: name }] } };
  const answer = await client.send({ method: "POST", path: "/api/v1/namespaces/default/pods", body });
  return { status: answer.status, message: answer.body.message };
}
const review = (status: object): object => ({
  apiVersion: "imagepolicy.k8s.io/v1alpha1",
  kind: "ImageReview",
  status,
});

test("the server sends its credentials to the webhook", async () => {
  reply = review({ allowed: true });
  assert.equal((await createPod("a")).status, 201);
  assert.equal(webhook.requests.at(-1)?.headers.authorization, "Bearer secret");
});

test("an answer of more than 1 MiB is an error of the webhook", async () => {
  reply = review({ allowed: true, reason: "x".repeat(1 << 20) });
  assert.deepEqual(await createPod("large"), {
    status: 403,
    message: 'pods "large" is forbidden: the response of the webhook is larger than 1048576 bytes',
  });
});

test("a webhook that always closes the connection rejects pods after a bounded number of calls", async () => {
  const before = webhook.requests.length;
  reply = (response) => response.socket?.destroy();
  const { status, message } = await createPod("closed");
  assert.equal(status, 403);
  assert.match(message, /^pods "closed" is forbidden: Post "https:.*\/images\?timeout=30s": EOF$/);
  assert.ok(webhook.requests.length - before <= 5);
});

test("many pods at once are all reviewed", async () => {
  reply = review({ allowed: true });
  const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => createPod(`many-${index}`)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
});

test("a server whose webhook has an invalid authority does not start", () =>
  assert.rejects(
    startTestServer({ admission: admission("invalid", { server: webhook.url, "certificate-authority-data": "eA==" }) }),
    {
      message:
        'couldn\'t init admission plugin "ImagePolicyWebhook": unable to load root certificates: unable to parse bytes as PEM block',
    },
  ));

for (const [name, problem] of [
  ["ImagePolicyWebhook", "no config specified"],
  ["EventRateLimit", "limits: Invalid value: null: must not be empty"],
] as const) {
  test(`a server with ${name} and no configuration file does not start`, () =>
    assert.rejects(startTestServer({ admission: { ...defaultOptions.admission, enable: [name] } }), {
      message: `couldn't init admission plugin "${name}": ${problem}`,
    }));
}
