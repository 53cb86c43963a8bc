/**
 * The guides for contributors: their changes, in a copy of the sources, and the tests that they add. All guides change one copy, and one process
 * runs their tests. With COXSWAIN_TEST_FULL=1, each guide has its own, and servers start from the copies.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { skipWithout } from "../support/needs.ts";
import { runPage } from "../support/run-page.ts";

const root = join(import.meta.dirname, "../..");
const folder = join(root, "docs/how-to");
const directory = mkdtempSync(join(tmpdir(), "coxswain-contributor-"));
after(() => rmSync(directory, { recursive: true, force: true }));

/** What the guides change or run, without tests and what only tests read. */
const copied = [
  "src",
  "test/support",
  "tools/generate",
  "docs/reference",
  "package.json",
  "tsconfig.json",
  "biome.json",
];
const left = /\.test\.ts$|^(?:testdata|node_modules)$/;

function copySources(target: string): void {
  for (const name of copied)
    cpSync(join(root, name), join(target, name), { recursive: true, filter: (path) => !left.test(basename(path)) });
  symlinkSync(join(root, "node_modules"), join(target, "node_modules"));
}

/** As `npm run generate`, without the installation of dependencies before it. */
const npm = `[ "$*" = "run generate" ] && exec "${process.execPath}" tools/generate/main.ts; exit 64`;

/** Writes down which tests a page runs, instead of `node --test`. */
const node = `[ "$1" = --test ] || exec "${process.execPath}" "$@"; shift; echo "$@" >> "$TESTS"`;

const pages = globSync("add-*.md", { cwd: folder }).sort();
const isFull = process.env.COXSWAIN_TEST_FULL === "1";
const groups = isFull ? pages.map((page) => [page]) : [pages];

/** Commands that start the server, with the output that follows. */
const servers = /^```sh\n[^`]*src\/main\.ts[^`]*```\n\n```text\n[^`]*```\n/gm;

function textOf(page: string): string {
  const text = readFileSync(join(folder, page), "utf8");
  return isFull ? text : text.replace(servers, "");
}

describe("guides for contributors", { skip: skipWithout("shell") }, () => {
  for (const [index, group] of groups.entries()) {
    const work = join(directory, `clone-${index}`);
    const tests = join(directory, `tests-${index}`);
    const environment = { NODE_COMPILE_CACHE: join(directory, "compiled"), TESTS: tests };
    before(() => copySources(work));

    for (const page of group) {
      const text = textOf(page);
      test(page, { skip: text.includes("\nuntil kubectl") && skipWithout("kubectl") }, async () => {
        const scratch = join(directory, page);
        mkdirSync(scratch);
        await runPage(text, { directory: work, scratch, programs: { npm, node }, environment, timeoutMs: 240_000 });
      });
    }

    test(`the tests of ${group.join(", ")} pass`, () => {
      const files = readFileSync(tests, "utf8").trim().split(/\s+/);
      assert.ok(files.length >= group.length, files.join());
      for (const file of files) if (!existsSync(join(work, file))) cpSync(join(root, file), join(work, file));
      const env = { ...process.env, ...environment, NODE_TEST_CONTEXT: undefined };
      execFileSync(process.execPath, ["--test", "--test-isolation=none", ...files], {
        cwd: work,
        env,
        encoding: "utf8",
      });
    });
  }
});
