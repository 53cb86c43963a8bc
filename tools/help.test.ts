/** `npm run … -- --help` prints help for every tool, and starts no work. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import packageJson from "../package.json" with { type: "json" };

const root = join(import.meta.dirname, "..");

/** The programs of the scripts, other than the command itself. */
const programs = new Set(
  Object.entries(packageJson.scripts)
    .filter(([name]) => name !== "start")
    .flatMap(([, script]) => script.match(/[\w/-]+\.ts/g) ?? []),
);

for (const program of programs)
  test(`${program} parses its arguments`, () =>
    assert.match(readFileSync(join(root, program), "utf8"), /new Command\("npm (?:run )?[a-z-]+(?: --)?"\)/));

for (const program of ["tools/golden/run.ts", "tools/generate/main.ts", "tools/patterns/check.ts"])
  test(`${program} --help`, () => {
    const run = (option: string) => spawnSync(process.execPath, [join(root, program), option], { encoding: "utf8" });
    const { status, stdout, stderr } = run("--help");
    assert.deepEqual([status, stderr], [0, ""]);
    assert.match(stdout, /^Usage: npm run [a-z]+ /);
    const unknown = run("--nope");
    assert.deepEqual([unknown.status, unknown.stderr], [1, "error: unknown option '--nope'\n"]);
  });
