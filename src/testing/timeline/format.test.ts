/** The text of a timeline: what its reader sees, and what is folded or left out. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TimelineChange, TimelineEntry, TimelineFault, TimelineRequest, TimelineReview } from "./contract.ts";
import { formatEntries } from "./format.ts";

let sequence = 0;
const base = (at: number): { sequence: number; at: number } => ({ sequence: sequence++, at });

/** A get of the ConfigMap shop/a that is answered after a millisecond. */
function request(at: number, differs: Partial<TimelineRequest> = {}): TimelineRequest {
  return {
    ...base(at),
    kind: "request",
    verb: "get",
    path: "/api/v1/namespaces/shop/configmaps/a",
    group: "",
    version: "v1",
    resource: "configmaps",
    subresource: "",
    namespace: "shop",
    name: "a",
    fieldSelector: "",
    labelSelector: "",
    user: "ann",
    userAgent: "test",
    client: "127.0.0.1",
    code: 200,
    reason: "",
    message: "",
    durationMs: 1,
    dryRun: false,
    events: undefined,
    fault: undefined,
    changes: [],
    moreChanges: 0,
    ...differs,
  };
}

const change = (name: string, differs: Partial<TimelineChange> = {}): TimelineChange => ({
  action: "created",
  apiVersion: "v1",
  kind: "ConfigMap",
  namespace: "shop",
  name,
  fields: [],
  moreFields: 0,
  ...differs,
});
const server = (at: number, name: string, differs: Partial<TimelineChange> = {}): TimelineEntry => ({
  ...base(at),
  kind: "server",
  change: change(name, differs),
});
const created = (at: number, name = "b"): TimelineRequest =>
  request(at, { verb: "create", name: "", code: 201, changes: [change(name)] });
const missing = {
  code: 404,
  reason: "NotFound",
  message: 'configmaps "a" not found',
};
const fault = (at: number, text: string, action: TimelineFault["action"] = "hit"): TimelineEntry => ({
  ...base(at),
  kind: "fault",
  action,
  rule: "fault-1",
  text,
});
const slow = (at: number): TimelineEntry[] => [
  request(at, { fault: "fault-1 latency" }),
  fault(at, "latency for GET /api/v1/namespaces/shop/configmaps/a"),
];

const rows: [what: string, entries: TimelineEntry[], lines: string[]][] = [
  ["a request as a line", [request(1)], ["00:00:00.001 get    configmaps shop/a → 200 1 ms · ann · test"]],
  [
    "equal reads as one line with the last time and the longest duration",
    [request(1), request(2, { durationMs: 9 }), request(1003)],
    ["00:00:00.001 get    configmaps shop/a → 200 × 3 until 00:00:01.003, up to 9 ms · ann · test"],
  ],
  [
    "two polls that alternate as two lines",
    [request(1), request(2, { user: "bob" }), request(3), request(4, { user: "bob" })],
    [
      "00:00:00.001 get    configmaps shop/a → 200 × 2 until 00:00:00.003, up to 1 ms · ann · test",
      "00:00:00.002 get    configmaps shop/a → 200 × 2 until 00:00:00.004, up to 1 ms · bob · test",
    ],
  ],
  [
    "reads before and after a change apart",
    [request(1, missing), request(2, missing), created(3), request(4), request(5)],
    [
      "00:00:00.001 get    configmaps shop/a → 404 NotFound × 2 until 00:00:00.002, up to 1 ms · ann · test",
      "00:00:00.003 create configmaps shop → 201 1 ms · ann · test",
      "    + ConfigMap (v1) shop/b",
      "00:00:00.004 get    configmaps shop/a → 200 × 2 until 00:00:00.005, up to 1 ms · ann · test",
    ],
  ],
  [
    "reads with other answers, of other objects and with faults apart",
    [
      ...[request(1), request(2, { name: "b" }), request(3, { labelSelector: "x=y" }), request(4, { code: 500 })],
      ...[
        ...slow(5),
        ...slow(6),
        request(7),
        fault(8, "cutWatch for GET /api/v1/pods"),
        fault(9, "after 3 hits", "removed"),
      ],
    ],
    [
      "00:00:00.001 get    configmaps shop/a → 200 × 2 until 00:00:00.007, up to 1 ms · ann · test",
      "00:00:00.002 get    configmaps shop/b → 200 1 ms · ann · test",
      "00:00:00.003 get    configmaps shop/a (labels x=y) → 200 1 ms · ann · test",
      "00:00:00.004 get    configmaps shop/a → 500 1 ms · ann · test",
      "00:00:00.005 get    configmaps shop/a → 200 × 2 until 00:00:00.006, up to 1 ms [fault fault-1 latency] · ann · test",
      "00:00:00.008 fault fault-1 hit: cutWatch for GET /api/v1/pods",
      "00:00:00.009 fault fault-1 removed: after 3 hits",
    ],
  ],
  [
    "requests that are not answered, and watches with events, apart",
    [
      ...[request(1, { code: 0, durationMs: undefined }), request(2, { code: 0, durationMs: undefined })],
      ...[request(3, { verb: "watch", events: 1 }), request(4, { verb: "watch", events: 1 })],
      ...[request(5, { verb: "watch", events: 0 }), request(6, { verb: "watch", events: 0 })],
    ],
    [
      "00:00:00.001 get    configmaps shop/a → no answer yet (open) · ann · test",
      "00:00:00.002 get    configmaps shop/a → no answer yet (open) · ann · test",
      "00:00:00.003 watch  configmaps shop/a → 200 1 events 1 ms · ann · test",
      "00:00:00.004 watch  configmaps shop/a → 200 1 events 1 ms · ann · test",
      "00:00:00.005 watch  configmaps shop/a → 200 0 events × 2 until 00:00:00.006, up to 1 ms · ann · test",
    ],
  ],
  [
    "an update that changes nothing, also repeated",
    [request(1, { verb: "update" }), request(2), request(3, { verb: "update" }), request(4)],
    [
      "00:00:00.001 update configmaps shop/a → 200 (no change) × 2 until 00:00:00.003, up to 1 ms · ann · test",
      "00:00:00.002 get    configmaps shop/a → 200 × 2 until 00:00:00.004, up to 1 ms · ann · test",
    ],
  ],
  [
    "the message of an error that says more than the line",
    [
      request(1, { ...missing, name: "" }),
      request(2, { ...missing, message: 'namespaces "shop" not found' }),
      request(3, { verb: "update", dryRun: true }),
    ],
    [
      '00:00:00.001 get    configmaps shop → 404 NotFound (configmaps "a" not found) 1 ms · ann · test',
      '00:00:00.002 get    configmaps shop/a → 404 NotFound (namespaces "shop" not found) 1 ms · ann · test',
      "00:00:00.003 update configmaps shop/a (dry run) → 200 1 ms · ann · test",
    ],
  ],
  [
    "writes of the server only to objects and namespaces that requests are about",
    [
      ...[
        server(1, "kube-root-ca.crt"),
        server(1, "owned"),
        request(2),
        server(3, "a", { action: "deleted" }),
        created(4),
        server(5, "b"),
      ],
      ...[server(6, "b", { namespace: "other" }), server(7, "shop", { namespace: "", kind: "Namespace" })],
      request(8, { resource: "namespaces", name: "shop" }),
    ],
    [
      "00:00:00.001 the server itself",
      "    + ConfigMap (v1) shop/owned",
      "00:00:00.002 get    configmaps shop/a → 200 1 ms · ann · test",
      "00:00:00.003 the server itself",
      "    - ConfigMap (v1) shop/a",
      "00:00:00.004 create configmaps shop → 201 1 ms · ann · test",
      "    + ConfigMap (v1) shop/b",
      "00:00:00.005 the server itself",
      "    + ConfigMap (v1) shop/b",
      "00:00:00.007 the server itself",
      "    + Namespace (v1) shop",
      "00:00:00.008 get    namespaces shop → 200 1 ms · ann · test",
      "(2 writes of the server itself to other objects are left out)",
    ],
  ],
];
for (const [what, entries, lines] of rows) {
  test(`shows ${what}`, () => assert.deepEqual(formatEntries(entries).trimEnd().split("\n"), lines));
}

test("a call of a webhook is a line below its request", () => {
  const review: TimelineReview = {
    ...base(1),
    kind: "review",
    type: "validating",
    configuration: "test-webhook-1",
    webhook: "no.bad.example.com",
    operation: "UPDATE",
    group: "apps",
    resource: "deployments",
    subresource: "scale",
    namespace: "shop",
    name: "web",
    outcome: "denied",
    message: "a bad\u001b color",
    durationMs: 3,
  };
  const object = { group: "", resource: "", subresource: "", namespace: "", name: "" } as const;
  const converted = { webhook: "", configuration: "widgets.example.com", operation: "v1 → v2", message: "" };
  assert.equal(
    formatEntries([review, { ...review, ...object, ...converted, type: "conversion", outcome: "converted" }]),
    "00:00:00.001   validating webhook no.bad.example.com: UPDATE deployments.apps/scale shop/web → denied (a bad\\x1b color) 3 ms\n" +
      "00:00:00.001   conversion webhook widgets.example.com: v1 → v2 → converted 3 ms\n",
  );
});
