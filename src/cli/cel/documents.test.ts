/** The files of commands. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readDocument, readDocuments } from "./documents.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-documents-"));
after(() => rmSync(directory, { recursive: true, force: true }));
const file = join(directory, "file.yaml");

const rejected: [title: string, content: string, message: RegExp][] = [
  ["a repeated key", "a: 1\nb: {c: 1, c: 2}\n", /^InputError: .*file\.yaml: .*line 2: key "c" already set in map$/s],
  ["a repeated key in the second document", "a: 1\n---\na: 1\na: 2\n", /line 4: key "a" already set in map$/],
  ["more than the limit", `a: "${"x".repeat(1 << 20)}"`, /^InputError: .*file\.yaml has more than 1 MiB$/],
];
for (const [title, content, message] of rejected) {
  test(`${title} is rejected`, () => {
    writeFileSync(file, content);
    assert.throws(() => readDocuments(file, 1), message);
  });
}

test("a device without an end is read up to the limit", () => {
  assert.throws(() => readDocument("/dev/zero", 1), /^InputError: \/dev\/zero has more than 1 MiB$/);
});

test("a file of the size of the limit is read", () => {
  const value = "x".repeat((1 << 20) - 3);
  writeFileSync(file, `a: ${value}`);
  assert.deepEqual(readDocument(file, 1), { a: value });
});
