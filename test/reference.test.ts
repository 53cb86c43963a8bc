/** The pages in docs/reference are what `npm run generate` writes, and no other page lists flags again. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { test } from "node:test";
import { flagGroups } from "../src/cli/flags/flag-groups.ts";
import { code, prose } from "../tools/generate/reference/markdown.ts";
import { referencePages } from "../tools/generate/reference/write.ts";

const root = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const pages = await referencePages();

for (const [name, text] of Object.entries(pages)) {
  test(`docs/reference/${name} is committed as generated`, () =>
    assert.ok(read(`docs/reference/${name}`) === text, "run npm run generate"));
}

test("the metrics page has every name of upstream that the code registers", () => {
  const upstream = Object.keys(JSON.parse(read("src/metrics/testdata/upstream-metrics.json")));
  const files = globSync("src/**/*.ts", { cwd: root }).filter((file) => !file.endsWith(".test.ts"));
  const registered = new Set(files.flatMap((file) => [...read(file).matchAll(/"(\w+)"/g)].map(([, text]) => text)));
  const missing = upstream.filter((name) => registered.has(name) && !pages["metrics.md"]?.includes(code(name)));
  assert.deepEqual(missing, []);
});

/** The changelog names flags that a release adds, the compatibility pages flags that differ. */
const written = globSync(["*.md", "docs/**/*.md"], {
  cwd: root,
  exclude: ["docs/reference/**", "docs/compatibility/**", "CHANGELOG.md"],
}).map((file) => file.replaceAll(sep, "/"));

test("no other document has a list or table of flags", () => {
  const listed = written.flatMap((file) =>
    [...read(file).matchAll(/^(?:[-*] |\| *)`(--[a-z-]+)[^`=]*`(?: *\||:)/gm)].map(([line]) => `${file}: ${line}`),
  );
  assert.deepEqual(listed, []);
});

test("the meaning of a flag is in no other document", () => {
  const documents = written.map(read).join("\n");
  const sentences = flagGroups.flatMap(([, flags]) => flags.map(({ help }) => help)).filter((help) => help.length > 40);
  assert.deepEqual(
    sentences.filter((help) => documents.includes(help)),
    [],
  );
});

test("writes cells that Markdown displays as they are", () => {
  assert.equal(
    prose("foo for a|b, * for <all>, --oidc-* and `coxswain x`, POD_NAME"),
    "foo for a\\|b, \\* for &lt;all>, `--oidc-*` and `coxswain x`, `POD_NAME`",
  );
});
