/** `coxswain quota explain` against a server whose quotas are up to date, and with status that a client has written. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type RawClient, rawClient } from "../../../test/support/raw-client.ts";
import { startTestServer, type TestServer } from "../../../test/support/start-test-server.ts";
import { eventually } from "../../../test/support/until.ts";
import { quotaCommand } from "./command.ts";

let server: TestServer;
let client: RawClient;
before(async () => {
  server = await startTestServer({
    controllers: ["resourcequota-controller"],
    admission: { enable: [], disable: ["ServiceAccount", "Priority"] },
  });
  client = rawClient(server.kubeconfig);
});
after(async () => {
  client.close();
  await server.close();
});

const core = "/api/v1/namespaces";

async function create(path: string, body: object): Promise<void> {
  const { status, text } = await client.send({ method: "POST", path, body });
  assert.equal(status, 201, text);
}

async function createQuota(namespace: string, name: string, spec: object): Promise<void> {
  await create(`${core}/${namespace}/resourcequotas`, { metadata: { name }, spec });
  await eventually("a controller writes the status", async () => {
    const { body } = await client.send({ method: "GET", path: `${core}/${namespace}/resourcequotas/${name}` });
    return (body as { status?: { hard?: object } }).status?.hard !== undefined;
  });
}

async function run(...argv: string[]): Promise<{ code: number; text: string }> {
  let text = "";
  const write = (piece: string): void => {
    text += piece;
  };
  const code = await quotaCommand.run(
    ["explain", "--kubeconfig", server.kubeconfigPath, ...argv],
    { out: write, err: write },
    {},
  );
  return { code, text };
}

const pod = (name: string, cpu: string, more: object = {}): object => ({
  metadata: { name },
  spec: { containers: [{ name: "a", image: "i", resources: { requests: { cpu }, limits: { cpu } } }], ...more },
});

test("lists the limits, the usage, what is left, and the objects of each quota", async () => {
  await create(core, { metadata: { name: "n" } });
  await createQuota("n", "all", {
    hard: { "requests.cpu": "2", "count/deployments.apps": "3", "count/x.example.com": "1" },
  });
  await createQuota("n", "short", { hard: { pods: "2" }, scopes: ["Terminating"] });
  await create(`${core}/n/pods`, pod("a", "500m"));
  await create(`${core}/n/pods`, pod("b", "1", { activeDeadlineSeconds: 5 }));
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "i" }] } };
  const spec = { selector: { matchLabels: { a: "b" } }, template };
  await create("/apis/apps/v1/namespaces/n/deployments", { metadata: { name: "d" }, spec });
  const { code, text } = await run("-n", "n");
  assert.equal(
    text,
    `ResourceQuota all
  count/deployments.apps: 1 of 3 used, 2 left
    deployments.apps d: 1
  count/x.example.com: ? of 1 used, ? left
    the server has no kind that uses it
  requests.cpu: 1500m of 2 used, 500m left
    pods a: 500m
    pods b: 1

ResourceQuota short, for objects in [{Terminating Exists []}]
  pods: 1 of 2 used, 1 left
    pods b: 1
`,
  );
  assert.equal(code, 0);
});

test("says that a status is not up to date, in text and JSON", async () => {
  await create(core, { metadata: { name: "old" } });
  await createQuota("old", "q", { hard: { configmaps: "5" } });
  await create(`${core}/old/configmaps`, { metadata: { name: "m" } });
  const status = { hard: { configmaps: "5" }, used: { configmaps: "4" } };
  const path = `${core}/old/resourcequotas/q/status`;
  await client.send({ method: "PUT", path, body: { metadata: { name: "q" }, status } });
  const { code, text } = await run("-n", "old", "--quota", "q");
  assert.equal(
    text,
    "ResourceQuota q\n  configmaps: 4 of 5 used, 1 left\n    the objects use 1: the status is not up to date\n    configmaps m: 1\n",
  );
  assert.equal(code, 1);
  const [quota] = JSON.parse((await run("-n", "old", "-o", "json")).text);
  assert.deepEqual(quota.resources, [
    {
      ...{ name: "configmaps", hard: "5", used: "4", left: "1", counted: "1" },
      objects: [{ resource: "configmaps", name: "m", amount: "1" }],
      problem: "the objects use 1: the status is not up to date",
    },
  ]);
});

test("reports a namespace without quotas, and a quota that does not exist", async () => {
  assert.deepEqual(await run("-n", "none"), { code: 0, text: "Namespace none has no resource quota.\n" });
  const missing = await run("-n", "none", "--quota", "q");
  assert.deepEqual(missing, { code: 2, text: "Error: namespace none has no resource quota q\n" });
});
