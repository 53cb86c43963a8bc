/** The file of a recording while it grows, and afterwards. */
import assert from "node:assert/strict";
import { lstatSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openRecordingFile } from "./recording-file.ts";

const directory = mkdtempSync(join(tmpdir(), "recording-file-"));
after(() => rmSync(directory, { recursive: true }));

let files = 0;
const newPath = (): string => join(directory, `${files++}.jsonl`);
const partial = '{"format":"coxswain-recording","version":2,"isPartial":true}\n';
const complete = '{"format":"coxswain-recording","version":2}\n';

test("each line is in the private file at once, and the complete recording replaces the file", async () => {
  const path = newPath();
  const file = openRecordingFile(path, { replace: false });
  assert.equal(readFileSync(path, "utf8"), partial);
  file.append("one");
  file.append("two");
  assert.equal(readFileSync(path, "utf8"), `${partial}one\ntwo\n`);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  await file.finish((line) => line.toUpperCase());
  await file.close();
  assert.equal(readFileSync(path, "utf8"), `${complete}ONE\nTWO\n`);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("an existing file is kept, unless it may be replaced", async () => {
  const path = newPath();
  writeFileSync(path, "before", { mode: 0o644 });
  assert.throws(() => openRecordingFile(path, { replace: false }), /exists already: --force replaces it$/);
  assert.equal(readFileSync(path, "utf8"), "before");
  const file = openRecordingFile(path, { replace: true });
  assert.equal(readFileSync(path, "utf8"), partial);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  await file.close();
});

for (const exists of [true, false]) {
  test(`a link to ${exists ? "a file" : "nothing"} is replaced or rejected, and not followed`, async () => {
    const [path, target] = [newPath(), newPath()];
    symlinkSync(target, path);
    if (exists) writeFileSync(target, "before");
    assert.throws(() => openRecordingFile(path, { replace: false }), /exists already/);
    const file = openRecordingFile(path, { replace: true });
    file.append("one");
    await file.finish((line) => line);
    await file.close();
    assert.ok(lstatSync(path).isFile());
    assert.equal(lstatSync(target, { throwIfNoEntry: false }) !== undefined, exists);
    if (exists) assert.equal(readFileSync(target, "utf8"), "before");
  });
}

test("a file that another program truncates is an error", async () => {
  const path = newPath();
  const file = openRecordingFile(path, { replace: false });
  writeFileSync(path, "");
  await assert.rejects(
    file.finish((line) => line),
    /truncated by another program/,
  );
  await file.close();
});
