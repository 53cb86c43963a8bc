import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { watchDirectory } from "./watched-directory.ts";

const rows: [what: string, change: (path: string) => Promise<void>][] = [
  ["a new file", (path) => writeFile(join(path, "new"), "")],
  ["a file that is written", (path) => writeFile(join(path, "file"), "b")],
  ["a file that is removed", (path) => rm(join(path, "file"))],
  ["a file that is replaced", (path) => rename(join(path, "other"), join(path, "file"))],
];

for (const [what, change] of rows) {
  test(`notices ${what}`, () =>
    inDirectory(async (path) => {
      const notified = watching(path);
      await notified.next();
      await change(path);
      await notified.next();
      notified.close();
    }));
}

test("polls a directory that is missing, and watches it when it exists again", () =>
  inDirectory(async (path) => {
    await rm(path, { recursive: true });
    const notified = watching(path);
    await notified.next();
    await mkdir(path);
    notified.poll();
    await notified.next();
    await writeFile(join(path, "file"), "");
    await notified.next();
    notified.close();
  }));

/** Polls run on demand; the delay after a change is not waited for. */
function watching(path: string): { next(): Promise<void>; poll(): void; close(): void } {
  let poll = (): void => undefined;
  let count = 0;
  let wake = (): void => undefined;
  const watched = watchDirectory(path, {
    after(delayMs, run) {
      if (delayMs >= 60_000) {
        poll = run;
        return () => undefined;
      }
      const timer = setImmediate(run);
      return () => clearImmediate(timer);
    },
    onEvent() {
      count++;
      wake();
    },
  });
  return {
    async next() {
      while (count === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      count = 0;
    },
    poll: () => poll(),
    close: () => watched.close(),
  };
}

async function inDirectory(run: (path: string) => Promise<void>): Promise<void> {
  const parent = await mkdtemp(join(tmpdir(), "watched-"));
  const path = join(parent, "directory");
  await mkdir(path);
  for (const name of ["file", "other"]) await writeFile(join(path, name), "a");
  try {
    await run(path);
  } finally {
    await rm(parent, { recursive: true });
  }
}
