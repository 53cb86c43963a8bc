import assert from "node:assert/strict";
import { mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { watchFile } from "./watched-file.ts";

interface Seen {
  readonly path: string;
  readonly dir: string;
  /** Waits until this is told, and gives all that was told since the last call: but for the emptiness of a file that is being written. */
  until(text: string): Promise<string[]>;
  /** Moves on to the next poll. */
  poll(): void;
}

/** Polls are made by hand; all other waiting is real, but a tenth as long. */
async function following(start: { known?: string; content?: string; bytesMax?: number }, run: (seen: Seen) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "watched-"));
  const path = join(dir, "file");
  if (start.content !== undefined) await writeFile(path, start.content);
  const told: string[] = [];
  let wake = (): void => undefined;
  const tell = (text: string): void => {
    told.push(text);
    wake();
  };
  let polling: (() => void) | undefined;
  const watched = watchFile(path, {
    ...(start.known !== undefined && { known: Buffer.from(start.known) }),
    ...(start.bytesMax !== undefined && { bytesMax: start.bytesMax }),
    after(delayMs, then) {
      if (delayMs >= 60_000) {
        polling = then;
        return () => undefined;
      }
      const timer = setTimeout(then, delayMs / 10);
      return () => clearTimeout(timer);
    },
    onContent: (content) => tell(content.toString()),
    onError: (error) => tell(`error ${(error as NodeJS.ErrnoException).code ?? error.message.replace(dir, "")}`),
  });
  try {
    await run({
      path,
      dir,
      async until(text) {
        while (told.at(-1) !== text) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        return told.splice(0).filter((one) => one !== "");
      },
      poll: () => polling?.(),
    });
  } finally {
    watched.close();
    await rm(dir, { recursive: true });
  }
}

test("what is there at first is told, unless it is known", async () => {
  await following({ content: "a" }, async ({ until }) => assert.deepEqual(await until("a"), ["a"]));
  await following({ content: "a", known: "a" }, async ({ until, path, poll }) => {
    poll();
    await writeFile(path, "b");
    assert.deepEqual(await until("b"), ["b"]);
  });
});

test("written over, replaced by renaming, and turned by a link", async () => {
  await following({ content: "a", known: "a" }, async ({ until, path, dir }) => {
    await writeFile(path, "b");
    assert.deepEqual(await until("b"), ["b"]);
    await writeFile(`${path}.new`, "c");
    await rename(`${path}.new`, path);
    assert.deepEqual(await until("c"), ["c"]);
    await writeFile(join(dir, "target"), "d");
    await symlink("target", join(dir, "link"));
    await rename(join(dir, "link"), path);
    assert.deepEqual(await until("d"), ["d"]);
  });
});

test("content that is there already is not told again", async () => {
  await following({ content: "a", known: "a" }, async ({ until, path, poll }) => {
    await writeFile(path, "a");
    poll();
    await writeFile(`${path}.new`, "a");
    await rename(`${path}.new`, path);
    await writeFile(path, "b");
    assert.deepEqual(await until("b"), ["b"]);
  });
});

test("a file that vanishes is an error at each poll, and is followed when it comes back", async () => {
  await following({ content: "a", known: "a" }, async ({ until, path, poll }) => {
    await rm(path);
    poll();
    await until("error ENOENT");
    await writeFile(path, "b");
    await until("b");
  });
});

test("a file that is too long is an error", async () => {
  await following({ content: "12345", bytesMax: 4 }, async ({ until }) => assert.deepEqual(await until("error EFBIG"), ["error EFBIG"]));
});
