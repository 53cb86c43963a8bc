/** Guarantees: scans let other requests run, in turns that are fair by flow. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type MemoryRegistry, openMemoryRegistry, requestOf } from "../../test/support/memory-registry.ts";
import type { ConvertedVersion, Resolved } from "../catalog/contract.ts";
import { EventLoopTurns } from "../lib/fair-queuing/event-loop-turns.ts";
import { parseListOptions } from "../request/list-options.ts";
import type { Entry } from "../watch-cache/contract.ts";
import { deleteMany } from "./delete-collection.ts";
import { listEntries } from "./list.ts";
import type { RunInTurn } from "./scan.ts";
import { planWatch } from "./watch.ts";

const objects = 1100;
let memory: MemoryRegistry;
let maps: Resolved;

before(async () => {
  memory = await openMemoryRegistry();
  maps = memory.registry.catalog.find("", "v1", "configmaps") as Resolved;
  await memory.create(["/namespaces", ""], { apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } });
  const create = (index: number): Promise<unknown> =>
    memory.create(["/configmaps", "n"], {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `m${String(index).padStart(4, "0")}`, labels: { last: String(index === objects - 1) } },
    });
  await Promise.all(Array.from({ length: objects }, (_none, index) => create(index)));
});
after(() => memory.close());

const optionsOf = (query: string) => parseListOptions(new URLSearchParams(query));

async function names(query: string, inTurn?: RunInTurn): Promise<string[]> {
  const { entries } = await listEntries(maps.resource, "n", optionsOf(query), undefined, inTurn);
  return [...entries].map(({ index }) => index.name);
}

/** Turns of which each has time for one step, because the clock advances whenever it is read. */
function slowTurns() {
  let now = 0;
  return new EventLoopTurns({ now: () => (now += 1), nextTurn: setImmediate });
}

test("a list with a selector checks 250 objects in each turn, and a repeated one what has changed", async () => {
  for (const [query, steps] of [
    ["labelSelector=last=true", 4],
    ["labelSelector=last=true,other!=x&limit=1", 4],
    ["labelSelector=last", 4],
    ["labelSelector=last=true", 0],
    ["labelSelector=last=true&limit=1", 0],
    ["limit=1000", 0],
    ["fieldSelector=metadata.name=m0003", 0],
  ] as const) {
    let turns = 0;
    const inTurn: RunInTurn = (work) => {
      turns++;
      assert.equal(work(), 0, "a scan writes nothing");
      return undefined;
    };
    const found = await names(query, inTurn);
    assert.deepEqual([turns, found], [steps, await names(query)], query);
  }
});

test("small requests and lists of another flow run between the scans of many lists", async () => {
  const turns = slowTurns();
  const share = { level: "global-default", weight: 49 };
  const events: string[] = [];
  const listAs = (user: string, flow: object, query: string): Promise<unknown> =>
    names(query, (work) => turns.piece({ ...share, flow }, work)).then(() => events.push(user));
  const flood = {};
  const scans = Array.from({ length: 40 }, (_, index) => listAs("flood", flood, `labelSelector=none${index}`));
  const other = listAs("other", {}, "labelSelector=other");
  const request = turns.request({ ...share, flow: {} }) ?? Promise.resolve();
  await request.then(() => events.push("request"));
  assert.deepEqual(events, ["request"]);
  await Promise.all([...scans, other]);
  assert.equal(events[1], "other", "its 4 steps run before the 160 steps of the flood end");
});

test("a converted list reads 250 objects in each turn, and is charged what its webhook received", async () => {
  const sizes: number[] = [];
  const inTurn: RunInTurn = (work) => void sizes.push(work());
  for (const [what, answer] of [
    ["converted before", (shown: readonly Entry[]) => shown],
    ["converted now", (shown: readonly Entry[]) => Promise.resolve(shown)],
  ] as const) {
    const bytes: number[] = [];
    const show: ConvertedVersion["show"] = (shown) => {
      bytes.push(what === "converted now" ? shown.reduce((sum, { json }) => sum + json.length, 0) : 0);
      return answer(shown);
    };
    const { entries } = await listEntries(maps.resource, "n", optionsOf(""), { show } as ConvertedVersion, inTurn);
    assert.deepEqual([[...entries].length, sizes.splice(0), bytes.length], [objects, bytes, 5], what);
  }
});

test("other requests run between the deletions of a collection", async () => {
  const turns = slowTurns();
  const share = { level: "global-default", weight: 49 };
  let turnsOfDeletion = 0;
  const inTurn: RunInTurn = (work) =>
    turns.piece({ ...share, flow: {} }, () => {
      turnsOfDeletion++;
      return work();
    });
  const place = ["/configmaps", "deleted"] as const;
  await memory.create(["/namespaces", ""], { apiVersion: "v1", kind: "Namespace", metadata: { name: "deleted" } });
  const create = (index: number): Promise<unknown> =>
    memory.create(place, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `m${index}` } });
  await Promise.all(Array.from({ length: 100 }, (_none, index) => create(index)));
  let turnsOfLoop = 0;
  const count = (): void => {
    turnsOfLoop++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const request = requestOf(memory.registry, place, {});
  const list = optionsOf("");
  const { entries } = await deleteMany(memory.registry, { ...request, options: { dryRun: false }, list, inTurn });
  clearImmediate(counting);
  assert.deepEqual([[...entries].length, turnsOfDeletion], [100, 100]);
  assert.ok(turnsOfLoop >= 90, `${turnsOfLoop} turns of the event loop`);
});

test("a failing step rejects the list", async () => {
  const turns = slowTurns();
  const inTurn: RunInTurn = (work) =>
    turns.piece({ level: "l", weight: 1, flow: {} }, () => {
      work();
      throw new Error("cannot be read");
    });
  await assert.rejects(names("labelSelector=failing", inTurn), /cannot be read/);
});

test("the initial objects of a watch with a selector can be read in steps", async () => {
  for (const [query, gaps, found] of [
    ["labelSelector=last=true", 4, 1],
    ["", 0, objects],
  ] as const) {
    const request = { namespace: "n", name: "", options: optionsOf(query), initialEvents: true };
    const { scope, initial } = await planWatch(maps.resource, request);
    assert.ok(initial);
    const read = [...scope.objects(initial)];
    assert.deepEqual([read.filter((one) => one === undefined).length, read.filter(Boolean).length], [gaps, found]);
  }
});
