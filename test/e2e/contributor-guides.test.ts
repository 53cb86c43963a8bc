/** The guides for contributors: their changes, in a copy of the sources, and the tests that they add. */
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, describe, test } from "node:test";
import { kubectls } from "../support/kubectl.ts";
import { runPage } from "../support/run-page.ts";

const root = join(import.meta.dirname, "../..");
const folder = join(root, "docs/how-to");
const directory = mkdtempSync(join(tmpdir(), "coxswain-contributor-"));
after(() => rmSync(directory, { recursive: true, force: true }));

/** What the guides change or run. */
const copied = ["src", "test/support", "tools", "docs", "package.json", "tsconfig.json", "biome.json"];

/** As `npm run generate`, without the installation of dependencies before it. */
const npm = `[ "$*" = "run generate" ] && exec "${process.execPath}" tools/generate/main.ts; exit 64`;

function copySources(target: string): void {
  const filter = (path: string): boolean => basename(path) !== "node_modules"; // Those of tools/docs.
  for (const name of copied) cpSync(join(root, name), join(target, name), { recursive: true, filter });
  symlinkSync(join(root, "node_modules"), join(target, "node_modules"));
}

const skip = process.platform === "win32" ? "the commands are for a POSIX shell" : false;
const hasKubectl = kubectls().length > 0;

describe("guides for contributors", { skip }, () => {
  for (const page of globSync("add-*.md", { cwd: folder }).sort()) {
    const text = readFileSync(join(folder, page), "utf8");
    const needsKubectl = !hasKubectl && text.includes("\nuntil kubectl");
    test(page, { skip: needsKubectl && "needs kubectl" }, async () => {
      const scratch = join(directory, page);
      const work = join(scratch, "clone");
      mkdirSync(work, { recursive: true });
      copySources(work);
      await runPage(text, { directory: work, scratch, programs: { npm }, timeoutMs: 240_000 });
      rmSync(scratch, { recursive: true });
    });
  }
});
