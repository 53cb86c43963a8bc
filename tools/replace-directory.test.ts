import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { replaceDirectory } from "./replace-directory.ts";

test("files are replaced, added and removed", () => {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-replace-"));
  const [from, to] = [join(directory, "from"), join(directory, "to")];
  const write = (file: string, text: string): void => writeFileSync(join(directory, file), text);
  for (const name of ["from/new", "to/old"]) mkdirSync(join(directory, name), { recursive: true });
  write("from/a.js", "new a");
  write("from/new/b.js", "new b");
  write("to/a.js", "old a");
  write("to/old/c.js", "old c");
  replaceDirectory(from, to);
  const files = readdirSync(to, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  assert.deepEqual(files.map(({ name }) => name).sort(), ["a.js", "b.js"]);
  assert.equal(readFileSync(join(to, "a.js"), "utf8"), "new a");
  assert.deepEqual(readdirSync(directory), ["to"]);
  rmSync(directory, { recursive: true });
});
