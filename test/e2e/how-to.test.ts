/** The commands of the how-to guides run, in order, and print what the pages say. */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { decodeYaml } from "../../src/lib/yaml/decode.ts";
import { skipWithout } from "../support/needs.ts";
import { offlineNpm } from "../support/offline-npm.ts";
import { compiled, main } from "../support/program.ts";
import { blocksOf, runPage } from "../support/run-page.ts";

const root = join(import.meta.dirname, "../..");
const folder = join(root, "docs/how-to");
/** See test/e2e/contributor-guides.test.ts and test/code-blocks.test.ts. */
const forContributors = /^(?:add-|judge|run-tests)/;
const pages = globSync("*.md", { cwd: folder }).filter((page) => !forContributors.test(page));
const directory = mkdtempSync(join(tmpdir(), "coxswain-how-to-"));
after(() => rmSync(directory, { recursive: true, force: true }));

/** The command, on a free port. */
const command = `"${process.execPath}" "${main}"`;
const coxswain = `case "$1" in -*) exec ${command} --secure-port 0 "$@" ;; *) exec ${command} "$@" ;; esac`;

/** @returns why the page cannot run here; false if it can */
function missing(text: string): string | false {
  const programs = (["kubectl", "openssl", "jq"] as const).filter((name) => new RegExp(`\\b${name}\\b`).test(text));
  return skipWithout("shell", ...programs);
}

describe("how-to guides", () => {
  for (const page of pages) {
    const text = readFileSync(join(folder, page), "utf8");

    test(page, { skip: missing(text) }, async () => {
      const scratch = join(directory, page);
      const work = join(scratch, "work");
      mkdirSync(work, { recursive: true });
      const programs = { coxswain, npm: offlineNpm(main) };
      await runPage(text, {
        directory: work,
        scratch,
        programs,
        environment: { HOME: scratch, NODE_COMPILE_CACHE: compiled },
      });
    });

    test(`${page}: the YAML is valid`, () => {
      for (const { code } of blocksOf(text).filter(({ language }) => language === "yaml"))
        for (const document of code.split(/^---$/m)) decodeYaml(Buffer.from(document));
    });
  }
});
