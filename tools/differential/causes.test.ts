import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readKnownDifferences } from "./causes.ts";

const known = readKnownDifferences();

test("at most 20 kinds of differences are known, each a row of the page", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/compatibility/random-requests.md"), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| what |"));
  assert.deepEqual(
    rows,
    known.map(({ what, kubeApiserver, here }) => `| ${what} | ${kubeApiserver} | ${here} |`),
  );
  assert.ok(known.length <= 20);
});
