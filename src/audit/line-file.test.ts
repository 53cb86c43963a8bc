import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import { skipWithout } from "../../test/support/needs.ts";
import { passTurns } from "../../test/support/pass-turns.ts";
import type { Logger } from "../apimachinery/logger.ts";
import { closeMsMax } from "./batch-queue.ts";
import type { AuditCounts } from "./contract.ts";
import { LineFile, openForLines } from "./line-file.ts";
import { type LineWriter, logSink } from "./log-sink.ts";
import { defaultAuditOptions } from "./options.ts";
import { RotatingFile } from "./rotating-file.ts";
import { sampleEvent } from "./testing/sample-event.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-line-file-"));
after(() => rmSync(directory, { recursive: true, force: true }));
const silent: Logger = { info() {}, warn() {}, error() {} };
const needsPipes = skipWithout("shell");

function pipe(name: string): string {
  const path = join(directory, name);
  execFileSync("mkfifo", [path]);
  return path;
}

function rotating(path: string, clock = manualClock()): RotatingFile {
  return new RotatingFile({ path, bytesMax: 1000, backupsMax: 0, ageMsMax: 0, compress: false, clock, logger: silent });
}

test("appends whole lines, also after a partial write", async () => {
  const path = join(directory, "plain.log");
  const file = new LineFile(openForLines(path), manualClock());
  file.writeNow(file.bytesOf("one\n"));
  file.writeNow(file.bytesOf("tw")); // Simulates a partial write.
  await file.write(file.bytesOf("three\n"));
  assert.deepEqual([file.size, file.isRegular, readFileSync(path, "utf8")], [13, true, "one\ntw\nthree\n"]);
  file.close();
  await assert.rejects(file.write(Buffer.from("four\n")), /closed before/);
});

test("starts a new line when the file ends within a line", async () => {
  const path = join(directory, "cut.log");
  writeFileSync(path, "one\ntw");
  for (const [text, want] of [
    ["three\n", "one\ntw\nthree\n"],
    ["four\n", "one\ntw\nthree\nfour\n"],
  ] as const) {
    const file = rotating(path);
    file.writeNow(text);
    await file.close();
    assert.equal(readFileSync(path, "utf8"), want);
  }
});

test("a pipe without a reader: opening does not block, writing to a full pipe fails, and it is never rotated", {
  skip: needsPipes,
}, async () => {
  const file = rotating(pipe("blocking"));
  const line = `${"x".repeat(999)}\n`;
  assert.throws(() => {
    for (let count = 0; count < 1000; count++) file.writeNow(line);
  }, /EAGAIN/);
  await file.close();
});

test("batch mode, a pipe without a reader: requests do not wait, lost events are counted, and close() resolves", {
  skip: needsPipes,
}, async () => {
  const path = pipe("batch");
  const clock = manualClock();
  const counts: AuditCounts = { events: 0, rejected: 0, levels: new Map(), errors: new Map() };
  const options = {
    ...defaultAuditOptions.log,
    mode: "batch",
    batch: { ...defaultAuditOptions.log.batch, bufferSize: 100 },
  };
  const file = rotating(path, clock);
  const firstWrite = Promise.withResolvers<void>();
  const writer: LineWriter = {
    writeNow: (text) => file.writeNow(text),
    write: (text) => file.write(text).then(firstWrite.resolve),
    close: () => file.close(),
  };
  const sink = logSink(writer, options, { counts, clock, logger: silent });
  assert.equal(sink.process(sampleEvent()), true);
  await firstWrite.promise; // The pipe has room for this event, but not for all that follow.
  for (let count = 1; count < 2000; count++) {
    assert.equal(sink.process(sampleEvent()), true);
    if (count % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const dropped = counts.errors.get("buffered") ?? 0;
  assert.ok(dropped > 0);
  const closed = sink.close();
  await passTurns(20);
  clock.advance(closeMsMax);
  await closed;
  const kept = 2000 - dropped - (counts.errors.get("log") ?? 0);
  assert.ok(kept > 0 && (counts.errors.get("log") ?? 0) > 0);
});

test("batch mode: a pipe with a late reader receives everything", { skip: needsPipes }, async () => {
  const path = pipe("late");
  const clock = manualClock();
  const file = new LineFile(openForLines(path), clock);
  const text = "y".repeat(300_000);
  const written = file.write(file.bytesOf(text));
  const reader = openSync(path, "r");
  const buffer = Buffer.alloc(1 << 16);
  let read = 0;
  while (read < text.length) {
    await passTurns(5);
    clock.advance(50);
    await passTurns(5);
    read += readSync(reader, buffer);
  }
  await written;
  assert.equal(read, text.length);
  file.close();
});
