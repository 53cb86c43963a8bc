import assert from "node:assert/strict";
import { test } from "node:test";
import { Integrator, noSeatDemand, updateSeatDemand } from "./seat-demand.ts";

// Upstream's test: fairqueuing/integrator_test.go.
test("integrates a value over time, and starts again from the current value", () => {
  let now = 0;
  const integrator = new Integrator(() => now);
  integrator.set(3);
  now += 1000;
  const expected = { seconds: 1, average: 3, deviation: 0, min: 0, max: 3 };
  assert.deepEqual(integrator.results(), expected);
  assert.deepEqual(integrator.reset(), expected);
  integrator.set(2);
  assert.deepEqual(integrator.results(), { seconds: 0, average: Number.NaN, deviation: Number.NaN, min: 2, max: 3 });
  now += 1;
  integrator.set(1);
  now += 1;
  assert.deepEqual(integrator.results(), { seconds: 0.002, average: 1.5, deviation: 0.5, min: 1, max: 3 });
});

test("smoothed demand rises at once and falls slowly", () => {
  const peak = { seconds: 10, average: 8, deviation: 2, min: 0, max: 12.4 };
  const risen = updateSeatDemand(noSeatDemand, peak);
  assert.deepEqual(risen, { average: 8, deviation: 2, highWatermark: 12, smoothed: 10 });
  let stats = risen;
  const quiet = { seconds: 10, average: 0, deviation: Number.NaN, min: 0, max: 0 };
  for (let period = 0; period < 30; period++) stats = updateSeatDemand(stats, quiet);
  assert.ok(stats.smoothed > 4.9 && stats.smoothed < 5.1, `half of it is left after 5 minutes, not ${stats.smoothed}`);
});

test("a period without time changes only the high watermark", () => {
  const none = { seconds: 0, average: Number.NaN, deviation: Number.NaN, min: 0, max: 7 };
  assert.deepEqual(updateSeatDemand({ ...noSeatDemand, smoothed: 3 }, none), {
    ...noSeatDemand,
    smoothed: 3,
    highWatermark: 7,
  });
});
