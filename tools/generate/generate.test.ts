/** The tables in src/apimachinery/data, and the options of flags, are what `npm run generate` writes. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { optionFiles } from "./options.ts";
import { generateTables } from "./tables.ts";

const dataDir = join(import.meta.dirname, "../../src/apimachinery/data");

test("the generated tables are committed", () => {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-generate-"));
  try {
    generateTables(directory);
    const files = readdirSync(directory).sort();
    assert.deepEqual(files, ["gates.json", "resources.json", "types.json"]);
    const content = (parent: string, file: string): string => readFileSync(join(parent, file), "utf8");
    for (const file of files)
      assert.ok(content(directory, file) === content(dataDir, file), `run npm run generate: ${file} differs`);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("the options of flags, and their defaults, are those of the rows", () => {
  const directory = join(import.meta.dirname, "../../src/server");
  for (const [file, text] of Object.entries(optionFiles(directory)))
    assert.ok(text === readFileSync(join(directory, file), "utf8"), `run npm run generate: ${file} differs`);
});
