/**
 * The reports in api/ show the public API, so that no change of it is made without review, and the
 * API reference is that of the docstrings. Needs
 * API Extractor and TypeDoc: `node tools/ensure-installed.mjs tools/docs` installs it, as CI does.
 */
import assert from "node:assert/strict";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { skipWithout } from "../../test/support/needs.ts";
import { type PublicApi, rollUpTypes, root } from "./public-api.ts";
import { apiReference } from "./reference.ts";

const skip = skipWithout("docsTools");

const types = mkdtempSync(join(tmpdir(), "coxswain-types-"));
let found: PublicApi;
before(() => {
  if (skip === false) found = rollUpTypes(types, "compare");
});
after(() => rmSync(types, { recursive: true, force: true }));

test("the committed reports show the public API", { skip }, () => {
  assert.deepEqual(found.changedReports, [], "run `npm run api` and review the difference");
});

test("the committed API reference has the current docstrings", { skip }, () => {
  const work = join(types, "reference");
  mkdirSync(work);
  const pages = apiReference(types, work);
  const folder = join(root, "docs/reference/api");
  const committed = globSync("**/*.md", { cwd: folder }).map((file) => file.replaceAll("\\", "/"));
  assert.deepEqual(committed.sort(), [...pages.keys()], "run `npm run api`");
  for (const [file, text] of pages)
    assert.ok(readFileSync(join(folder, file), "utf8") === text, `${file} is not as \`npm run api\` writes it`);
});

test("users can name all public types, and all exports have docstrings", { skip }, () => {
  assert.deepEqual(found.problems, []);
});

test("the types of the package use neither other packages nor types of Node.js", { skip }, () => {
  for (const name of ["index", "cel", "structured-merge", "testing"]) {
    const text = readFileSync(join(types, `${name}.d.ts`), "utf8").replace(/\/\*\*[\s\S]*?\*\//g, "");
    assert.match(text, /^export declare /m);
    assert.deepEqual(text.match(/\bimport\b.*|\bBuffer\b|\bNodeJS\b|\breference types\b/g), null, name);
  }
});
