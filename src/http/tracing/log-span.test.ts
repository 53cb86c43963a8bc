/** The text of slow spans. Recorded from k8s.io/utils/trace, with the times replaced. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../apimachinery/clock.ts";
import type { Span } from "../../apimachinery/spans.ts";
import { logSpan } from "./log-span.ts";

interface Log {
  readonly start: (name: string, attributes?: Record<string, string>) => Span;
  /** Moves the time. */
  readonly pass: (ms: number) => void;
  readonly texts: string[];
}

const startedAt = Date.UTC(2026, 10, 30, 16, 30, 49, 737);

function openLog(level: number): Log {
  const texts: string[] = [];
  let passed = 0;
  const parts = {
    clock: { ...systemClock, now: () => startedAt + passed },
    elapsed: () => passed,
    isVerbose: (of: number) => of <= level,
    write: (text: string) => void texts.push(text.replace(/Trace\[\d+\]/g, "Trace[1]")),
  };
  return {
    start: (name, attributes) => logSpan(parts, name, attributes),
    pass(ms) {
      passed += ms;
    },
    texts,
  };
}

function create({ start, pass }: Log): void {
  const span = start("Create", { url: "/a", verb: "POST" });
  pass(12);
  span.addEvent("first", { len: 3 });
  const inner = span.start("Create etcd3", { key: "/k" });
  pass(80);
  inner.addEvent("Txn call succeeded");
  pass(5);
  inner.addEvent("decode succeeded");
  inner.end(50);
  pass(60);
  span.addEvent("last");
  const fast = span.start("SerializeObject");
  fast.addEvent("fast");
  fast.end(500);
  span.end(50);
}

test("a slow span has the steps that took more than their share", () => {
  const log = openLog(2);
  create(log);
  assert.deepEqual(log.texts, [
    `Trace[1]: "Create" url:/a,verb:POST (30-Nov-2026 16:30:49.737) (total time: 157ms):
Trace[1]: ---"first" len:3 12ms (16:30:49.749)
Trace[1]: ["Create etcd3" key:/k 85ms (16:30:49.749)
Trace[1]:  ---"Txn call succeeded" 80ms (16:30:49.829)]
Trace[1]: ---"last" 60ms (16:30:49.894)
Trace[1]: [157ms] [157ms] END
`,
  ]);
});

test("from level 4 on, a slow span has all steps and parts", () => {
  const log = openLog(4);
  create(log);
  assert.deepEqual(log.texts, [
    `Trace[1]: "Create" url:/a,verb:POST (30-Nov-2026 16:30:49.737) (total time: 157ms):
Trace[1]: ---"first" len:3 12ms (16:30:49.749)
Trace[1]: ["Create etcd3" key:/k 85ms (16:30:49.749)
Trace[1]:  ---"Txn call succeeded" 80ms (16:30:49.829)
Trace[1]:  ---"decode succeeded" 5ms (16:30:49.834)]
Trace[1]: ---"last" 60ms (16:30:49.894)
Trace[1]: ["SerializeObject" 0ms (16:30:49.894)
Trace[1]:  ---"fast" 0ms (16:30:49.894)]
Trace[1]: [157ms] [157ms] END
`,
  ]);
});

test("a slow part of a fast span is written alone", () => {
  const { start, pass, texts } = openLog(2);
  const span = start("Get");
  const inner = span.start("cacher.Get");
  pass(30);
  inner.addEvent("read");
  inner.end(20);
  span.end(500);
  assert.deepEqual(texts, [
    `Trace[1]: "cacher.Get" (30-Nov-2026 16:30:49.737) (total time: 30ms):
Trace[1]: ---"read" 30ms (16:30:49.767)
Trace[1]: [30ms] [30ms] END
`,
  ]);
});

test("fast spans, and levels below 2, write nothing", () => {
  const fast = openLog(4);
  fast.start("Get").end(500);
  const quiet = openLog(1);
  create(quiet);
  assert.deepEqual([...fast.texts, ...quiet.texts], []);
});

test("values of clients cannot begin a line, and a span has a bounded number of steps", () => {
  const { start, pass, texts } = openLog(4);
  const span = start("Get", { "user-agent": "a\nE1130 forged\u2028line" });
  for (let at = 0; at < 10_000; at++) span.addEvent("step");
  pass(1000);
  span.end(500);
  const lines = (texts[0] as string).split("\n");
  assert.match(lines[0] as string, /user-agent:a\\nE1130 forged/);
  assert.ok(lines.length < 300, `${lines.length} lines`);
  assert.ok(lines.slice(0, -1).every((line) => line.startsWith("Trace[1]: ")));
});
