/** Guarantee: a list by a repeated selector has what a search of all objects finds, and searches only what has changed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryRegistry, type Place } from "../../test/support/memory-registry.ts";
import { seed } from "../../test/support/seed.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import type { Resolved } from "../catalog/contract.ts";
import { parseListOptions } from "../request/list-options.ts";
import { listEntries } from "./list.ts";

const namespaces = ["n0", "n1", "n2"];

async function openWorld() {
  const memory = await openMemoryRegistry();
  for (const name of namespaces)
    await memory.create(["/namespaces", ""], { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const { resource } = memory.registry.catalog.find("", "v1", "configmaps") as Resolved;
  const list = (namespace: string, query: Record<string, string>) =>
    listEntries(resource, namespace, parseListOptions(new URLSearchParams(query)));
  return { memory, list, counts: resource.store?.cache.counts };
}

test(`lists of repeated selectors agree with a model (SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  const { memory, list } = await openWorld();
  const model = new Map<string, string>();
  for (let round = 0; round < 400; round++) {
    const namespace = namespaces[random(3)] as string;
    const place: Place = ["/configmaps", namespace];
    const name = `c${String(random(150)).padStart(3, "0")}`;
    const key = `${namespace}/${name}`;
    const x = String(random(4));
    if (!model.has(key)) await memory.create(place, { metadata: { name, labels: { x } } });
    else if (random(4) === 0) await memory.delete(place, name);
    else await memory.change(place, name, (object) => Object.assign(object.metadata.labels ?? {}, { x }));
    if (model.has(key) && (await memory.find(place, name)) === undefined) model.delete(key);
    else model.set(key, x);
    if (round % 4 !== 0) continue;
    const [where, value, limit] = [random(2) === 0 ? "" : namespace, String(random(4)), random(3) * 5];
    const expected = [...model]
      .filter(([one, label]) => label === value && one.startsWith(where))
      .map(([one]) => one)
      .sort();
    const found: string[] = [];
    for (let token = ""; ; ) {
      const page = await list(where, {
        labelSelector: `x=${value}`,
        ...(limit > 0 && { limit: String(limit) }),
        ...(token !== "" && { continue: token }),
      });
      const names = [...page.entries].map(({ index }) => `${index.namespace}/${index.name}`);
      assert.ok(limit === 0 || names.length <= limit);
      found.push(...names);
      token = page.meta.continue ?? "";
      if (token === "") break;
    }
    assert.deepEqual(found, expected, JSON.stringify({ round, where, value, limit }));
  }
  await memory.close();
});

test("a repeated selector counts the objects that a search would read", async () => {
  const { memory, list, counts } = await openWorld();
  for (let index = 0; index < 300; index++)
    await memory.create(["/configmaps", "n0"], { metadata: { name: `c${index}`, labels: { x: String(index % 100) } } });
  const fetched: number[] = [];
  for (let round = 0; round < 3; round++) {
    const before = counts?.lists.get("")?.fetched ?? 0;
    await list("n0", { labelSelector: "x=7", limit: "2" });
    fetched.push((counts?.lists.get("")?.fetched ?? 0) - before);
  }
  assert.deepEqual(fetched, [fetched[0], fetched[0], fetched[0]]);
  await memory.close();
});
