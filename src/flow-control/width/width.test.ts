import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { goldenRows } from "../../../test/support/golden-directory.ts";
import { openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import type { WorkEstimate } from "../../lib/fair-queuing/contract.ts";
import { requestInfo } from "../../request/request-info.ts";
import { workEstimator } from "./estimate-work.ts";
import { listWidth } from "./list-width.ts";
import { objectStats } from "./object-stats.ts";
import { WatchCounts } from "./watch-counts.ts";
import { oneSeat, writeWork } from "./write-width.ts";

interface Work {
  readonly InitialSeats: number;
  readonly FinalSeats: number;
  /** Nanoseconds. */
  readonly AdditionalLatency: number;
}

interface WidthRow {
  readonly verb: string;
  readonly name?: string;
  readonly query?: string;
  readonly objects: number;
  readonly objectBytes: number;
  readonly error: string;
  readonly bySize: boolean;
  readonly resource?: string;
  readonly subresource?: string;
  readonly watches: number;
  readonly maxSeats: number;
  readonly work: Work;
}

interface WatchRow {
  readonly watches: readonly { readonly info: Watched; readonly query: string }[];
  readonly write: Watched;
  readonly count: number;
}

interface Watched {
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly verb: string;
}

const rowsOf = <Row>(name: string): Promise<Row[]> => goldenRows(join(import.meta.dirname, `testdata/${name}.jsonl`));

const asUpstream = ({ initialSeats, finalSeats, additionalLatencyMs }: WorkEstimate): Work => ({
  InitialSeats: initialSeats,
  FinalSeats: finalSeats,
  AdditionalLatency: additionalLatencyMs * 1e6,
});

/** What upstream assumes when it cannot count objects. */
const unknown = { count: 1_000_000_000, averageBytes: 1_500_000 };

function statsOf({ error, objects: count, objectBytes: averageBytes }: WidthRow) {
  if (error.includes("not found")) return undefined;
  return error === "" ? { count, averageBytes } : unknown;
}

test("estimates the lists and writes of upstream's tests as upstream does", async () => {
  for (const row of await rowsOf<WidthRow>("width")) {
    const { verb, name = "", query = "", bySize, resource, subresource, watches, maxSeats: seatsMax, work } = row;
    if (verb === "list" || verb === "watch") {
      const options = { bySize, consistentFromCache: false, seatsMax, stats: statsOf(row) };
      const seats = listWidth({ verb, name, query: new URLSearchParams(query) }, options);
      assert.equal(seats, work.InitialSeats, JSON.stringify(row));
    } else {
      const isToken = resource === "serviceaccounts" && subresource === "token";
      assert.deepEqual(asUpstream(isToken ? oneSeat : writeWork(watches, seatsMax)), work, JSON.stringify(row));
    }
  }
});

test("counts the watches of upstream's tests as upstream does", async () => {
  for (const { watches, write, count } of await rowsOf<WatchRow>("watches")) {
    const counts = new WatchCounts();
    const removals = watches.map(({ info, query }) => counts.add({ ...info, query: new URLSearchParams(query) }));
    const isRead = ["get", "list", "watch", "proxy"].includes(write.verb);
    if (!isRead) assert.equal(counts.interestedIn(write), count, JSON.stringify(write));
    for (const remove of removals) remove();
    assert.equal(counts.interestedIn(write), 0);
  }
});

const byCount: [query: string, objects: number, seats: number][] = [
  ["", 0, 1],
  ["", 100, 1],
  ["", 101, 2],
  ["limit=10", 5_000, 10],
  ["limit=10&continue=x", 5_000, 1],
  ["limit=150&continue=x", 5_000, 3],
  ["limit=10&continue=x&labelSelector=a", 400, 5],
];
for (const [query, count, seats] of byCount) {
  test(`counts objects when the gate is off: ?${query} of ${count}`, () => {
    const options = { bySize: false, consistentFromCache: true, seatsMax: 0, stats: { count, averageBytes: 1 } };
    assert.equal(listWidth({ verb: "list", name: "", query: new URLSearchParams(query) }, options), seats);
  });
}

test("estimates requests from stored objects and open watches", async () => {
  const { registry, create, close } = await openMemoryRegistry();
  const defaultNamespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } };
  await create(["/namespaces", ""], defaultNamespace);
  for (let index = 0; index < 30; index++) {
    const metadata = { name: `c${index}`, namespace: "default" };
    await create(["/configmaps", "default"], {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata,
      data: { k: "x".repeat(50_000) },
    });
  }
  await registry.catalog.findResource("", "configmaps")?.store?.cache.ready();
  const watches = new WatchCounts();
  const estimate = workEstimator({
    gates: registry.gates,
    stats: objectStats(registry.catalog, registry.clock),
    watches,
  });
  const seatsOf = (method: string, target: string, seatsMax = 0): WorkEstimate =>
    estimate(requestInfo(method, target), seatsMax, () => {});
  const lists = "/api/v1/configmaps";
  assert.equal(seatsOf("GET", lists).initialSeats, 10);
  assert.equal(seatsOf("GET", `${lists}?limit=4`).initialSeats, 3);
  assert.equal(seatsOf("GET", lists, 5).initialSeats, 5);
  assert.equal(seatsOf("GET", "/api/v1/secrets").initialSeats, 1);
  assert.equal(seatsOf("GET", "/apis/nothing/v1/things").initialSeats, 1);
  assert.equal(seatsOf("GET", `${lists}?watch=1`).initialSeats, 10);
  assert.equal(seatsOf("GET", `${lists}?watch=1&resourceVersion=5`).initialSeats, 1);
  assert.deepEqual(seatsOf("POST", "/api/v1/namespaces/default/configmaps"), oneSeat);
  for (let index = 0; index < 25; index++) watches.add(requestInfo("GET", `${lists}?watch=1`));
  assert.deepEqual(seatsOf("POST", "/api/v1/namespaces/default/configmaps"), {
    initialSeats: 1,
    finalSeats: 3,
    additionalLatencyMs: 5,
  });
  assert.deepEqual(seatsOf("DELETE", lists), oneSeat);
  await close();
});
