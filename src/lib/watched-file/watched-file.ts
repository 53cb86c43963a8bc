/** Watches the content of one file. */
import { createHash } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { readBoundedFile } from "../bounded-file/bounded-file.ts";
import { linkDirectories } from "./link-directories.ts";

interface WatchedFileOptions {
  /** The content that the caller has already; `onContent` is not called for it. */
  readonly known?: Uint8Array;
  /** Runs a function once after a delay. @returns a function that cancels it */
  after(delayMs: number, run: () => void): () => void;
  /**
   * Called with the whole content when it differs from the last one. It may be empty or incomplete
   * during a write.
   */
  onContent(content: Buffer): void;
  /** Called at every check that finds the file missing, unreadable or too long. */
  onError(error: Error): void;
  /** Longer files are an error; the default is that of `readBoundedFile`. */
  readonly bytesMax?: number;
}

interface WatchedFile {
  close(): void;
}

const pollMs = 60_000;
/** New content must stay unchanged for this time, so that incomplete content is rarely used. */
const settleMs = 100;

/**
 * The path may change while it is being resolved; after this many attempts, the next event or poll
 * resolves it.
 */
const resolutionsMax = 5;

/**
 * Watches the content of a file, and checks it every 60 seconds too. Because files are often
 * replaced by renaming, it watches directories: that of the file, and each that contains a symbolic
 * link on the path (mounted ConfigMaps have two). If the system cannot watch them, polling remains.
 */
export function watchFile(path: string, options: WatchedFileOptions): WatchedFile {
  const { after, onContent, onError, bytesMax } = options;
  let reported = options.known && hashOf(options.known);
  let unsettled: string | undefined;
  const watchers = new Map<string, FSWatcher>();
  let cancelPoll: () => void;
  let cancelCheck: (() => void) | undefined;
  let reading = false;
  let closed = false;

  /** Checks the file with new watchers, because a directory may have been replaced. */
  function poll(): void {
    closeWatchers();
    cancelPoll = after(pollMs, poll);
    check();
  }

  function closeWatchers(): void {
    for (const watcher of watchers.values()) watcher.close();
    watchers.clear();
  }

  /** Checks the file after a delay, which limits the rate when the directory changes often. */
  function checkSoon(): void {
    if (closed) return;
    cancelCheck ??= after(settleMs, () => {
      cancelCheck = undefined;
      check();
    });
  }

  function check(): void {
    if (reading) return checkSoon();
    reading = true;
    // Watch before reading, so that no change between the two is missed.
    watchDirectories()
      .then(() => readBoundedFile(path, { ...(bytesMax !== undefined && { bytesMax }), waitMs: 0 }))
      .then(
        (content) => done(() => compare(content)),
        (error: Error) => done(() => fail(error)),
      );
  }

  async function watchDirectories(): Promise<void> {
    for (let turn = 0; turn < resolutionsMax; turn++) {
      const directories = await linkDirectories(path);
      if (closed || !useWatchers(directories)) return;
    }
  }

  /** Returns whether directories were added. */
  function useWatchers(directories: ReadonlySet<string>): boolean {
    let changed = false;
    for (const [directory, watcher] of watchers) {
      if (directories.has(directory)) continue;
      watcher.close();
      watchers.delete(directory);
    }
    for (const directory of directories) {
      if (watchers.has(directory)) continue;
      const watcher = watchDirectory(directory, checkSoon);
      if (watcher === undefined) continue;
      watchers.set(directory, watcher);
      changed = true;
    }
    return changed;
  }

  function done(report: () => void): void {
    reading = false;
    if (!closed) report();
  }

  function compare(content: Buffer): void {
    const hash = hashOf(content);
    const settled = hash === unsettled;
    unsettled = undefined;
    if (hash === reported) return;
    if (settled) {
      reported = hash;
      onContent(content);
    } else {
      unsettled = hash;
      checkSoon();
    }
  }

  function fail(error: Error): void {
    unsettled = undefined;
    onError(error);
  }

  poll();
  return {
    close() {
      closed = true;
      cancelPoll();
      cancelCheck?.();
      closeWatchers();
    },
  };
}

/** @returns undefined when the directory cannot be watched */
function watchDirectory(directory: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { persistent: false }, onChange);
    // The next poll watches the directory again.
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}

function hashOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
