import assert from "node:assert/strict";
import { test } from "node:test";
import { CacheCounts, readWaitBounds } from "../watch-cache/counts.ts";
import { cacheMetrics, cacheRows } from "./cache-metrics.ts";

const reads: [source: "cache" | "store", outcome: "succeeded" | "failed", labels: string][] = [
  ["cache", "succeeded", 'fallback="false",group="",resource="pods",success="true"'],
  ["cache", "failed", 'fallback="false",group="",resource="pods",success="false"'],
  ["store", "succeeded", 'fallback="true",group="",resource="pods",success="true"'],
  ["store", "failed", 'fallback="true",group="",resource="pods",success="false"'],
];
for (const [source, outcome, labels] of reads) {
  test(`a consistent list from the ${source} that ${outcome} has the labels ${labels}`, () => {
    const counts = new CacheCounts(5);
    counts.consistentReads[source][outcome] = 3;
    const metrics = cacheMetrics(() => [[{ group: "", resource: "pods" }, counts]])();
    const { samples } = metrics.find(({ name }) => name === "apiserver_watch_cache_consistent_read_total") ?? {};
    assert.deepEqual([...(samples ?? [])], [{ suffix: "", labels, value: 3 }]);
  });
}

test("a loaded cache has a capacity", () => {
  const counts = new CacheCounts(5);
  const capacities = (): unknown => {
    const metrics = cacheMetrics(() => [[{ group: "", resource: "pods" }, counts]])();
    return metrics.find(({ name }) => name === "watch_cache_capacity")?.samples.map(({ value }) => value);
  };
  assert.deepEqual(capacities(), []);
  counts.loads++;
  assert.deepEqual(capacities(), [5]);
});

test("the buckets of waits are those that watch caches count", () =>
  assert.deepEqual(cacheRows.waits.buckets, readWaitBounds));
