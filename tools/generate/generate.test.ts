/** The tables in src/apimachinery/data are what `npm run generate` writes. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
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
