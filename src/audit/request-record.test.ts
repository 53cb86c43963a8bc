import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import type { AuditEvent } from "./contract.ts";
import { RequestRecord } from "./request-record.ts";
import { sampleAt, sampleEvent } from "./testing/sample-event.ts";

interface Recorded {
  readonly record: RequestRecord;
  readonly clock: ReturnType<typeof manualClock>;
  readonly annotations: ReadonlyMap<string, string>[];
  readonly events: AuditEvent[];
  readonly warnings: string[];
}

function recorded(changes: Partial<AuditEvent> = {}, level: "Metadata" | "RequestResponse" = "Metadata"): Recorded {
  const clock = manualClock(sampleAt);
  const annotations: ReadonlyMap<string, string>[] = [];
  const events: AuditEvent[] = [];
  const warnings: string[] = [];
  const process = (event: AuditEvent): boolean => {
    annotations.push(new Map(event.annotations));
    events.push({ ...event });
    return true;
  };
  const counts = { events: 0, rejected: 0, levels: new Map(), errors: new Map() };
  const record = new RequestRecord(
    sampleEvent(changes),
    { level, omitStages: new Set(), omitManagedFields: false },
    {
      sink: { process, close: async () => {} },
      counts,
      clock,
      logger: { info() {}, warn: (text) => warnings.push(text), error() {} },
    },
  );
  return { record, clock, annotations, events, warnings };
}

test("keeps the first value of an annotation and logs another value", () => {
  const { record, annotations, warnings } = recorded();
  record.annotate("a/b", "1");
  record.annotate("a/b", "1");
  record.annotate("a/b", "2");
  record.received();
  assert.deepEqual(annotations, [new Map([["a/b", "1"]])]);
  assert.deepEqual(warnings, ['Failed to set annotations["a/b"] to "2" for audit:"1", it has already been set to "1"']);
});

test("limits annotations by number and by size", () => {
  const { record, annotations, warnings } = recorded();
  record.annotate("long", "x".repeat(70_000));
  for (let count = 0; count < 130; count++) record.annotate(`a/${count}`, "");
  record.received();
  assert.equal(annotations[0]?.size, 128);
  assert.equal(warnings.length, 3);
  assert.match(
    warnings[0] as string,
    /^Failed to set annotations\["long"\] to "x{256}" for audit:"1", they would be longer than 65536$/,
  );
});

for (const [characters, want] of [
  [16 << 20, false],
  [(16 << 20) + 1, true],
] as const) {
  test(`${want ? "omits" : "records"} a response of ${characters} characters`, async () => {
    const { record, events, annotations } = recorded({}, "RequestResponse");
    record.responseObject(() => "x".repeat(characters));
    await record.completed(200);
    assert.equal(events[0]?.responseObject === undefined, want);
    assert.equal(annotations[0]?.get("audit.k8s.io/truncated"), want ? "true" : undefined);
  });
}

const latencyRows: [what: string, event: Partial<AuditEvent>, totalMs: number, want: Record<string, string>][] = [
  ["none for a request of 500 ms", {}, 500, {}],
  [
    "for a request above 500 ms",
    {},
    1501,
    {
      "apiserver.latency.k8s.io/authorization": "450ms",
      "apiserver.latency.k8s.io/authentication": "3ms",
      "apiserver.latency.k8s.io/total": "1.501s",
    },
  ],
  ["none for a watch", { verb: "watch" }, 1501, {}],
];
for (const [what, event, totalMs, want] of latencyRows) {
  test(`latencies: ${what}`, () => {
    const { record, clock, annotations } = recorded(event);
    record.spent("authentication", 3);
    for (const ms of [200, 250]) {
      const done = record.timing("authorization");
      clock.advance(ms);
      done();
    }
    record.timing("etcd")();
    clock.advance(totalMs - 450);
    record.completed(200);
    assert.deepEqual(Object.fromEntries(annotations[0] as ReadonlyMap<string, string>), want);
  });
}

test("records an internal error in the stage Panic and ignores the Status of the response", () => {
  const { record, events } = recorded();
  record.panicked("boom");
  record.responseStatus({ status: "Failure", message: "Internal error", code: 500 });
  record.completed(500);
  record.completed(0); // The connection closes.
  assert.deepEqual(
    events.map(({ stage, responseStatus }) => [stage, responseStatus]),
    [["Panic", { status: "Failure", message: "APIServer panic'd: boom", reason: "InternalError", code: 500 }]],
  );
});

test("records a connection that the client closed before the response", () => {
  const { record, events } = recorded();
  record.completed(0);
  assert.deepEqual(events[0]?.responseStatus, { status: "Success", message: "Connection closed early", code: 200 });
});
