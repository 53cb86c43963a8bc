/** Shard selectors and hashes, as upstream answers them; recorded by tools/golden/sharding. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { SelectorError } from "./selector-error.ts";
import { isInShard, joinRanges, type ShardRange, type ShardSelector } from "./shard.ts";
import { shardHash } from "./shard-hash.ts";
import { parseShardSelector } from "./shard-parser.ts";

function readRows<Row>(name: string): Row[] {
  const content = readFileSync(join(import.meta.dirname, "testdata", name));
  const text = (name.endsWith(".gz") ? gunzipSync(content) : content).toString();
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

interface HashRow {
  readonly value: string;
  /** 16 hexadecimal digits. */
  readonly hash: string;
}

const hashRows = readRows<HashRow>("shard-hashes.jsonl");

test("hashes as upstream", () => {
  const hashed = hashRows.map(({ value }) => ({
    value,
    hash: shardHash(Buffer.from(value)).toString(16).padStart(16, "0"),
  }));
  assert.deepEqual(hashed, hashRows);
});

interface Row {
  readonly selector: string;
  readonly error?: string;
  readonly shown?: string;
  /** Whether the selector matches each of the first values. */
  readonly matches?: string;
}

function outcome(selector: string): Row {
  let parsed: ShardSelector;
  try {
    parsed = parseShardSelector(selector);
  } catch (error) {
    if (error instanceof SelectorError) return { selector, error: error.message };
    throw error;
  }
  const hashes = hashRows.slice(0, 16).map(({ value }) => shardHash(Buffer.from(value)));
  const matches = hashes.map((hash) => Number(isInShard(parsed, hash))).join("");
  return { selector, shown: parsed.text, matches };
}

/** Selectors that are rejected with another message, and the reason. */
const differing: readonly (readonly [selector: RegExp, reason: string])[] = [
  [/^shardRange\(a(?:\.b){249,250},/, "lib/cel counts the depth of a field path together with that of the call"],
  [/object\.metadata\{'0x95d9/, "lib/cel recovers in another way in a message literal"],
];

for (const name of ["shard-selectors.jsonl", "shard-selectors-random.jsonl.gz"]) {
  test(`${name}: parses selectors, rejects others with upstream's message, and matches`, () => {
    for (const row of readRows<Row>(name)) {
      const found = outcome(row.selector);
      const known = differing.some(([selector]) => selector.test(row.selector));
      if (!known) assert.deepEqual(found, row);
      else assert.ok(found.error !== undefined && row.error !== undefined && found.error !== row.error, row.selector);
    }
  });
}

test("joins ranges that overlap or touch, and finds hashes in any number of them", () => {
  const random = seededRandom(seed);
  for (let run = 0; run < 200; run++) {
    const ranges = Array.from({ length: 1 + random(12) }, () => {
      const start = BigInt(random(60));
      return { start, end: start + 1n + BigInt(random(8)) };
    });
    const joined = joinRanges(ranges);
    const selector: ShardSelector = { field: "object.metadata.uid", ranges: joined, text: "" };
    for (let hash = 0n; hash < 70n; hash++)
      assert.equal(
        isInShard(selector, hash),
        ranges.some(({ start, end }) => start <= hash && hash < end),
      );
    for (const [index, { start }] of joined.entries())
      if (index > 0) assert.ok((joined[index - 1] as ShardRange).end < start, "in order and apart");
  }
});
