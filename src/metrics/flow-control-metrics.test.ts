import assert from "node:assert/strict";
import { test } from "node:test";
import { formatMetrics } from "./exposition.ts";
import { flowControlMetrics } from "./flow-control-metrics.ts";

const progress = {
  current: 1,
  dispatch: 2,
  latestStart: 3,
  nextStartMin: 4,
  nextStartMax: 5,
  discountedMin: 6,
  discountedMax: 7,
};

/** Metrics at a time that the test chooses, in milliseconds. */
function metricsAt() {
  const time = { now: 0 };
  const { observer, collect } = flowControlMetrics(() => time.now);
  return { time, observer, text: (): string => formatMetrics(collect()) };
}

test("current requests are the most within the last full second", () => {
  const { time, observer, text } = metricsAt();
  const current = (): string[] =>
    [...text().matchAll(/^apiserver_current_(\w+)_requests{request_kind="readOnly"} (\d+)/gm)].map(
      ([, phase, value]) => `${phase} ${value}`,
    );
  observer.executing("readOnly", 1);
  observer.executing("readOnly", 1);
  observer.waiting("readOnly", 1);
  observer.executing("readOnly", -1);
  assert.deepEqual(current(), ["inflight 0", "inqueue 0"]);
  time.now = 1_500;
  assert.deepEqual(current(), ["inflight 2", "inqueue 1"]);
  time.now = 2_500;
  assert.deepEqual(current(), ["inflight 1", "inqueue 1"]);
  observer.executing("readOnly", -1);
  time.now = 9_000;
  assert.deepEqual(current(), ["inflight 0", "inqueue 1"]);
});

test("ratios are weighted by their time in nanoseconds", () => {
  const { time, observer, text } = metricsAt();
  const level = observer.level("l", () => progress);
  const demand = { demandAverage: 0, demandDeviation: 0, demandHighWatermark: 0, demandSmoothed: 0 };
  level.adjusted({ current: 4, denominator: 4, target: 2.5, ...demand });
  level.seatsInUse(1, time.now);
  time.now = 2;
  level.seatsInUse(4, time.now);
  time.now = 3;
  const samples = text();
  for (const line of [
    'apiserver_flowcontrol_priority_level_seat_utilization_bucket{phase="executing",priority_level="l",le="0.2"} 0',
    'apiserver_flowcontrol_priority_level_seat_utilization_bucket{phase="executing",priority_level="l",le="0.3"} 2e+06',
    'apiserver_flowcontrol_priority_level_seat_utilization_sum{phase="executing",priority_level="l"} 1.5e+06',
    'apiserver_flowcontrol_priority_level_seat_utilization_count{phase="executing",priority_level="l"} 3e+06',
    'apiserver_flowcontrol_next_s_bounds{priority_level="l",bound="max"} 5',
  ])
    assert.ok(samples.includes(`${line}\n`), line);
  assert.match(samples, /target_seats{priority_level="l"} 2.5\n/);
});

test("series go with the level and the flow schema that they name", () => {
  const { observer, text } = metricsAt();
  const level = observer.level("l", () => progress);
  const schema = level.schema("s");
  schema.dispatched();
  assert.match(text(), /dispatched_requests_total{priority_level="l",flow_schema="s"} 1/);
  schema.removed();
  assert.doesNotMatch(text(), /flow_schema="s"/);
  assert.match(text(), /current_limit_seats{priority_level="l"} 0/);
  level.removed();
  assert.doesNotMatch(text(), /priority_level="l"/);
});
