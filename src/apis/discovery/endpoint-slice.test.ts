import assert from "node:assert/strict";
import { test } from "node:test";
import { updated } from "../../../test/support/strategy-driver.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { endpointSlice } from "./endpoint-slice.ts";

test("a change of labels increments the generation", () => {
  const withLabels = (labels: Record<string, string>): KubeObject => ({ metadata: { labels } });
  const raises = (labels: Record<string, string>): boolean =>
    endpointSlice.raisesGeneration(withLabels(labels), withLabels({ a: "1" }));
  assert.deepEqual([raises({ a: "1" }), raises({ a: "2" }), raises({})], [false, true, true]);
});

test("drops topology when endpoints change, and increments the generation", () => {
  const before = { addressType: "IPv4", metadata: { generation: 1 }, endpoints: [{ addresses: ["10.0.0.1"] }] };
  const { object } = updated(endpointSlice, before, (next) => {
    next.endpoints[0].deprecatedTopology = { "kubernetes.io/hostname": "n" };
  });
  assert.deepEqual([object.metadata.generation, object.endpoints], [2, [{ addresses: ["10.0.0.1"] }]]);
});
