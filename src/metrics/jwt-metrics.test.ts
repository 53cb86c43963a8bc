import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import { jwtMetrics } from "./jwt-metrics.ts";

const url = "https://idp.example.com";

test("labels tokens and key sets with hashes of issuers", () => {
  const metrics = jwtMetrics({ clock: manualClock(5000), identity: "apiserver-x", keySets: true });
  metrics.observer.checked(url, true, 2);
  metrics.observer.checked(url, false, 2);
  metrics.observer.fetchedKeys(url, Buffer.from("{}"));
  metrics.observer.fetchedKeys(url, undefined);
  const [latency, times, keySets] = metrics.collect();
  assert.equal(latency?.samples.filter(({ suffix }) => suffix === "_count").length, 2);
  assert.deepEqual(
    times?.samples.map(({ value }) => value),
    [5, 5],
  );
  assert.match(
    keySets?.samples[0]?.labels ?? "",
    /^apiserver_id_hash="sha256:[0-9a-f]{64}",hash="sha256:44136fa355b3678a/,
  );
  assert.ok([latency, times, keySets].every((metric) => !JSON.stringify(metric).includes(url)));
  metrics.forget([url]);
  assert.deepEqual(
    metrics.collect().map(({ samples }) => samples.length > 0),
    [false, false, false],
  );
});

test("records no key sets when they are disabled", () => {
  const metrics = jwtMetrics({ clock: manualClock(), identity: "", keySets: false });
  metrics.observer.fetchedKeys(url, Buffer.from("{}"));
  assert.ok(metrics.collect().every(({ samples }) => samples.length === 0));
});
