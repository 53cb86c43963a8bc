import assert from "node:assert/strict";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../apimachinery/clock.ts";
import { watchFile } from "./watched-file.ts";

interface Seen {
  readonly path: string;
  readonly dir: string;
  /**
   * Waits for a report and returns all reports since the last call, except empty content during a
   * write.
   */
  until(text: string): Promise<string[]>;
  /** Moves on to the next poll. */
  poll(): void;
}

/** Runs polls on demand; all other delays are real, but a tenth as long. */
async function following(
  start: { known?: string; content?: string; bytesMax?: number; links?: (dir: string) => Promise<void> },
  run: (seen: Seen) => Promise<void>,
): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "watched-"));
  const path = join(dir, "file");
  if (start.content !== undefined) await writeFile(path, start.content);
  await start.links?.(dir);
  const reports: string[] = [];
  let wake = (): void => undefined;
  const report = (text: string): void => {
    reports.push(text);
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
      return systemClock.after(delayMs / 10, then);
    },
    onContent: (content) => report(content.toString()),
    onError: (error) => report(`error ${(error as NodeJS.ErrnoException).code ?? error.message.replace(dir, "")}`),
  });
  try {
    await run({
      path,
      dir,
      async until(text) {
        while (reports.at(-1) !== text) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        return reports.splice(0).filter((one) => one !== "");
      },
      poll: () => polling?.(),
    });
  } finally {
    watched.close();
    await rm(dir, { recursive: true });
  }
}

test("reports the first content, unless the caller has it already", async () => {
  await following({ content: "a" }, async ({ until }) => assert.deepEqual(await until("a"), ["a"]));
  await following({ content: "a", known: "a" }, async ({ until, path, poll }) => {
    poll();
    await writeFile(path, "b");
    assert.deepEqual(await until("b"), ["b"]);
  });
});

test("reports content that is overwritten, renamed into place, or replaced by a link", async () => {
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

test("does not report the same content again", async () => {
  await following({ content: "a", known: "a" }, async ({ until, path, poll }) => {
    await writeFile(path, "a");
    poll();
    await writeFile(`${path}.new`, "a");
    await rename(`${path}.new`, path);
    await writeFile(path, "b");
    assert.deepEqual(await until("b"), ["b"]);
  });
});

test("reports a missing file at each poll, and its content when it is back", async () => {
  await following({ content: "a", known: "a" }, async ({ until, path, poll }) => {
    await rm(path);
    poll();
    await until("error ENOENT");
    await writeFile(path, "b");
    await until("b");
  });
});

test("reports a file that is too long", async () => {
  await following({ content: "12345", bytesMax: 4 }, async ({ until }) =>
    assert.deepEqual(await until("error EFBIG"), ["error EFBIG"]),
  );
});

/** Replaces a link as the kubelet replaces `..data`. */
async function replaceLink(link: string, target: string): Promise<void> {
  await symlink(target, `${link}_tmp`);
  await rename(`${link}_tmp`, link);
}

async function directoryWith(dir: string, name: string, content: string): Promise<void> {
  await mkdir(join(dir, name));
  await writeFile(join(dir, name, "file"), content);
}

/** No polls run: the file watchers notice each step. */
const linkRows: [
  what: string,
  links: (dir: string) => Promise<void>,
  steps: (dir: string) => (() => Promise<void>)[],
][] = [
  [
    "a link whose target is written in place, or replaced",
    async (dir) => {
      await directoryWith(dir, "far", "a");
      await symlink("far/file", join(dir, "file"));
    },
    (dir) => [
      () => writeFile(join(dir, "far/file"), "b"),
      async () => {
        await writeFile(join(dir, "far/new"), "c");
        await rename(join(dir, "far/new"), join(dir, "far/file"));
      },
    ],
  ],
  [
    "a link that is replaced, and its new target written in place",
    async (dir) => {
      await directoryWith(dir, "one", "a");
      await directoryWith(dir, "two", "b");
      await symlink(join(dir, "one/file"), join(dir, "file"));
    },
    (dir) => [() => replaceLink(join(dir, "file"), "two/file"), () => writeFile(join(dir, "two/file"), "c")],
  ],
  [
    "a mounted ConfigMap, and a link to a file in it",
    async (dir) => {
      const mount = join(dir, "mount");
      await mkdir(mount);
      await directoryWith(mount, "..one", "a");
      await symlink("..one", join(mount, "..data"));
      await symlink("..data/file", join(mount, "file"));
      await symlink("mount/file", join(dir, "file"));
    },
    (dir) => [
      async () => {
        await directoryWith(join(dir, "mount"), "..two", "b");
        await replaceLink(join(dir, "mount/..data"), "..two");
      },
      async () => {
        await directoryWith(join(dir, "mount"), "..three", "c");
        await replaceLink(join(dir, "mount/..data"), "..three");
        await rm(join(dir, "mount/..one"), { recursive: true });
      },
      () => writeFile(join(dir, "mount/..three/file"), "d"),
    ],
  ],
  [
    "a chain of links through directories, of which one in the middle is replaced",
    async (dir) => {
      await directoryWith(dir, "one", "a");
      await directoryWith(dir, "two", "b");
      await mkdir(join(dir, "links"));
      await symlink("../one", join(dir, "links/current"));
      await symlink("links", join(dir, "via"));
      await symlink("./via/../via/current/file", join(dir, "file"));
    },
    (dir) => [() => replaceLink(join(dir, "links/current"), "../two"), () => writeFile(join(dir, "two/file"), "c")],
  ],
  [
    "a link whose target appears later",
    async (dir) => {
      await mkdir(join(dir, "far"));
      await symlink("far/later/file", join(dir, "file"));
    },
    (dir) => [() => directoryWith(dir, "far/later", "b"), () => writeFile(join(dir, "far/later/file"), "c")],
  ],
];
for (const [what, links, steps] of linkRows) {
  test(`follows ${what}`, { timeout: 20_000 }, async () => {
    await following({ known: "a", links }, async ({ until, dir }) => {
      for (const [index, step] of steps(dir).entries()) {
        await step();
        const content = String.fromCharCode("b".charCodeAt(0) + index);
        assert.ok((await until(content)).includes(content));
      }
    });
  });
}

test("reports a cycle of links at each poll, and the content when the cycle is gone", async () => {
  const links = async (dir: string): Promise<void> => {
    await symlink("other", join(dir, "file"));
    await symlink("file", join(dir, "other"));
  };
  await following({ known: "a", links }, async ({ until, dir }) => {
    await until("error ELOOP");
    await rm(join(dir, "other"));
    await writeFile(join(dir, "other"), "b");
    await until("b");
  });
});
