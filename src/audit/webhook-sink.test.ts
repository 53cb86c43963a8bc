import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import type { Logger } from "../apimachinery/logger.ts";
import { type PostOptions, type WebhookAnswer, WebhookError } from "../webhook/contract.ts";
import { unionSink } from "./backend-sink.ts";
import { closeMsMax } from "./batch-queue.ts";
import type { AuditCounts, AuditSink, AuditWebhookOptions } from "./contract.ts";
import { checkAuditOptions, defaultAuditOptions } from "./options.ts";
import { sampleEvent } from "./testing/sample-event.ts";
import { webhookSink } from "./webhook-sink.ts";

const silent: Logger = { info() {}, warn() {}, error() {} };
const answerOf = (status: number): WebhookAnswer => ({ status, headers: {}, body: Buffer.alloc(0) });
const connectionRefused = new WebhookError("connect", "dial tcp 127.0.0.1:1: connect: connection refused");
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Setup {
  readonly sink: AuditSink;
  readonly counts: AuditCounts;
  readonly clock: ReturnType<typeof manualClock>;
  /** The posted bodies in order. */
  readonly bodies: string[];
  /** The audit IDs of the events in each post. */
  ids(): string[][];
}

/** @param answer returns the response to a post by its index */
function setup(
  options: Partial<AuditWebhookOptions>,
  answer: (post: number) => WebhookAnswer | Promise<WebhookAnswer> = () => answerOf(200),
): Setup {
  const counts: AuditCounts = { events: 0, rejected: 0, levels: new Map(), errors: new Map() };
  const clock = manualClock();
  const bodies: string[] = [];
  const client = {
    async post(body: string | Uint8Array, { timeoutMs }: PostOptions) {
      assert.equal(timeoutMs, 30_000);
      bodies.push(String(body));
      return answer(bodies.length - 1);
    },
    close() {},
  };
  const sink = webhookSink(
    client,
    { ...defaultAuditOptions.webhook, ...options },
    { counts, clock, logger: silent, random: () => 0 },
  );
  const ids = (): string[][] =>
    bodies.map((body) => JSON.parse(body).items.map(({ auditID }: { auditID: string }) => auditID));
  return { sink, counts, clock, bodies, ids };
}

const { batch, truncate } = defaultAuditOptions.webhook;
const addEvents = (sink: AuditSink, count: number): void => {
  for (let id = 0; id < count; id++) assert.equal(sink.process(sampleEvent({ auditId: String(id) })), true);
};

test("posts an EventList whose items have no kind", async () => {
  const { sink, bodies } = setup({ batch: { ...batch, maxSize: 2 } });
  addEvents(sink, 2);
  await settle();
  const item = (id: string): string =>
    `{"level":"RequestResponse","auditID":"${id}","stage":"ResponseComplete","requestURI":"/x","verb":"get","user":{"username":"ann","groups":["a","b"]},"sourceIPs":["10.0.0.1"],"userAgent":"t","responseStatus":{"metadata":{},"code":200},"requestReceivedTimestamp":"2026-01-02T03:04:05.678000Z","stageTimestamp":"2026-01-02T03:04:05.679000Z"}`;
  assert.deepEqual(bodies, [
    `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${item("0")},${item("1")}]}\n`,
  ]);
});

test("batch: posts a full batch at once, other events after maxWait, and observes the throttle", async () => {
  const { sink, ids, clock } = setup({ batch: { ...batch, maxSize: 2, throttleQps: 1, throttleBurst: 2 } });
  addEvents(sink, 7);
  await settle();
  assert.deepEqual(ids(), [
    ["0", "1"],
    ["2", "3"],
  ]);
  clock.advance(1000);
  await settle();
  assert.deepEqual(ids()[2], ["4", "5"]);
  clock.advance(batch.maxWaitMs);
  await settle();
  assert.deepEqual(ids()[3], ["6"]);
});

test("batch: splits a batch above maxBatchBytes when truncation is enabled", async () => {
  const { sink, ids } = setup({
    batch: { ...batch, maxSize: 4 },
    truncate: { enabled: true, maxEventBytes: 1000, maxBatchBytes: 1000 },
  });
  addEvents(sink, 4); // Some 300 bytes each.
  await settle();
  await sink.close();
  assert.deepEqual(ids(), [["0", "1", "2"], ["3"]]);
});

test("truncates and drops large events", async () => {
  const { sink, bodies, counts } = setup({
    mode: "blocking",
    truncate: { ...truncate, enabled: true, maxEventBytes: 500, maxBatchBytes: 500 },
  });
  await sink.process(sampleEvent({ requestObject: JSON.stringify("x".repeat(500)) }));
  await sink.process(sampleEvent({ requestUri: "/".padEnd(501, "x") }));
  assert.equal(bodies.length, 1);
  const [item] = JSON.parse(bodies[0] as string).items;
  assert.deepEqual([item.requestObject, item.annotations], [undefined, { "audit.k8s.io/truncated": "true" }]);
  assert.equal(counts.errors.get("truncate"), 1);
});

test("tries a failed post five times with delays that grow by 1.5, then counts its events as lost", async () => {
  const answers = [
    () => answerOf(500),
    () => Promise.reject(connectionRefused),
    () => answerOf(404),
    () => answerOf(302),
    () => answerOf(400),
  ];
  const { sink, ids, clock, counts } = setup({ batch: { ...batch, maxSize: 3 } }, (post) =>
    (answers[post] as () => WebhookAnswer)(),
  );
  addEvents(sink, 3);
  await settle();
  for (const [tries, delayMs] of [10_000, 15_000, 22_500, 33_750].entries()) {
    clock.advance(delayMs - 1);
    await settle();
    assert.equal(ids().length, tries + 1);
    clock.advance(1);
    await settle();
  }
  assert.deepEqual(ids(), Array(5).fill(["0", "1", "2"]));
  assert.equal(counts.errors.get("webhook"), 3);
});

test("counts no lost events when a retry succeeds", async () => {
  const { sink, ids, clock, counts } = setup({ batch: { ...batch, maxSize: 1 } }, (post) =>
    answerOf(post === 0 ? 503 : 200),
  );
  addEvents(sink, 1);
  await settle();
  clock.advance(10_000);
  await settle();
  assert.deepEqual([ids(), counts.errors.size], [[["0"], ["0"]], 0]);
});

test("a webhook without responses delays neither requests nor close(); events above the buffer size are counted", async () => {
  const { sink, ids, counts, clock } = setup(
    { batch: { ...batch, bufferSize: 10, maxSize: 2, throttleEnable: false } },
    () => new Promise(() => {}),
  );
  const posts = 64;
  for (let id = 0; id < posts * 2 + 15; id++) {
    assert.equal(sink.process(sampleEvent({ auditId: String(id) })), true);
    await settle();
  }
  assert.equal(ids().length, posts);
  assert.equal(counts.errors.get("buffered"), 5);
  const closed = sink.close();
  await settle();
  clock.advance(closeMsMax);
  await closed;
  assert.equal(counts.errors.get("webhook"), posts * 2 + 10);
  sink.process(sampleEvent());
  assert.equal(counts.errors.get("buffered"), 6);
});

test("close() posts all events without the throttle and retries a failed post once", async () => {
  const { sink, ids, counts } = setup(
    { batch: { ...batch, maxSize: 2, throttleQps: 0.001, throttleBurst: 1 } },
    (post) => answerOf(post === 0 ? 500 : 200),
  );
  addEvents(sink, 5);
  await settle();
  assert.deepEqual(ids(), [["0", "1"]]);
  await sink.close();
  assert.deepEqual(ids().slice(1).sort(), [["0", "1"], ["2", "3"], ["4"]]);
  assert.equal(counts.errors.size, 0);
});

for (const [mode, status, want] of [
  ["blocking", 200, true],
  ["blocking", 500, true],
  ["blocking-strict", 200, true],
  ["blocking-strict", 500, false],
] as const) {
  test(`${mode}: the request waits for a response with ${status} and ${want ? "continues" : "fails"}`, async () => {
    const { sink, ids, counts, clock } = setup({ mode, initialBackoffMs: 1 }, () => answerOf(status));
    const stored = sink.process(sampleEvent());
    assert.ok(stored instanceof Promise);
    for (let tries = 0; tries < 5; tries++) {
      await settle();
      clock.advance(10);
    }
    assert.equal(await stored, want);
    assert.equal(ids().length, status === 200 ? 1 : 5);
    assert.equal(counts.errors.get("webhook"), status === 200 ? undefined : 1);
  });
}

const sinkOf = (result: boolean | Promise<boolean>): AuditSink => ({ process: () => result, close: async () => {} });
const unionRows: [what: string, results: (boolean | Promise<boolean>)[], want: boolean][] = [
  ["one sink", [true], true],
  ["both synchronous", [true, true], true],
  ["one fails", [true, false], false],
  ["one asynchronous", [true, Promise.resolve(true)], true],
  ["one fails asynchronously", [Promise.resolve(false), true], false],
];
for (const [what, results, want] of unionRows) {
  test(`both backends: ${what}`, async () => {
    const result = unionSink(results.map(sinkOf)).process(sampleEvent());
    assert.equal(typeof result === "boolean", !results.some((one) => one instanceof Promise));
    assert.equal(await result, want);
  });
}

const invalidOptions: [what: string, webhook: Partial<AuditWebhookOptions>, want: string][] = [
  ["mode", { mode: "x" }, 'invalid audit webhook mode x, allowed modes are "batch,blocking,blocking-strict"'],
  [
    "batch",
    { batch: { ...batch, maxSize: 0 } },
    "invalid audit batch webhook max batch size 0, must be a positive number",
  ],
  [
    "burst",
    { batch: { ...batch, throttleBurst: 0 } },
    "invalid audit batch webhook throttle burst 0, must be a positive number",
  ],
  [
    "truncation",
    { truncate: { ...truncate, maxEventBytes: 0 }, version: "v1" },
    '[invalid audit truncate webhook max event size 0, must be a positive number, invalid group version, allowed versions are [{"audit.k8s.io" "v1"}]]',
  ],
];
for (const [what, webhook, message] of invalidOptions) {
  test(`options: ${what}`, () => {
    const options = { ...defaultAuditOptions, webhook: { ...defaultAuditOptions.webhook, ...webhook } };
    assert.throws(() => checkAuditOptions({ ...options, webhook: { ...options.webhook, configFile: "x" } }), {
      message,
    });
    checkAuditOptions(options); // Without a file the options are not checked.
  });
}
