/**
 * What clients ask of definitions and their objects, and upstream's own answers. `UPDATE_GOLDEN=1` asks upstream's server (tools/golden/definition-server) again
 * and keeps what it says; COXSWAIN_TEST_FULL=1 holds what is kept against it.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { startUpstreamDefinitions, upstreamMissing } from "../support/upstream-definitions.ts";
import { ask } from "./custom-resources/ask.ts";
import { scenarios } from "./custom-resources/scenarios.ts";
import { styles } from "./custom-resources/styles.ts";

const file = new URL("custom-resources/testdata/answers.json", import.meta.url);
const updates = process.env.UPDATE_GOLDEN === "1";
if (updates) writeFileSync(file, `${JSON.stringify(await askUpstream(), null, 1)}\n`);
const wanted: Readonly<Record<string, unknown>> = JSON.parse(readFileSync(file, "utf8"));

let server: TestServer;
let client: RawClient;
before(async () => {
  server = await startTestServer();
  client = rawClient(server.kubeconfig);
});
after(async () => {
  client.close();
  await server.close();
});

for (const scenario of scenarios) {
  test(scenario.clause, async () => {
    assert.deepEqual(await ask(client, scenario), wanted[scenario.clause]);
  });
}

test("of the ten, what is good is taken and what is bad is not", () => {
  for (const { like, good, bad } of styles) {
    const [created, , ...objects] = wanted[`like ${like}`] as [string, { readonly status: number }][];
    const statuses = [...good.map(() => 201), ...bad.map(() => 422)];
    assert.equal(created?.[1].status, 201, like);
    const asSent = statuses.map((_, index) => objects[2 * index]?.[1].status);
    assert.deepEqual(asSent, statuses, like);
  }
});

const missing = process.env.COXSWAIN_TEST_FULL === "1" && !updates ? upstreamMissing() : "needs COXSWAIN_TEST_FULL=1";
test("upstream still says this", { skip: missing }, async () => {
  assert.deepEqual(await askUpstream(), wanted);
});

async function askUpstream(): Promise<Readonly<Record<string, unknown>>> {
  assert.equal(upstreamMissing(), undefined);
  const upstream = await startUpstreamDefinitions();
  const asking = rawClient(upstream.kubeconfig);
  try {
    const answers: Record<string, unknown> = {};
    for (const scenario of scenarios) answers[scenario.clause] = await ask(asking, scenario);
    return JSON.parse(JSON.stringify(answers));
  } finally {
    asking.close();
    await upstream.close();
  }
}
