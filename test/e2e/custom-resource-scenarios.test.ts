/**
 * Requests about definitions and their objects, and upstream's recorded answers. `UPDATE_GOLDEN=1`
 * records them again from upstream's server (tools/golden/definition-server); COXSWAIN_TEST_FULL=1
 * compares them with it.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { systemClock } from "../../src/apimachinery/clock.ts";
import { skipWithout } from "../support/needs.ts";
import { rawClient } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { startUpstreamDefinitions, upstreamMissing } from "../support/upstream-definitions.ts";
import { scenarios } from "./custom-resources/scenarios.ts";
import { sendScenario } from "./custom-resources/send-scenario.ts";
import { styles } from "./custom-resources/styles.ts";

const file = new URL("custom-resources/testdata/answers.json", import.meta.url);
const updates = process.env.UPDATE_GOLDEN === "1";
if (updates) writeFileSync(file, `${JSON.stringify(await askUpstream(), null, 1)}\n`);
/** By scenario, in their order. The keys of the file are the titles that the scenarios had when it was recorded. */
const recorded: readonly unknown[] = Object.values(JSON.parse(readFileSync(file, "utf8")));
assert.equal(recorded.length, scenarios.length);

// Managers are ordered by time: a second that begins between two writes would change the answers.
const now = systemClock.now();
const { client } = await startServerWithClient({ clock: { ...systemClock, now: () => now } });

for (const [index, scenario] of scenarios.entries()) {
  test(`answers as upstream: ${scenario.title}`, async () => {
    assert.deepEqual(await sendScenario(client, scenario), recorded[index]);
  });
}

test("upstream accepts the valid objects of each of the ten schema styles and rejects the invalid ones", () => {
  for (const { like, good, bad } of styles) {
    const [created, , ...objects] = recorded[scenarios.findIndex(({ title }) => title === `like ${like}`)] as [
      string,
      { readonly status: number },
    ][];
    const statuses = [...good.map(() => 201), ...bad.map(() => 422)];
    assert.equal(created?.[1].status, 201, like);
    const asSent = statuses.map((_, index) => objects[2 * index]?.[1].status);
    assert.deepEqual(asSent, statuses, like);
  }
});

const missing = skipWithout("full", "go") || (updates ? "records the answers" : upstreamMissing());
test("upstream gives the recorded answers", { skip: missing }, async () => {
  assert.deepEqual(Object.values(await askUpstream()), recorded);
});

async function askUpstream(): Promise<Readonly<Record<string, unknown>>> {
  assert.equal(upstreamMissing(), undefined);
  const upstream = await startUpstreamDefinitions();
  const asking = rawClient(upstream.kubeconfig);
  try {
    const answers: Record<string, unknown> = {};
    for (const scenario of scenarios) answers[scenario.title] = await sendScenario(asking, scenario);
    return JSON.parse(JSON.stringify(answers));
  } finally {
    asking.close();
    await upstream.close();
  }
}
