import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type MemoryRegistry, openMemoryRegistry } from "../../test/support/memory-registry.ts";
import type { Resolved, ResourceStore } from "../catalog/contract.ts";
import { parseListOptions } from "../request/list-options.ts";
import type { Entry, Snapshot } from "../watch-cache/contract.ts";
import { listEntries } from "./list.ts";
import { planWatch } from "./watch.ts";

let memory: MemoryRegistry;
let pods: Resolved;
const namespaces = ["m", "n", "n-2", "n0"];

before(async () => {
  memory = await openMemoryRegistry();
  pods = memory.registry.catalog.find("", "v1", "pods") as Resolved;
  for (const namespace of namespaces) {
    await memory.create(["/namespaces", ""], { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    for (let index = 0; index < 9; index++) {
      const spec = { containers: [{ name: "c", image: "i" }], ...(index < 6 && { nodeName: `node-${index % 3}` }) };
      await memory.create(["/pods", namespace], {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: `p${index}`, labels: { l: `${index}` } },
        spec,
      });
    }
  }
});
after(() => memory.close());

const rows: [what: string, namespace: string, query: string, want: string, looked: number][] = [
  ["a node's pods", "n", "fieldSelector=spec.nodeName%3Dnode-1", "n/p1 n/p4", 2],
  ["pods without a node", "n", "fieldSelector=spec.nodeName%3D", "n/p6 n/p7 n/p8", 3],
  [
    "a node's pods in all namespaces",
    "",
    "fieldSelector=spec.nodeName%3Dnode-1",
    "m/p1 m/p4 n-2/p1 n-2/p4 n/p1 n/p4 n0/p1 n0/p4",
    8,
  ],
  [
    "some of a node's pods",
    "",
    "fieldSelector=spec.nodeName%3Dnode-1&labelSelector=l%3D4",
    "m/p4 n-2/p4 n/p4 n0/p4",
    8,
  ],
  ["a node without pods", "", "fieldSelector=spec.nodeName%3Dnode-9", "", 0],
  ["pods not on one node", "n", "fieldSelector=spec.nodeName!%3Dnode-1&labelSelector=l%3D2", "n/p2", 9],
  ["one name in a namespace", "n", "fieldSelector=metadata.name%3Dp3", "n/p3", 1],
  ["one name in all namespaces", "", "fieldSelector=metadata.name%3Dp3", "m/p3 n-2/p3 n/p3 n0/p3", 8],
  ["an absent name", "", "fieldSelector=metadata.name%3Dq", "", 4],
  ["one name on one node", "", "fieldSelector=metadata.name%3Dp3,spec.nodeName%3Dnode-1", "", 8],
  ["a namespace", "n", "labelSelector=l%3D1", "n/p1", 9],
];

/** Counts the entries that are read. */
function counted(snapshot: Snapshot): { snapshot: Snapshot; looked: () => number } {
  let looked = 0;
  function* each(entries: Iterable<Entry>): IterableIterator<Entry> {
    for (const entry of entries) {
      looked++;
      yield entry;
    }
  }
  const one = (entry: Entry | undefined): Entry | undefined => {
    if (entry !== undefined) looked++;
    return entry;
  };
  return {
    snapshot: {
      ...snapshot,
      get: (key) => one(snapshot.get(key)),
      range: (prefix, from) => each(snapshot.range(prefix, from)),
      find: (field, value, prefix, from) => {
        const found = snapshot.find(field, value, prefix, from);
        return found && each(found);
      },
    },
    looked: () => looked,
  };
}

const show = (entries: Iterable<Entry | undefined>): string =>
  [...entries]
    .flatMap((entry) => (entry === undefined ? [] : `${entry.index.namespace}/${entry.index.name}`))
    .join(" ");

for (const [what, namespace, query, want, looked] of rows) {
  test(`list, watch and chunks read few entries for ${what}`, async () => {
    const options = (more = ""): ReturnType<typeof parseListOptions> =>
      parseListOptions(new URLSearchParams(`${query}${more}`));
    const { cache } = pods.resource.store as ResourceStore;
    const count = counted(await cache.current());
    const plan = await planWatch(pods.resource, { namespace, name: "", options: options(), initialEvents: true });
    assert.equal(show(plan.scope.objects(count.snapshot)), want);
    assert.equal(count.looked(), looked, "entries looked at");
    assert.equal(show((await listEntries(pods.resource, namespace, options())).entries), want);
    const chunks: string[] = [];
    let next: string | undefined = "";
    while (next !== undefined) {
      const { entries, meta } = await listEntries(pods.resource, namespace, options(`&limit=1&continue=${next}`));
      chunks.push(show(entries));
      next = meta.continue;
    }
    assert.equal(chunks.filter((chunk) => chunk !== "").join(" "), want, "the last chunk can be empty");
  });
}

test("notifies each of a thousand watches of one node or object only of its own events", async () => {
  const { cache } = pods.resource.store as ResourceStore;
  const received: string[] = [];
  const { revision } = await cache.current();
  for (let index = 0; index < 500; index++) {
    for (const field of [`spec.nodeName%3Dnode-${index}`, `metadata.name%3Dp${index}`]) {
      const options = parseListOptions(
        new URLSearchParams(`watch=1&resourceVersion=${revision}&fieldSelector=${field}`),
      );
      const { scope } = await planWatch(pods.resource, { namespace: "", name: "", options, initialEvents: true });
      cache.subscribe(
        revision,
        { events: (batch) => void received.push(`${field.split("%3D")[1]} ${batch.length}`), end() {} },
        scope.topic,
      );
    }
  }
  await memory.change(["/pods", "n"], "p4", (object) => {
    object.metadata.labels = { l: "new" };
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(received.sort(), ["node-1 1", "p4 1"]);
});
