import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const urlOf = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);
/** It requires a module of Node.js and one that is passed, imports a module, and reads where it is. */
const text = `
  const name = (path) => require("node:path").basename(path);
  __module.exports = { name: name(__url), passed: require("./passed.js").value, imported: __load("node:fs") };`;

/** Runs the script in a process of its own, and compares what it exports. */
function run(home: string, env: NodeJS.ProcessEnv = {}): void {
  const code = `
    const { keepCompiledModules } = await import(${urlOf("compile-cache.ts")});
    const { runScript } = await import(${urlOf("run-script.ts")});
    keepCompiledModules();
    const url = ${JSON.stringify(pathToFileURL(join(home, "one.cjs")).href)};
    const { name, passed, imported } = runScript(url, { "./passed.js": { value: 1 } }, (module) => import(module));
    console.log(name, passed, typeof (await imported).readFileSync);`;
  const { PATH } = process.env;
  const options = { encoding: "utf8", env: { PATH, HOME: home, ...env } } as const;
  assert.equal(execFileSync(process.execPath, ["--input-type=module", "-e", code], options), "one.cjs 1 function\n");
}

const keptFiles = (home: string): string[] =>
  globSync(".cache/coxswain/*/one.cjs.compiled*", { cwd: home }).map((name) => join(home, name));

function keptFile(home: string): string {
  const [file, ...others] = keptFiles(home);
  assert.deepEqual(others, []);
  return file as string;
}

function directoryWithScript(t: { after(run: () => void): void }): string {
  const home = mkdtempSync(join(tmpdir(), "coxswain-script-"));
  t.after(() => rmSync(home, { recursive: true }));
  writeFileSync(join(home, "one.cjs"), text);
  return home;
}

interface Row {
  readonly what: string;
  readonly change?: (home: string, kept: string) => void;
  /** Whether the second process keeps what it compiles. */
  readonly isKeptAgain: boolean;
}

const rows: readonly Row[] = [
  { what: "the same script", isKeptAgain: false },
  {
    what: "another script of the same length",
    change: (home) => writeFileSync(join(home, "one.cjs"), text.replace("path", "file").replace("(path)", "(file)")),
    isKeptAgain: true,
  },
  { what: "a truncated file", change: (_home, kept) => truncateSync(kept, 100), isKeptAgain: true },
  { what: "an empty file", change: (_home, kept) => truncateSync(kept, 0), isKeptAgain: true },
  {
    what: "a damaged file",
    change(_home, kept) {
      const bytes = readFileSync(kept);
      bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
      writeFileSync(kept, bytes);
    },
    isKeptAgain: true,
  },
];
for (const { what, change, isKeptAgain } of rows) {
  test(`runs with what an earlier process compiled: ${what}`, (t) => {
    const home = directoryWithScript(t);
    run(home);
    const kept = keptFile(home);
    const { mode } = statSync(kept);
    assert.equal(mode & 0o777, 0o600);
    change?.(home, kept);
    const { ino, mtimeMs } = statSync(kept);
    run(home);
    const now = statSync(keptFile(home));
    assert.equal(now.ino !== ino || now.mtimeMs !== mtimeMs, isKeptAgain);
  });
}

test("leaves no temporary file when it cannot keep what was compiled", (t) => {
  const home = directoryWithScript(t);
  run(home);
  const kept = keptFile(home);
  rmSync(kept);
  mkdirSync(kept);
  run(home);
  assert.deepEqual(keptFiles(home), [kept]);
});

test("keeps nothing without a compile cache", (t) => {
  const home = directoryWithScript(t);
  run(home, { NODE_DISABLE_COMPILE_CACHE: "1" });
  assert.deepEqual(keptFiles(home), []);
});
