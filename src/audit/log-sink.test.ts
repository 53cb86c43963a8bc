import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { manualClock } from "../../test/support/manual-clock.ts";
import type { Logger } from "../apimachinery/logger.ts";
import type { AuditCounts, AuditEvent, AuditLogOptions, AuditSink } from "./contract.ts";
import { type LineWriter, logSink } from "./log-sink.ts";
import { checkAuditOptions, defaultAuditOptions } from "./options.ts";
import { RotatingFile } from "./rotating-file.ts";
import { sampleAt, sampleEvent } from "./testing/sample-event.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-audit-log-"));
after(() => rmSync(directory, { recursive: true, force: true }));

const silent: Logger = { info() {}, warn() {}, error() {} };
interface Setup {
  readonly sink: AuditSink;
  readonly counts: AuditCounts;
  readonly clock: ReturnType<typeof manualClock>;
  readonly written: string[];
}

/** @param writer replaces methods of a writer that collects the texts */
function setup(options: Partial<AuditLogOptions>, writer: Partial<LineWriter> = {}): Setup {
  const counts: AuditCounts = { events: 0, rejected: 0, levels: new Map(), errors: new Map() };
  const clock = manualClock(sampleAt);
  const written: string[] = [];
  const writeNow = (text: string): void => void written.push(text);
  const collecting: LineWriter = { writeNow, write: async (text) => writeNow(text), close: async () => {}, ...writer };
  return {
    sink: logSink(collecting, { ...defaultAuditOptions.log, ...options }, { counts, clock, logger: silent }),
    counts,
    clock,
    written,
  };
}

const legacyRows: [what: string, event: Partial<AuditEvent>, want: string][] = [
  [
    "all fields",
    {
      objectRef: {
        resource: "pods",
        namespace: "n",
        name: "",
        uid: "",
        apiGroup: "",
        apiVersion: "v1",
        resourceVersion: "",
        subresource: "",
      },
    },
    String.raw`2026-01-02T03:04:05.678Z AUDIT: id="1" stage="ResponseComplete" ip="10.0.0.1" method="get" user="ann" groups="\"a\",\"b\"" as="<self>" asgroups="<lookup>" user-agent="t" namespace="n" uri="/x" response="200"`,
  ],
  [
    "few fields",
    { user: undefined, sourceIps: [], responseStatus: undefined, requestReceivedAt: sampleAt - 678, userAgent: "" },
    `2026-01-02T03:04:05Z AUDIT: id="1" stage="ResponseComplete" ip="<unknown>" method="get" user="<none>" groups="<none>" as="<self>" asgroups="<lookup>" user-agent="" namespace="<none>" uri="/x" response="<deferred>"`,
  ],
  [
    "impersonation",
    { impersonatedUser: { name: "bob", uid: "", groups: ["c"], extra: new Map() } },
    String.raw`2026-01-02T03:04:05.678Z AUDIT: id="1" stage="ResponseComplete" ip="10.0.0.1" method="get" user="ann" groups="\"a\",\"b\"" as="bob" asgroups="\"c\"" user-agent="t" namespace="<none>" uri="/x" response="200"`,
  ],
];
for (const [what, event, want] of legacyRows) {
  test(`legacy: ${what}`, () => {
    const { sink, written } = setup({ format: "legacy" });
    sink.process(sampleEvent(event));
    assert.deepEqual(written, [`${want}\n`]);
  });
}

const truncate = { enabled: true, maxEventBytes: 700, maxBatchBytes: 700 };
const objects = { requestObject: `"${"x".repeat(400)}"`, responseObject: `"${"y".repeat(400)}"` };
const truncateRows: [what: string, event: Partial<AuditEvent>, want: "whole" | "cut" | "lost"][] = [
  ["below the limit", { requestObject: '"x"' }, "whole"],
  ["above the limit because of its objects", objects, "cut"],
  ["above the limit without its objects", { ...objects, requestUri: "/".padEnd(800, "x") }, "lost"],
  ["above the limit at level Metadata", { level: "Metadata", requestUri: "/".padEnd(800, "x") }, "lost"],
];
for (const [what, event, want] of truncateRows) {
  test(`truncation: ${what}`, () => {
    const { sink, written, counts } = setup({ truncate });
    assert.equal(sink.process(sampleEvent(event)), true);
    const line = written[0] === undefined ? undefined : JSON.parse(written[0]);
    assert.deepEqual(line === undefined, want === "lost");
    assert.deepEqual(line?.annotations, want === "cut" ? { "audit.k8s.io/truncated": "true" } : undefined);
    assert.equal("requestObject" in (line ?? {}), want === "whole");
    assert.equal(counts.errors.get("truncate"), want === "lost" ? 1 : undefined);
  });
}

const failing: Partial<LineWriter> = {
  writeNow() {
    throw new Error("ENOSPC: no space left on device, write");
  },
};
for (const [mode, want] of [
  ["blocking", true],
  ["blocking-strict", false],
] as const) {
  test(`${mode}: a failed write ${want ? "does not fail" : "fails"} the request`, () => {
    const { sink, counts } = setup({ mode }, failing);
    assert.equal(sink.process(sampleEvent()), want);
    assert.equal(counts.errors.get("log"), 1);
  });
}

test("batch: a slow disk does not delay requests; events above the buffer size are counted; close() writes the rest", async () => {
  const written: string[] = [];
  let release: () => void = () => {};
  const slow = new Promise<void>((resolve) => {
    release = resolve;
  });
  const write = async (text: string): Promise<void> => {
    await slow;
    written.push(text);
  };
  const { sink, counts } = setup(
    { mode: "batch", batch: { ...defaultAuditOptions.log.batch, bufferSize: 10 } },
    { write },
  );
  for (let count = 0; count < 15; count++) assert.equal(sink.process(sampleEvent({ auditId: String(count) })), true);
  assert.deepEqual([written, counts.errors.get("buffered")], [[], 5]);
  release();
  await sink.close();
  const ids = written
    .join("")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).auditID);
  assert.deepEqual(
    ids,
    Array.from({ length: 10 }, (_, id) => String(id)),
  );
  sink.process(sampleEvent());
  assert.equal(counts.errors.get("buffered"), 6);
});

test("batch: waits for a full batch or maxWait, and for the throttle", async () => {
  const batch = {
    bufferSize: 100,
    maxSize: 3,
    maxWaitMs: 1000,
    throttleEnable: true,
    throttleQps: 1,
    throttleBurst: 1,
  };
  const { sink, clock, written } = setup({ mode: "batch", batch });
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const sizes = (): number[] => written.map((text) => text.trimEnd().split("\n").length);
  sink.process(sampleEvent());
  await settle();
  assert.deepEqual(sizes(), []);
  clock.advance(1000);
  await settle();
  assert.deepEqual(sizes(), [1]);
  for (let count = 0; count < 7; count++) sink.process(sampleEvent());
  await settle();
  assert.deepEqual(sizes(), [1]); // No token is left.
  clock.advance(1000);
  await settle();
  assert.deepEqual(sizes(), [1, 3]);
  await sink.close();
  assert.deepEqual(sizes(), [1, 3, 3, 1]);
});

test("rotates a full file, removes backups above the number and age limits, and compresses the others", async () => {
  const path = join(directory, "rotated", "audit.log");
  const clock = manualClock(sampleAt);
  const options = { path, bytesMax: 10, backupsMax: 2, ageMsMax: 60_000, compress: true, clock, logger: silent };
  const file = new RotatingFile(options);
  for (const text of ["one\n", "two\n", "three\n", "four\n", "five\n", "six\n", "seven\n"]) {
    file.writeNow(text);
    clock.advance(1000);
  }
  assert.throws(() => file.writeNow("much too long\n"), /write length 14 exceeds maximum file size 10/);
  await file.close();
  const names = (): string[] => readdirSync(join(directory, "rotated")).sort();
  assert.deepEqual(names(), [
    "audit-2026-01-02T03-04-08.678.log.gz",
    "audit-2026-01-02T03-04-10.678.log.gz",
    "audit.log",
  ]);
  const gunzipped = names().map((name) => {
    const bytes = readFileSync(join(directory, "rotated", name));
    return String(name.endsWith(".gz") ? gunzipSync(bytes) : bytes);
  });
  assert.deepEqual(gunzipped, ["three\n", "four\nfive\n", "six\nseven\n"]);
  clock.advance(60_000);
  await new RotatingFile(options).close();
  assert.deepEqual(names(), ["audit.log"]);
});

const invalidOptions: [what: string, log: Partial<AuditLogOptions>, want: string][] = [
  ["mode", { mode: "x" }, 'invalid audit log mode x, allowed modes are "batch,blocking,blocking-strict"'],
  ["format", { format: "x" }, 'invalid audit log format x, allowed formats are "legacy,json"'],
  [
    "ages",
    { maxAgeDays: -1, maxSizeMib: -2 },
    "[--audit-log-maxage -1 can't be a negative number, --audit-log-maxsize -2 can't be a negative number]",
  ],
  [
    "buffer",
    { mode: "batch", batch: { ...defaultAuditOptions.log.batch, bufferSize: 0 } },
    "invalid audit batch log buffer size 0, must be a positive number",
  ],
  [
    "throttle",
    { mode: "batch", batch: { ...defaultAuditOptions.log.batch, throttleEnable: true } },
    "invalid audit batch log throttle QPS 0, must be a positive number",
  ],
  [
    "truncation",
    { truncate: { enabled: false, maxEventBytes: 2, maxBatchBytes: 1 } },
    "invalid audit truncate log max batch size 1, must be greater than max event size (2)",
  ],
  [
    "version",
    { version: "audit.k8s.io/v1beta1" },
    'invalid group version, allowed versions are [{"audit.k8s.io" "v1"}]',
  ],
];
for (const [what, log, message] of invalidOptions) {
  test(`options: ${what}`, () => {
    const options = { ...defaultAuditOptions, log: { ...defaultAuditOptions.log, ...log } };
    assert.throws(() => checkAuditOptions({ ...options, log: { ...options.log, path: "-" } }), { message });
    checkAuditOptions(options); // Without a path the options are not checked.
  });
}
