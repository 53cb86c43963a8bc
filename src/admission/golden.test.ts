/**
 * Sends the recorded requests of `tools/golden/server/admission` to a server with the same webhooks and policies. `ADMISSION=NAME,…` replays
 * only these families, and all their rows; `SCENARIO=NAME` only that scenario of them.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import {
  type AdmissionAnswer,
  type AdmissionHeader,
  type AdmissionRow,
  runScenario,
  type Scenario,
  setUp,
} from "../../test/support/admission-golden.ts";
import { differencesOf, startReplayServer } from "../../test/support/admission-replay.ts";

/** By family: the rows that this server answers in another way, as patterns of "SCENARIO METHOD PATH". */
const families: Readonly<Record<string, readonly RegExp[]>> = {
  "mutating-policies": [],
  "policy-bindings": [],
  "policy-expressions": [],
  "policy-requests": [],
  random: [],
  "webhook-answers": [
    /-(?:http-301|http-302-external|http-307)\//, // Redirects are not followed.
  ],
  "webhook-matching": [
    /^rules-equivalent-mutating DELETE .*\/widgets$/, // The order in which the objects of a collection are deleted.
  ],
  "webhook-order": [],
  "webhook-patches": [
    /^widgets POST .*-(?:kind|other-group)\//, // The audit annotation of a patch that changes the type.
    /^widgets .*-label-number\//, // A patch cannot give a custom resource metadata of other types.
  ],
  "webhook-requests": [],
};

const directory = join(import.meta.dirname, "testdata");
const { ADMISSION, SCENARIO } = process.env;
const chosen = ADMISSION?.split(",");

test("the table has every recorded family", () => {
  const recorded = readdirSync(directory).map((name) => name.replace(".jsonl.gz", ""));
  assert.deepEqual(Object.keys(families).sort(), recorded.sort());
});

for (const [family, exceptions] of Object.entries(families)) {
  if (chosen !== undefined && !chosen.includes(family)) continue;
  test(`answers the requests of ${family} as upstream`, { timeout: 300_000 }, async (t) => {
    const { header, scenarios } = readFamily(family);
    const server = await startReplayServer();
    await setUp(server, header.setup);
    for (const { scenario, answers } of scenarios) {
      if (SCENARIO !== undefined && SCENARIO !== scenario.name) continue;
      await t.test(scenario.name, async () => {
        const differences = differencesOf(scenario, await runScenario(server, scenario), answers).filter(
          ({ row }) => chosen !== undefined || !exceptions.some((pattern) => pattern.test(row)),
        );
        const texts = differences.slice(0, 20).map(({ text }) => text);
        assert.ok(differences.length === 0, `${differences.length} differ\n${texts.join("\n")}`);
      });
    }
    await server.close();
  });
}

interface Recorded {
  readonly scenario: Scenario;
  readonly answers: readonly AdmissionAnswer[];
}

function readFamily(family: string): { readonly header: AdmissionHeader; readonly scenarios: readonly Recorded[] } {
  const text = gunzipSync(readFileSync(join(directory, `${family}.jsonl.gz`))).toString();
  const [header, ...rows] = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line)) as [AdmissionHeader, ...AdmissionRow[]];
  const starts = rows.flatMap(({ scenario }, index) => (scenario === undefined ? [] : [index]));
  const scenarios = starts.map((start, index) => {
    const mine = rows.slice(start, starts[index + 1]);
    const scenario = { ...mine[0]?.scenario, requests: mine.map(({ request }) => request) } as Scenario;
    return { scenario, answers: mine.map(({ answer }) => answer) };
  });
  return { header, scenarios };
}
