import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../apimachinery/object.ts";
import { endpointSlice } from "./endpoint-slice.ts";

test("a change of labels increments the generation", () => {
  const withLabels = (labels: Record<string, string>): KubeObject => ({ metadata: { labels } });
  const raises = (labels: Record<string, string>): boolean =>
    endpointSlice.raisesGeneration(withLabels(labels), withLabels({ a: "1" }));
  assert.deepEqual([raises({ a: "1" }), raises({ a: "2" }), raises({})], [false, true, true]);
});
