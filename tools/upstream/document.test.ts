/** The page of results is the one that the tool writes from the recorded results. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { formatPage, readResults } from "./document.ts";

test("docs/conformance.md has the recorded results", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/conformance.md"), "utf8");
  assert.equal(formatPage(readResults()), page);
});
