/** What the documents name is there. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");

for (const document of globSync(["README.md", "docs/*.md"], { cwd: root })) {
  test(`${document} names files that there are`, () => {
    const named = [...readFileSync(join(root, document), "utf8").matchAll(/[`(]((?:src|docs|scripts|bench)\/[^`)\s]+)[`)]/g)].map(
      ([, path]) => path as string,
    );
    assert.deepEqual(
      named.filter((path) => globSync(path, { cwd: root }).length === 0),
      [],
    );
  });
}
