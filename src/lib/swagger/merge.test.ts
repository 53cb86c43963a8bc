/**
 * The names of definitions that documents of many servers define differently.
 * COXSWAIN_TEST_FULL=1 compares the time of the processor for four times the documents.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { leastOf } from "../../../test/support/measure-growth.ts";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import type { Json } from "../json/values.ts";
import { mergeDocument, mergeTarget } from "./merge.ts";

const emptyTarget = () => mergeTarget({ paths: new Map(), definitions: new Map(), parameters: new Map() });

/** @param path makes the document the first with its path */
const documentOf = (path: number, definitions: Readonly<Record<string, Json>>): Json => ({
  paths: { [`/${path}`]: {} },
  definitions,
});

/** The rule without an index: the first number whose part is equal, or that no part has. */
function namesByRule(documents: readonly Readonly<Record<string, Json>>[]): Map<string, unknown> {
  const merged = new Map<string, unknown>();
  for (const definitions of documents) {
    const added: [string, Json][] = [];
    for (const [name, { title }] of Object.entries(definitions)) {
      const isTaken = (one: string): boolean =>
        merged.has(one) || Object.hasOwn(definitions, one) || added.some(([other]) => other === one);
      let [found, count] = [name, 2];
      if (merged.has(name) && merged.get(name) !== title) {
        while (merged.has(`${name}_v${count}`) && merged.get(`${name}_v${count}`) !== title) count++;
        if (!merged.has(`${name}_v${count}`)) while (isTaken(`${name}_v${count}`)) count++;
        found = `${name}_v${count}`;
      }
      added.push([found, { title }]);
    }
    for (const [name, { title }] of added) if (!merged.has(name)) merged.set(name, title);
  }
  return merged;
}

test(`names definitions by the rule, SEED=${seed}`, () => {
  const random = seededRandom(seed);
  const names = ["A", "A_v2", "A_v3", "A_v2_v2", "B", "B_v3"];
  for (let run = 0; run < 500; run++) {
    const documents = Array.from({ length: 1 + random(8) }, () =>
      Object.fromEntries(names.filter(() => random(2) === 0).map((name) => [name, { title: String(random(4)) }])),
    );
    const target = emptyTarget();
    for (const [index, definitions] of documents.entries()) mergeDocument(target, documentOf(index, definitions));
    const merged = new Map([...target.definitions].map(([name, one]) => [name, one?.title]));
    assert.deepEqual(merged, namesByRule(documents));
  }
});

test("merges many documents with different definitions of the same names in linear time", async () => {
  const names = Array.from({ length: 50 }, (_, index) => `D${index}`);
  const mergeMany = (count: number) => () => {
    const target = emptyTarget();
    for (let index = 0; index < count; index++)
      mergeDocument(target, documentOf(index, Object.fromEntries(names.map((name) => [name, { title: `${index}` }]))));
    assert.equal(target.definitions.size, names.length * count);
  };
  if (process.env.COXSWAIN_TEST_FULL !== "1") return mergeMany(200)();
  let growth = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 3 && growth >= 6; attempt++)
    growth = (await leastOf(mergeMany(1200))) / (await leastOf(mergeMany(300)));
  assert.ok(growth < 6, `four times the documents take ${growth} times the time`);
});
