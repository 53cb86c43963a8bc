import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { skipWithout } from "../../test/support/needs.ts";
import { userCacheDirectory } from "./compile-cache.ts";

const isRoot = process.getuid?.() === 0;
const otherUser = 65_534;

interface Row {
  readonly what: string;
  /** Relative to the home directory; undefined if nothing is kept. */
  readonly want: string | undefined;
  readonly env?: (home: string) => NodeJS.ProcessEnv;
  readonly prepare?: (home: string) => void;
  readonly skip?: boolean;
}

const rows: Row[] = [
  { what: "the default", want: ".cache/coxswain" },
  {
    what: "XDG_CACHE_HOME",
    env: (home) => ({ HOME: "/nowhere", XDG_CACHE_HOME: join(home, "x") }),
    want: "x/coxswain",
  },
  { what: "an empty XDG_CACHE_HOME", env: (home) => ({ HOME: home, XDG_CACHE_HOME: "" }), want: ".cache/coxswain" },
  { what: "a relative XDG_CACHE_HOME", env: (home) => ({ HOME: home, XDG_CACHE_HOME: "x" }), want: undefined },
  { what: "no home directory", env: () => ({}), want: undefined },
  { what: "a home directory in which nothing can be created", env: () => ({ HOME: "/proc" }), want: undefined },
  { what: "a file", prepare: (home) => writeFileSync(join(home, ".cache"), ""), want: undefined },
  {
    what: "a symbolic link to an own directory",
    prepare(home) {
      mkdirSync(join(home, "other"), { mode: 0o700 });
      symlinkSync(join(home, "other"), join(home, ".cache"));
    },
    want: "other/coxswain",
  },
  { what: "a home directory that others can write", prepare: (home) => chmodSync(home, 0o777), want: undefined },
  { what: "a sticky home directory", prepare: (home) => chmodSync(home, 0o1777), want: ".cache/coxswain" },
  {
    what: "a directory that the group can write",
    prepare(home) {
      mkdirSync(join(home, ".cache/coxswain"), { recursive: true });
      chmodSync(join(home, ".cache/coxswain"), 0o770);
    },
    want: undefined,
  },
  {
    what: "a directory of another user",
    prepare(home) {
      mkdirSync(join(home, ".cache/coxswain"), { recursive: true, mode: 0o700 });
      chownSync(join(home, ".cache/coxswain"), otherUser, otherUser);
    },
    want: undefined,
    skip: !isRoot,
  },
  {
    what: "a directory in one of another user",
    prepare(home) {
      mkdirSync(join(home, ".cache/coxswain"), { recursive: true, mode: 0o700 });
      chownSync(join(home, ".cache"), otherUser, otherUser);
    },
    want: undefined,
    skip: !isRoot,
  },
];
for (const { what, want, env = (home: string) => ({ HOME: home }), prepare, skip = false } of rows) {
  test(`keeps compiled modules where only the user can write: ${what}`, { skip: skip && skipWithout("root") }, (t) => {
    const home = temporaryDirectory(t);
    prepare?.(home);
    const found = userCacheDirectory("linux", env(home));
    assert.equal(found, want && join(home, want));
    if (found !== undefined) assert.equal(statSync(found).mode & 0o777, 0o700);
  });
}

const url = new URL("compile-cache.ts", import.meta.url).href;
const script = `(await import(${JSON.stringify(url)})).keepCompiledModules(); await import("node:module");`;
const variables: [what: string, env: (home: string) => NodeJS.ProcessEnv, kept: string | undefined][] = [
  ["no variables", () => ({}), ".cache/coxswain"],
  ["NODE_COMPILE_CACHE", (home) => ({ NODE_COMPILE_CACHE: join(home, "other") }), "other"],
  ["NODE_DISABLE_COMPILE_CACHE", () => ({ NODE_DISABLE_COMPILE_CACHE: "1" }), undefined],
  ["NODE_V8_COVERAGE", (home) => ({ NODE_V8_COVERAGE: join(home, "coverage") }), undefined],
];
for (const [what, env, kept] of variables) {
  test(`a process keeps what it compiles: ${what}`, (t) => {
    const home = temporaryDirectory(t);
    const { PATH } = process.env;
    execFileSync(process.execPath, ["--input-type=module", "-e", script], { env: { PATH, HOME: home, ...env(home) } });
    const compiled = readdirSync(home, { recursive: true, encoding: "utf8" }).filter((name) =>
      /\/v\d[^/]*$/.test(name),
    );
    assert.deepEqual(compiled.map(dirname), kept === undefined ? [] : [kept]);
  });
}

function temporaryDirectory(t: { after(run: () => void): void }): string {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-compiled-"));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}
