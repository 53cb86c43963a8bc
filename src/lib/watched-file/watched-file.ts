/** Watches the content of one file. */

import { createHash } from "node:crypto";
import type { FSWatcher } from "node:fs";
import { readBoundedFile } from "../bounded-file/bounded-file.ts";
import { linkDirectories } from "./link-directories.ts";
import { tryWatch } from "./watched-directory.ts";

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
  return new FileFollower(path, options);
}

class FileFollower implements WatchedFile {
  readonly #path: string;
  readonly #options: WatchedFileOptions;
  /** By directory. */
  readonly #watchers = new Map<string, FSWatcher>();
  /** The hash of the last content that the caller has. */
  #reported: string | undefined;
  /** The hash of new content that was read once. */
  #unsettled: string | undefined;
  #cancelPoll: (() => void) | undefined;
  #cancelCheck: (() => void) | undefined;
  #reading = false;
  #closed = false;

  constructor(path: string, options: WatchedFileOptions) {
    this.#path = path;
    this.#options = options;
    this.#reported = options.known && hashOf(options.known);
    this.#poll();
  }

  close(): void {
    this.#closed = true;
    this.#cancelPoll?.();
    this.#cancelCheck?.();
    this.#closeWatchers();
  }

  /** Checks the file with new watchers, because a directory may have been replaced. */
  #poll(): void {
    this.#closeWatchers();
    this.#cancelPoll = this.#options.after(pollMs, () => this.#poll());
    this.#check();
  }

  #closeWatchers(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Checks the file after a delay, which limits the rate when the directory changes often. */
  #checkSoon(): void {
    if (this.#closed) return;
    this.#cancelCheck ??= this.#options.after(settleMs, () => {
      this.#cancelCheck = undefined;
      this.#check();
    });
  }

  #check(): void {
    if (this.#reading) return this.#checkSoon();
    this.#reading = true;
    const { bytesMax } = this.#options;
    // Watch before reading, so that no change between the two is missed.
    this.#watchDirectories()
      .then(() => readBoundedFile(this.#path, { ...(bytesMax !== undefined && { bytesMax }), waitMs: 0 }))
      .then(
        (content) => this.#finishCheck(() => this.#compare(content)),
        (error: Error) => this.#finishCheck(() => this.#fail(error)),
      );
  }

  async #watchDirectories(): Promise<void> {
    for (let turn = 0; turn < resolutionsMax; turn++) {
      const directories = await linkDirectories(this.#path);
      if (this.#closed || !this.#useWatchers(directories)) return;
    }
  }

  /** @returns whether directories were added */
  #useWatchers(directories: ReadonlySet<string>): boolean {
    let changed = false;
    for (const [directory, watcher] of this.#watchers) {
      if (directories.has(directory)) continue;
      watcher.close();
      this.#watchers.delete(directory);
    }
    for (const directory of directories) {
      if (this.#watchers.has(directory)) continue;
      const watcher = tryWatch(directory, () => this.#checkSoon());
      if (watcher === undefined) continue;
      this.#watchers.set(directory, watcher);
      changed = true;
    }
    return changed;
  }

  #finishCheck(report: () => void): void {
    this.#reading = false;
    if (!this.#closed) report();
  }

  #compare(content: Buffer): void {
    const hash = hashOf(content);
    const settled = hash === this.#unsettled;
    this.#unsettled = undefined;
    if (hash === this.#reported) return;
    if (settled) {
      this.#reported = hash;
      this.#options.onContent(content);
    } else {
      this.#unsettled = hash;
      this.#checkSoon();
    }
  }

  #fail(error: Error): void {
    this.#unsettled = undefined;
    this.#options.onError(error);
  }
}

/** @returns undefined when the directory cannot be watched */

function hashOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
