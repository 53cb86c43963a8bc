/**
 * Random sequences of writes of one object by several managers: apply, put and patches of the
 * object, its status and its scale, managed fields that clients send, several versions. Replays the
 * recorded answers of kube-apiserver 1.36. Recorded by tools/golden/server/apply-sequences.
 */
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { openSequenceReplay } from "../../../test/support/replay-sequence.ts";
import type { WriteSequence } from "../../../test/support/write-sequence.ts";
import type { KubeObject } from "../../apimachinery/object.ts";

const lines = gunzipSync(readFileSync(new URL("testdata/sequences.jsonl.gz", import.meta.url))).toString();
const [definitions, ...sequences] = lines.split("\n").map((line) => JSON.parse(line)) as [
  KubeObject[],
  ...WriteSequence[],
];

test(`answers ${sequences.length} sequences as upstream`, async (t) => {
  const { replay, close } = await openSequenceReplay(definitions);
  for (const sequence of sequences) await t.test(`${sequence.kind} ${sequence.seed}`, () => replay(sequence));
  await close();
});
