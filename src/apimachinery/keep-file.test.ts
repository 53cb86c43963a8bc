import assert from "node:assert/strict";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { keepFile } from "./keep-file.ts";
import { silentLogger } from "./logger.ts";

const isWindows = process.platform === "win32";

/** What is at the path before, and whether the file is written again. */
const rows: [what: string, prepare: (file: string) => void, isWritten: boolean][] = [
  ["a missing file", () => {}, true],
  ["a file with other contents", (file) => writeFileSync(file, "older", { mode: 0o600 }), true],
  ["a file with the same contents", (file) => writeFileSync(file, "newer", { mode: 0o600 }), false],
  ["a file that a group can read", (file) => writeFileSync(file, "newer", { mode: 0o640 }), false],
  [
    "a file that all users can read",
    (file) => {
      writeFileSync(file, "newer");
      chmodSync(file, 0o644);
    },
    !isWindows,
  ],
  [
    "a link to a file with the same contents",
    (file) => {
      writeFileSync(`${file}-elsewhere`, "newer", { mode: 0o600 });
      symlinkSync(`${file}-elsewhere`, file);
    },
    true,
  ],
];

for (const [what, prepare, isWritten] of rows) {
  test(`${isWritten ? "writes" : "leaves"} ${what}`, async (context) => {
    const directory = mkdtempSync(join(tmpdir(), "coxswain-keep-"));
    context.after(() => rmSync(directory, { recursive: true, force: true }));
    const file = join(directory, "kept");
    prepare(file);
    const before = statSync(file, { throwIfNoEntry: false })?.ino;
    assert.equal(await keepFile(file, { contents: "newer", mode: 0o600 }, silentLogger), true);
    const after = statSync(file);
    assert.deepEqual([readFileSync(file, "utf8"), after.ino !== before], ["newer", isWritten]);
    if (!isWindows) assert.equal(after.mode & 0o007, 0);
  });
}

test("logs a warning when the file cannot be written, and leaves no temporary file", async (context) => {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-keep-"));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "kept");
  mkdirSync(file);
  const warnings: unknown[] = [];
  const logger = { ...silentLogger, warn: (message: string, values?: object) => warnings.push({ message, ...values }) };
  assert.equal(await keepFile(file, { contents: "newer", mode: 0o600 }, logger), false);
  const [warning] = warnings as [{ error: string }];
  assert.match(warning.error, /^E[A-Z]+: .*rename/);
  assert.deepEqual(warnings, [
    { message: "Could not write a file, and continues without it", file, error: warning.error },
  ]);
  assert.deepEqual(readdirSync(directory), ["kept"]);
});
