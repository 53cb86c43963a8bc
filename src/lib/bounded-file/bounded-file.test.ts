import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { readBoundedFile } from "./bounded-file.ts";

let directory: string;
before(() => {
  directory = mkdtempSync(join(tmpdir(), "coxswain-bounded-"));
  writeFileSync(join(directory, "empty"), "");
  writeFileSync(join(directory, "short"), "text");
  writeFileSync(join(directory, "long"), Buffer.alloc(200_000, "x"));
  execFileSync("mkfifo", [join(directory, "pipe")]);
});
after(() => rmSync(directory, { recursive: true }));

const rows: [file: string, bytesMax: number, expected: number | RegExp][] = [
  ["empty", 10, 0],
  ["short", 4, 4],
  ["short", 3, /^EFBIG read \/.*short: more than 3 bytes$/],
  ["long", 200_000, 200_000],
  ["long", 199_999, /^EFBIG /],
  ["none", 10, /^ENOENT /],
  [".", 10, /^EISDIR /],
  ["pipe", 10, /^ETIMEDOUT read \/.*pipe: nothing came for 0.03 s$/],
  ["/dev/null", 10, 0],
  ["/dev/zero", 100_000, /^EFBIG read \/dev\/zero: more than 100000 bytes$/],
];

for (const [file, bytesMax, expected] of rows) {
  test(`${file}, at most ${bytesMax} bytes: ${expected}`, async () => {
    const path = file.startsWith("/") ? file : join(directory, file);
    const outcome = await readBoundedFile(path, { bytesMax, waitMs: 30 }).then(
      ({ length }) => length,
      (error: NodeJS.ErrnoException) => `${error.code} ${error.message}`,
    );
    if (typeof expected === "number") assert.equal(outcome, expected);
    else assert.match(String(outcome), expected);
  });
}

test("reads a pipe until it has no writers left", async () => {
  const path = join(directory, "pipe");
  const reading = readBoundedFile(path, { waitMs: 60_000 });
  const writer = await open(path, "w");
  await writer.write("first, ");
  await writer.write("then");
  await writer.close();
  assert.equal((await reading).toString(), "first, then");
});
