/** The example of a controller in TypeScript: the commands of its README run, and its types are valid. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import packageJson from "../../package.json" with { type: "json" };
import { offlineNpm } from "../support/offline-npm.ts";
import { packageSources } from "../support/package-sources.ts";
import { runPage } from "../support/run-page.ts";

const root = join(import.meta.dirname, "../..");
const example = join(root, "examples/typescript");
const clone = mkdtempSync(join(tmpdir(), "coxswain-example-"));
after(() => rmSync(clone, { recursive: true, force: true }));

describe("the example in TypeScript", { skip: process.platform === "win32" && "needs a POSIX shell" }, () => {
  test("passes, and finds the bug that its fake does not show", async () => {
    const [directory, scratch] = [join(clone, "examples/typescript"), join(clone, "scratch")];
    mkdirSync(scratch);
    cpSync(example, directory, { recursive: true });
    writeFileSync(join(clone, `coxswain-${packageJson.version}.tgz`), "");
    const page = readFileSync(join(example, "README.md"), "utf8");
    await runPage(page, { directory, scratch, programs: { npm: offlineNpm } });
  });

  test("has no type errors", () => {
    const config = join(example, "tsconfig.check.json");
    const paths = Object.fromEntries(Object.entries(packageSources).map(([name, file]) => [name, [join(root, file)]]));
    const include = [join(example, "*.ts"), join(root, "src/**/*.d.ts")];
    writeFileSync(config, JSON.stringify({ extends: "../../tsconfig.json", compilerOptions: { paths }, include }));
    try {
      execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", config], { stdio: "inherit" });
    } finally {
      rmSync(config);
    }
  });
});
