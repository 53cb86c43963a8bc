/**
 * Records how kube-apiserver 1.36.0 parses single values of its flags: each flag of the fixture is given to the program alone, and its error,
 * if it is one of parsing, is kept. Usage: node flag-values.ts KUBE_APISERVER, a program that `npm run upstream -- build` makes.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [program] = process.argv.slice(2);
if (program === undefined) throw new Error("the path of a kube-apiserver is missing");
const fixture = join(import.meta.dirname, "../../../src/cli/flags/testdata/upstream-values.jsonl");
/** A program that has parsed its flags may go on; it cannot serve without a store. */
const timeout = 5_000;
const parsing = /^(?:Error: )?((?:invalid argument|unknown flag).*)$/m;

const directory = mkdtempSync(join(tmpdir(), "coxswain-flags-"));
const lines = readFileSync(fixture, "utf8")
  .trim()
  .split("\n")
  .map((line) => {
    const { flag } = JSON.parse(line) as { flag: string };
    const { stderr, stdout } = spawnSync(program, [flag, `--cert-dir=${directory}`], { timeout, encoding: "utf8" });
    const error = parsing.exec(`${stderr}\n${stdout}`)?.[1];
    return JSON.stringify({ flag, ...(error !== undefined && { error }) });
  });
rmSync(directory, { recursive: true });
writeFileSync(fixture, `${lines.join("\n")}\n`);
