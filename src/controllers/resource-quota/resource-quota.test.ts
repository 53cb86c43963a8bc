/**
 * Guarantees: the status is that of kube-controller-manager; deletions are given back, also during
 * concurrent writes; a full count repairs a wrong status; new limits are counted at once; kinds that
 * are served later are counted; changes are counted in the metrics of a queue.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { runStatusScenario, type Statuses, statusesOf, statusScenarios } from "../../../test/support/quota-status.ts";
import { type RawClient, rawClient } from "../../../test/support/raw-client.ts";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { startTestServer, type TestServer } from "../../../test/support/start-test-server.ts";
import { eventually, until } from "../../../test/support/until.ts";

let server: TestServer;
let client: RawClient;
const controllers = ["resourcequota-controller", "namespace-controller"];

before(async () => {
  server = await startTestServer({
    controllers,
    resourceQuotaSyncMs: 500,
    admission: { enable: [], disable: ["ServiceAccount", "Priority", "StorageObjectInUseProtection"] },
  });
  client = rawClient(server.kubeconfig);
});
after(async () => {
  client.close();
  await server.close();
});

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function send(line: string, body?: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const [method = "", path = ""] = line.split(" ");
  const all = { "content-type": "application/json", ...headers };
  return client.send({ method, path, headers: all, ...(body !== undefined && { body }) });
}

const recorded = readFileSync(join(import.meta.dirname, "testdata/status.jsonl"), "utf8")
  .trim()
  .split("\n");
const expected = new Map(
  recorded.map((line) => {
    const { namespace, statuses } = JSON.parse(line) as { namespace: string; statuses: Statuses[] };
    return [namespace, statuses];
  }),
);

for (const scenario of statusScenarios)
  test(`writes the status of kube-controller-manager in ${scenario.namespace}`, async () => {
    const statuses = expected.get(scenario.namespace) ?? [];
    const settled = async (phase: number): Promise<void> => {
      await until(async () => assert.deepEqual(await statusesOf(send, scenario.namespace), statuses[phase]));
      await until(isIdle); // A further count would change the status.
    };
    assert.deepEqual(await runStatusScenario(send, scenario, settled), statuses);
  });

/** Whether the queues of the controller have no work. */
async function isIdle(): Promise<boolean> {
  const { text } = await send("GET /metrics");
  const gauge = /^workqueue_(?:depth|unfinished_work_seconds)\{name="resource_?quota[^"]*"\} (.+)$/gm;
  const values = [...text.matchAll(gauge)].map(([, value]) => Number(value));
  assert.ok(values.length > 0);
  return values.every((value) => value === 0);
}

const path = (namespace: string, rest: string): string => `/api/v1/namespaces/${namespace}/${rest}`;

async function createNamespace(namespace: string, hard: Readonly<Record<string, string>>): Promise<void> {
  await send("POST /api/v1/namespaces", JSON.stringify({ metadata: { name: namespace } }));
  const quota = { metadata: { name: "q" }, spec: { hard } };
  await send(`POST ${path(namespace, "resourcequotas")}`, JSON.stringify(quota));
  await statusOf(namespace, ({ hard }) => hard !== undefined);
}

type Used = Readonly<Record<string, string>> | undefined;

/** Waits until the usage is as expected. */
async function usedOf(namespace: string, isExpected: (used: Used) => boolean): Promise<void> {
  await statusOf(namespace, ({ used }) => isExpected(used));
}

async function statusOf(
  namespace: string,
  isExpected: (status: { readonly hard?: Used; readonly used?: Used }) => boolean,
): Promise<void> {
  let status: object = {};
  await eventually(
    () => `another status than ${JSON.stringify(status)}`,
    async () => {
      status = JSON.parse((await send(`GET ${path(namespace, "resourcequotas/q")}`)).text).status;
      return isExpected(status);
    },
  );
}

test("counts everything again at the interval, which repairs a wrong status", async () => {
  await createNamespace("resync", { configmaps: "5" });
  await send(`POST ${path("resync", "configmaps")}`, JSON.stringify({ metadata: { name: "m" } }));
  const wrong = { metadata: { name: "q" }, status: { hard: { configmaps: "5" }, used: { configmaps: "4" } } };
  await send(`PUT ${path("resync", "resourcequotas/q/status")}`, JSON.stringify(wrong));
  await usedOf("resync", (used) => used?.configmaps === "1");
});

test("counts the objects of a kind that is defined after the quota", async () => {
  await createNamespace("later", { "count/laters.quota.example.com": "2" });
  const schema = { openAPIV3Schema: { type: "object" } };
  const definition = {
    metadata: { name: "laters.quota.example.com" },
    spec: {
      group: "quota.example.com",
      names: { plural: "laters", singular: "later", kind: "Later", listKind: "LaterList" },
      scope: "Namespaced",
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
  await send("POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", JSON.stringify(definition));
  await usedOf("later", (used) => used?.["count/laters.quota.example.com"] === "0");
  const collection = "/apis/quota.example.com/v1/namespaces/later/laters";
  const object = (name: string): string =>
    JSON.stringify({ apiVersion: "quota.example.com/v1", kind: "Later", metadata: { name } });
  const statuses: number[] = [];
  for (const name of ["a", "b", "c"]) statuses.push((await send(`POST ${collection}`, object(name))).status);
  assert.deepEqual(statuses, [201, 201, 403]);
  await send(`DELETE ${collection}/a`);
  await usedOf("later", (used) => used?.["count/laters.quota.example.com"] === "1");
});

test("counts deletions and changes of usage as keys of upstream's queue", async () => {
  const counts = async (): Promise<number[]> => {
    const { text } = await send("GET /metrics");
    return ["adds_total", "work_duration_seconds_count", "depth", "retries_total"].map((metric) => {
      const line = `^workqueue_${metric}\\{name="resource_quota_controller_resource_changes"\\} (\\d+)$`;
      return Number(new RegExp(line, "m").exec(text)?.[1]);
    });
  };
  await createNamespace("changes", { services: "5", "services.loadbalancers": "5" });
  const ports = [{ port: 80 }];
  const before = await counts();
  const service = { metadata: { name: "s" }, spec: { type: "LoadBalancer", ports } };
  await send(`POST ${path("changes", "services")}`, JSON.stringify(service));
  await usedOf("changes", (used) => used?.["services.loadbalancers"] === "1");
  const merge = { "content-type": "application/merge-patch+json" };
  await send(`PATCH ${path("changes", "services/s")}`, JSON.stringify({ metadata: { labels: { a: "b" } } }), merge);
  assert.deepEqual(await counts(), before);
  await send(`PATCH ${path("changes", "services/s")}`, JSON.stringify({ spec: { type: "ClusterIP" } }), merge);
  await usedOf("changes", (used) => used?.["services.loadbalancers"] === "0");
  await send(`DELETE ${path("changes", "services/s")}`);
  await usedOf("changes", (used) => used?.services === "0");
  const [adds = 0, worked = 0, depth, retries] = before;
  assert.deepEqual(await counts(), [adds + 2, worked + 2, depth, retries]);
});

test(`concurrent creates and deletes never exceed the quota, and the usage becomes exact (SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  await createNamespace("busy", { pods: "30", "requests.cpu": "2", configmaps: "20" });
  const container = (): object => ({
    name: "a",
    image: "i",
    resources: { requests: { cpu: `${10 * (1 + random(20))}m` } },
  });
  const write = async (): Promise<void> => {
    const name = `o${random(60)}`;
    const resource = random(3) === 0 ? "configmaps" : "pods";
    const body = { metadata: { name }, ...(resource === "pods" && { spec: { containers: [container()] } }) };
    const { status, text } =
      random(5) < 3
        ? await send(`POST ${path("busy", resource)}`, JSON.stringify(body))
        : await send(`DELETE ${path("busy", resource)}/${name}?gracePeriodSeconds=0`);
    assert.ok([200, 201, 403, 404, 409].includes(status), text);
  };
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 120 }, write));
    const { pods, cpu, maps } = await stored("busy");
    assert.ok(pods <= 30 && cpu <= 2000 && maps <= 20, `${pods} pods, ${cpu}m, ${maps} maps`);
  }
  const { pods, cpu, maps } = await stored("busy");
  await usedOf("busy", (used) => {
    const found = used?.["requests.cpu"] ?? "";
    const milli = found.endsWith("m") ? Number(found.slice(0, -1)) : Number(found) * 1000;
    return used?.pods === String(pods) && milli === cpu && used?.configmaps === String(maps);
  });
});

interface Stored {
  readonly pods: number;
  /** In thousandths. */
  readonly cpu: number;
  readonly maps: number;
}

async function stored(namespace: string): Promise<Stored> {
  const pods = JSON.parse((await send(`GET ${path(namespace, "pods")}`)).text).items;
  const maps = JSON.parse((await send(`GET ${path(namespace, "configmaps")}`)).text).items;
  const cpuOf = (text: string): number => (text.endsWith("m") ? Number(text.slice(0, -1)) : Number(text) * 1000);
  const requests: string[] = pods.map(
    (pod: { spec: { containers: { resources: { requests: { cpu: string } } }[] } }) =>
      pod.spec.containers[0]?.resources.requests.cpu,
  );
  return { pods: pods.length, cpu: requests.reduce((sum, text) => sum + cpuOf(text), 0), maps: maps.length };
}
