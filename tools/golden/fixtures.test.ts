/** The index of recorded fixtures is complete and true. With COXSWAIN_TEST_FULL=1 and Go, the programs record the fixtures again. */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { describe, test } from "node:test";
import { skipWithout } from "../../test/support/needs.ts";
import { countCases, goModuleOf, linesOf, readFixture, readIndex, recordFixture, root } from "./fixtures.ts";

const { sets, others } = readIndex();
const all = Object.values(sets).flatMap(({ fixtures }) => fixtures);

/** `upstream` of `testdata/upstream.jsonl.gz`: tests that replay several fixtures add the rest. */
const stemOf = (file: string): string => basename(file).replace(/\.(?:jsonl?|txt)(?:\.gz)?$/, "");

/** Of the product, or what `npm run generate` makes those of. */
const isTable = (file: string): boolean =>
  ["src/apimachinery/data/", "tools/generate/data/"].some((folder) => file.startsWith(folder));

test("the index lists every file in a testdata folder exactly once", () => {
  const found = globSync("{src,test,tools}/**/testdata/**/*.*", { cwd: root }).map((file) => file.replaceAll(sep, "/"));
  const listed = [...all.map(({ file }) => file), ...Object.keys(others)];
  assert.deepEqual(listed.filter((file) => !isTable(file)).sort(), found.sort());
});

test("every fixture has as many cases as the index says", () => {
  const counted = all.map((fixture) => [fixture.file, countCases(fixture)]);
  assert.deepEqual(
    counted,
    all.map(({ file, cases }) => [file, cases]),
  );
});

test("every fixture is replayed by tests that name it or read its folder", () => {
  for (const { file, tests } of all) {
    assert.ok(tests.length > 0 || isTable(file), `no test replays ${file}`);
    for (const name of tests) {
      assert.ok(existsSync(join(root, name)), `${file}: no ${name}`);
      const text = readFileSync(join(root, name), "utf8");
      assert.ok(text.includes(stemOf(file)) || text.includes("readdirSync("), `${name} does not name ${file}`);
    }
  }
});

test("every program exists and uses the upstream versions of the index", () => {
  for (const [name, { program, upstream, updatedBy }] of Object.entries(sets)) {
    assert.ok(existsSync(join(root, program)), `${name}: no ${program}`);
    if (program.endsWith(".ts")) continue;
    assert.ok(updatedBy === undefined || existsSync(join(root, updatedBy)), `${name}: no ${updatedBy}`);
    const requirements = readFileSync(join(root, goModuleOf(program), "go.mod"), "utf8");
    for (const version of upstream)
      assert.ok(requirements.includes(version.replace("@", " ")), `${name}: go.mod does not require ${version}`);
  }
});

test("every Go program is in the index", () => {
  const programs = globSync("tools/golden/**/main.go", { cwd: root }).map((file) => file.replaceAll(sep, "/"));
  const listed = new Set(Object.values(sets).map(({ program }) => program));
  assert.deepEqual(
    programs.filter((file) => !listed.has(file.replace("/main.go", ""))),
    [],
  );
});

describe("a program records again", { skip: skipWithout("full", "go") }, () => {
  for (const set of Object.values(sets)) {
    if (set.usage !== undefined || set.updatedBy !== undefined) continue;
    for (const fixture of set.fixtures) {
      const { file, varies, varyingLines } = fixture;
      if (varies !== undefined && varyingLines === undefined) continue;
      const varying = new RegExp(varyingLines ?? "$^");
      const constant = (content: Buffer): string[] => linesOf(content.toString()).filter((line) => !varying.test(line));
      test(file, () => {
        const expected = constant(readFixture(file));
        const recorded = constant(recordFixture(set, fixture));
        assert.equal(recorded.length, expected.length);
        assert.deepEqual(recorded.filter((line, index) => line !== expected[index]).slice(0, 3), []);
      });
    }
  }
});
