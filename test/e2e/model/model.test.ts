/**
 * Compares all reads and watches under concurrent writes with a log of changes. Guarantees:
 * - an observer that lists and watches, and is cut off and resumes at random, sees every change
 *   after its revision once and in order, with any selector; an object that is deleted or no longer
 *   selected is DELETED with its previous state, at the revision of the change;
 * - bookmarks are never older than their predecessors or newer than missing events; initial events
 *   up to their bookmark are the state at its revision;
 * - a list is the state at its revision: exactly the requested one, or one not older than what was
 *   known; all chunks of a list have one revision;
 * - a get returns a state not older than what was known;
 * - a revision is 410 only if its history may have been compacted.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { skipWithoutEtcd } from "../../support/etcd.ts";
import { seed } from "../../support/seed.ts";
import { type ModelOptions, runModel } from "./run.ts";

const isFull = process.env.COXSWAIN_TEST_FULL === "1";
/** For each row with an embedded engine. */
const size = isFull ? { operations: 20_000, informersPerView: 3 } : { operations: 800, informersPerView: 1 };

type Row = [what: string, options: Pick<ModelOptions, "storage" | "historyMs" | "historyBytesMax" | "featureGates">];
const rows: Row[] = [
  ["memory, history of ten minutes", { storage: "memory", historyMs: 600_000, historyBytesMax: 256 << 20 }],
  ["lmdb, history of a few hundred changes", { storage: "lmdb", historyMs: 3_600_000, historyBytesMax: 300_000 }],
];

const moreRows: Row[] = [
  [
    "lmdb, past states only from the store",
    { storage: "lmdb", historyMs: 400_000, historyBytesMax: 256 << 20, featureGates: "ListFromCacheSnapshot=false" },
  ],
];

for (const [what, options] of isFull ? [...rows, ...moreRows] : rows) {
  test(`reads and watches agree with the log: ${what} (SEED=${seed})`, async (context) => {
    const { problems, counts } = await runModel({ ...options, seed, ...size });
    context.diagnostic(JSON.stringify(counts));
    assert.deepEqual(problems, []);
  });
}

// Requests to etcd need time that passes, so waits last as long as they do for users.
const etcdSize = { operations: isFull ? 8000 : 1000, informersPerView: 1 };
test(`reads and watches agree with the log: etcd, history of two seconds (SEED=${seed})`, {
  skip: skipWithoutEtcd,
}, async (context) => {
  const history = { historyMs: 2_000, historyBytesMax: 256 << 20 };
  const { problems, counts } = await runModel({ storage: "etcd", ...history, seed, ...etcdSize });
  context.diagnostic(JSON.stringify(counts));
  assert.deepEqual(problems, []);
});
