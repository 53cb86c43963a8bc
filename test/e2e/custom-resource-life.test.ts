/**
 * Definitions over time: immediate use, races, kubectl, restarts and kill -9, and patterns that are
 * expensive to match.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { skipWithout } from "../support/needs.ts";
import { main } from "../support/program.ts";
import { type Answer, type RawClient, rawClient } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { eventually } from "../support/until.ts";

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

interface Kind {
  readonly plural: string;
  readonly kind: string;
  readonly group?: string;
  readonly names?: object;
  readonly properties?: object;
  readonly annotations?: object;
}

function definition({ plural, kind, group = "life.example.com", names, properties = {}, annotations = {} }: Kind) {
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } } };
  const additionalPrinterColumns = [
    { name: "Colour", type: "string", jsonPath: ".spec.colour" },
    { name: "Size", type: "integer", jsonPath: ".spec.size", priority: 1 },
  ];
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}`, annotations },
    spec: {
      group,
      names: { plural, kind, ...names },
      scope: "Namespaced",
      versions: [{ name: "v1", served: true, storage: true, schema, additionalPrinterColumns }],
    },
  };
}

const pathOf = (plural: string, group = "life.example.com"): string => `/apis/${group}/v1/namespaces/default/${plural}`;
const objectOf = (kind: string, name: string, spec: object) => ({
  apiVersion: "life.example.com/v1",
  kind,
  metadata: { name },
  spec,
});

const { server, client } = await startServerWithClient();

const post = (path: string, body: object, by = client): Promise<Answer> => by.send({ method: "POST", path, body });

function conditionOf({ body }: Answer, type: string): string | undefined {
  return body.status?.conditions?.find((condition: { type: string }) => condition.type === type)?.status;
}

async function establish(made: ReturnType<typeof definition>, by = client): Promise<void> {
  const { status, text } = await post(definitionsPath, made, by);
  assert.equal(status, 201, text);
  const path = `${definitionsPath}/${made.metadata.name}`;
  await eventually("established", async () => conditionOf(await by.send({ path }), "Established") === "True");
}

test("an object can be created as soon as its definition is established", async () => {
  for (let round = 0; round < 20; round++) {
    const [plural, kind] = [`helms${round}`, `Helm${round}`];
    await establish(definition({ plural, kind }));
    assert.equal((await post(pathOf(plural), objectOf(kind, "a", {}))).status, 201);
  }
});

test("one of several concurrent creations of a definition succeeds, and one of several definitions of a kind is served", async () => {
  const racers = await Promise.all(
    Array.from({ length: 10 }, () => post(definitionsPath, definition({ plural: "raced", kind: "Raced" }))),
  );
  assert.deepEqual(racers.map(({ status }) => status).sort(), [201, ...Array.from({ length: 9 }, () => 409)]);
  const plurals = Array.from({ length: 6 }, (_, at) => `racers${at}`);
  await Promise.all(plurals.map((plural) => post(definitionsPath, definition({ plural, kind: "Racer" }))));
  const accepted = async (): Promise<string[]> => {
    const answers = await Promise.all(
      plurals.map((plural) => client.send({ path: `${definitionsPath}/${plural}.life.example.com` })),
    );
    const statuses = answers.map((answer) => conditionOf(answer, "NamesAccepted") ?? "");
    return statuses.every((status) => status !== "") ? plurals.filter((_, at) => statuses[at] === "True") : [];
  };
  await eventually("one is accepted", async () => (await accepted()).length === 1);
  const [winner = ""] = await accepted();
  await eventually("it is served", async () => (await client.send({ path: pathOf(winner) })).status === 200);
});

test("custom resources can have the plural `namespaces`", async () => {
  await establish(definition({ plural: "namespaces", kind: "Namespace" }));
  const path = pathOf("namespaces");
  assert.equal((await post(path, objectOf("Namespace", "a", {}))).status, 201);
  assert.deepEqual(
    (await client.send({ path })).body.items.map(({ metadata }: { metadata: object }) => metadata),
    [(await client.send({ path: `${path}/a` })).body.metadata],
  );
  const missing = await client.send({ path: `${path}/b` });
  assert.equal(missing.body.message, 'namespaces.life.example.com "b" not found');
  assert.equal((await client.send({ path: "/apis/life.example.com/v1/namespaces" })).body.items.length, 1);
  assert.equal((await client.send({ path: "/api/v1/namespaces/default/namespaces/default" })).status, 404);
  assert.equal((await client.send({ method: "DELETE", path: `${path}/a` })).status, 200);
});

test("a definition with the name of a built-in kind does not change that kind", async () => {
  const annotations = { "api-approved.kubernetes.io": "unapproved, a test" };
  const group = "coordination.k8s.io";
  assert.equal(
    (await post(definitionsPath, definition({ plural: "leases", kind: "Lease", group, annotations }))).status,
    201,
  );
  const lease = {
    apiVersion: `${group}/v1`,
    kind: "Lease",
    metadata: { name: "a" },
    spec: { leaseDurationSeconds: "x" },
  };
  const rejected = await post(pathOf("leases", group), lease);
  assert.equal(rejected.status, 400);
  assert.match(rejected.body.message, /cannot be handled as a Lease/);
  assert.equal((await client.send({ method: "DELETE", path: `${definitionsPath}/leases.${group}` })).status, 200);
  assert.equal((await client.send({ path: pathOf("leases", group) })).status, 200);
});

const bombs: [what: string, pattern: string, value: string][] = [
  ["nested repetition", "^(a+)+$", `${"a".repeat(50_000)}!`],
  ["overlapping repetition", "(x+x+)+y", "x".repeat(50_000)],
  ["many states", "^((x?){30}){30}$", "x".repeat(300_000)],
];
for (const [index, [what, pattern, value]] of bombs.entries()) {
  test(`a pattern that backtracks exponentially is matched in linear time: ${what}`, async () => {
    const [plural, kind] = [`bombs${index}`, `Bomb${index}`];
    await establish(definition({ plural, kind, properties: { text: { type: "string", pattern } } }));
    const rejected = await post(pathOf(plural), objectOf(kind, "a", { text: value }));
    assert.equal(rejected.status, 422);
    assert.ok(rejected.body.details.causes[0].message.includes("in body should match"));
  });
}

test("accepts a schema of one mebibyte and rejects one that nests too deeply", async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 6000 }, (_, at) => [`field${at}`, { type: "string", description: "d".repeat(150) }]),
  );
  await establish(definition({ plural: "mebibytes", kind: "Mebibyte", properties }));
  assert.equal((await post(pathOf("mebibytes"), objectOf("Mebibyte", "a", { field5999: "x" }))).status, 201);
  const depth = 2000;
  const nested = `${'{"type":"object","properties":{"a":'.repeat(depth)}{"type":"string"}${"}}".repeat(depth)}`;
  const text = JSON.stringify(definition({ plural: "nesteds", kind: "Nested", properties: { a: 1 } })).replace(
    '{"a":1}',
    `{"a":${nested}}`,
  );
  const rejected = await client.send({
    method: "POST",
    path: definitionsPath,
    headers: { "content-type": "application/json" },
    body: text,
  });
  assert.deepEqual([rejected.status, /max depth/.test(rejected.body.message)], [400, true]);
});

const [kubectl] = kubectls().slice(-1);
test("kubectl uses a new kind's short names, categories, columns and fields", {
  skip: skipWithout("kubectl"),
}, async () => {
  const run = async (...args: string[]): Promise<string> => (await runKubectl(kubectl as string, args, server)).output;
  await run("api-resources"); // Fills kubectl's caches before the kind exists.
  const names = { shortNames: ["shp"], categories: ["shapes"], singular: "shape" };
  await establish(
    definition({
      plural: "shapes",
      kind: "Shape",
      names,
      properties: { colour: { type: "string", description: "What it looks like." }, size: { type: "integer" } },
    }),
  );
  assert.equal((await post(pathOf("shapes"), objectOf("Shape", "a", { colour: "red", size: 3 }))).status, 201);
  assert.equal(await run("get", "shp"), "NAME   COLOUR\na      red");
  assert.match(await run("get", "shape", "a", "-o", "wide"), /^NAME +COLOUR +SIZE\na +red +3$/);
  assert.match(await run("get", "shapes.v1.life.example.com"), /^NAME/);
  assert.match(await run("get", "shapes", "--all-namespaces"), /^NAMESPACE/);
  assert.match(await run("explain", "shapes.spec.colour"), /What it looks like\./);
  assert.match(await run("explain", "shape.spec", "--recursive"), /colour\s+<string>/);
});

interface Process {
  readonly process: ChildProcess;
  readonly client: RawClient;
}

async function start(directory: string): Promise<Process> {
  const child = spawn(process.execPath, [main, "--data-dir", directory, "--secure-port=0"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stderr.resume();
  const lines = createInterface({ input: child.stdout });
  await new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => /listening|kubeconfig/i.test(line) && resolve());
    child.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
  });
  return { process: child, client: rawClient(readFileSync(join(directory, "kubeconfig"), "utf8")) };
}

async function end({ process: child, client: connected }: Process, signal: NodeJS.Signals): Promise<void> {
  connected.close();
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.kill(signal);
  await ended;
}

test("definitions and objects are unchanged after a restart and after kill -9", async () => {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-life-"));
  try {
    let running = await start(directory);
    await establish(
      definition({ plural: "kepts", kind: "Kept", properties: { colour: { type: "string", default: "red" } } }),
      running.client,
    );
    const seen: string[] = [];
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      const name = `kept-${seen.length}`;
      const made = await post(pathOf("kepts"), objectOf("Kept", name, {}), running.client);
      assert.equal(made.status, 201, made.text);
      seen.push(JSON.stringify(made.body));
      await end(running, signal);
      running = await start(directory);
      const { body } = await running.client.send({ path: pathOf("kepts") });
      assert.deepEqual(
        body.items.map((item: object) => JSON.stringify(item)),
        seen,
      );
      const still = await running.client.send({ path: `${definitionsPath}/kepts.life.example.com` });
      assert.equal(conditionOf(still, "Established"), "True");
    }
    assert.equal(
      (await running.client.send({ method: "DELETE", path: `${definitionsPath}/kepts.life.example.com` })).status,
      200,
    );
    await end(running, "SIGKILL"); // Possibly while the objects are being deleted.
    running = await start(directory);
    await eventually(
      "the definition is deleted",
      async () => (await running.client.send({ path: `${definitionsPath}/kepts.life.example.com` })).status === 404,
    );
    await establish(definition({ plural: "kepts", kind: "Kept" }), running.client);
    assert.deepEqual((await running.client.send({ path: pathOf("kepts") })).body.items, []);
    await end(running, "SIGTERM");
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
