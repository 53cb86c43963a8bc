/**
 * Everything that reads and watches, while others write, against one true log. Guarantees:
 * - an observer who lists and watches, and is cut off and resumes at random, sees every change after its version, once and in order, by whatever
 *   selector; what ceases to be selected is DELETED as it was, at the version of the change; so are deletions;
 * - bookmarks never go back and never run ahead of events; initial events up to their bookmark are the state at its version;
 * - a list is the state at its version: exactly the one asked for, or one not older than what was known; all chunks of a list are of one version;
 * - a get shows a state not older than what was known;
 * - a version is 410 only where history may have been compacted.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ModelOptions, runModel } from "./run.ts";

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
const isFull = process.env.COXSWAIN_TEST_FULL === "1";
/** Of each row. */
const size = isFull ? { operations: 50_000, informersPerView: 3 } : { operations: 5000, informersPerView: 1 };

type Row = [what: string, options: Pick<ModelOptions, "storage" | "historyMs" | "historyBytesMax" | "featureGates">];
const rows: Row[] = [
  ["memory, history of ten minutes", { storage: "memory", historyMs: 600_000, historyBytesMax: 256 << 20 }],
  ["lmdb, history of some hundred changes", { storage: "lmdb", historyMs: 3_600_000, historyBytesMax: 300_000 }],
];

const moreRows: Row[] = [
  [
    "lmdb, states of the past from the store alone",
    { storage: "lmdb", historyMs: 400_000, historyBytesMax: 256 << 20, featureGates: "ListFromCacheSnapshot=false" },
  ],
];

for (const [what, options] of isFull ? [...rows, ...moreRows] : rows) {
  test(`${what} (SEED=${seed})`, async (context) => {
    const { problems, counts } = await runModel({ ...options, seed, ...size });
    context.diagnostic(JSON.stringify(counts));
    assert.deepEqual(problems, []);
  });
}
