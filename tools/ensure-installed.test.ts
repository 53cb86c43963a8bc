/** What a new user sees while the dependencies are installed: few lines, and a plain error. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

/** With a space, as in the home directories of some users. */
const directory = mkdtempSync(join(tmpdir(), "coxswain clone "));
after(() => rmSync(directory, { recursive: true }));

const locked = JSON.stringify({ packages: { "": {}, "node_modules/a": { version: "1.0.0" } } });

/** @param npm the lines of a shell script that is the `npm` of the installation, in the directory of the package */
function install(name: string, npm: string): { readonly clone: string; run(): [code: number | null, stderr: string] } {
  const clone = join(directory, name);
  mkdirSync(join(clone, "tools"), { recursive: true });
  mkdirSync(join(clone, "bin"));
  writeFileSync(join(clone, "package-lock.json"), locked);
  writeFileSync(join(clone, "bin/npm"), `#!/bin/sh\necho "$*" >> calls\n${npm}\n`);
  chmodSync(join(clone, "bin/npm"), 0o755);
  cpSync(join(import.meta.dirname, "ensure-installed.mjs"), join(clone, "tools/ensure-installed.mjs"));
  return {
    clone,
    run() {
      const { status, stderr } = spawnSync(process.execPath, [join(clone, "tools/ensure-installed.mjs")], {
        cwd: tmpdir(),
        encoding: "utf8",
        env: { ...process.env, PATH: `${join(clone, "bin")}:${process.env.PATH}` },
      });
      return [status, stderr];
    },
  };
}

const installing = "Installing the dependencies (npm ci); the first time takes a minute or two …\n";

test("installs once, without npm's output", () => {
  const { run, clone } = install(
    "once",
    `echo added; mkdir node_modules; echo '${locked}' > node_modules/.package-lock.json`,
  );
  const [code, stderr] = run();
  assert.equal(code, 0);
  assert.match(stderr, /^Installing the dependencies \(npm ci\); .* …\nInstalled the dependencies in \d+ s\.\n$/);
  rmSync(join(clone, "calls"));
  assert.deepEqual(run(), [0, ""]);
  assert.ok(!existsSync(join(clone, "calls")));
});

test("says that the registry does not answer", () => {
  const { run } = install("offline", "echo npm error code ENOTFOUND >&2; echo npm error at x:1 >&2; exit 1");
  const problem = `Error: the dependencies could not be installed, because npm's registry does not answer (ENOTFOUND).
Connect to the network, or set the proxy or registry of npm (npm help config), and run the command again.\n`;
  assert.deepEqual(run(), [1, installing + problem]);
});

test("shows npm's own message of other errors", () => {
  const { run } = install("other", "echo npm error code ENOSPC >&2; exit 28");
  const problem = "Error: the dependencies could not be installed; npm's message is above.\n";
  assert.deepEqual(run(), [28, `${installing}npm error code ENOSPC\n${problem}`]);
});
