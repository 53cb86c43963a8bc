/** Follows the content of one file. Source: access-control §5.3 and §8: on change, and every 60 s. */
import { createHash } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { readBoundedFile } from "../bounded-file/bounded-file.ts";
import { linkDirectories } from "./link-directories.ts";

export interface WatchedFileOptions {
  /** What has been read of it already, which is not told again. Undefined: whatever is read first is told. */
  readonly known?: Uint8Array;
  /** Runs once after so many milliseconds. @returns cancels */
  after(delayMs: number, run: () => void): () => void;
  /** Gets the whole content, once for each that differs from the last one told. It may be empty, and half of what somebody still writes. */
  onContent(content: Buffer): void;
  /** The file is not there, cannot be read or is too long: told whenever it is looked at. The content told last stays the last one. */
  onError(error: Error): void;
  /** Longer files are an error; undefined: as for any file. */
  readonly bytesMax?: number;
}

export interface WatchedFile {
  close(): void;
}

const pollMs = 60_000;
/** New content must stand so long, so that what is being written is most likely not read as the whole. */
const settleMs = 100;

/** The way to the file may change again while it is being looked up; after so many times the next event or poll must do. */
const lookUpsMax = 5;

/**
 * Directories are watched, not the file, because files are replaced by renaming: the one that the file is in, and each that holds a symbolic link on the
 * way to it, as mounted ConfigMaps have two. Where the system cannot watch, the polls remain.
 */
export function watchFile(path: string, options: WatchedFileOptions): WatchedFile {
  const { after, onContent, onError, bytesMax } = options;
  let told = options.known && hashOf(options.known);
  let unsettled: string | undefined;
  const watchers = new Map<string, FSWatcher>();
  let cancelPoll: () => void;
  let cancelLook: (() => void) | undefined;
  let reading = false;
  let closed = false;

  /** The watchers are opened again, because a directory may be another one by now. */
  function poll(): void {
    closeWatchers();
    cancelPoll = after(pollMs, poll);
    look();
  }

  function closeWatchers(): void {
    for (const watcher of watchers.values()) watcher.close();
    watchers.clear();
  }

  /** However much goes on in the directory, the file is read once in a while. */
  function lookSoon(): void {
    if (closed) return;
    cancelLook ??= after(settleMs, () => {
      cancelLook = undefined;
      look();
    });
  }

  function look(): void {
    if (reading) return lookSoon();
    reading = true;
    // Watched first and read then, so that no change is missed in between.
    watchDirectories()
      .then(() => readBoundedFile(path, { ...(bytesMax !== undefined && { bytesMax }), waitMs: 0 }))
      .then(
        (content) => done(() => compare(content)),
        (error: Error) => done(() => fail(error)),
      );
  }

  async function watchDirectories(): Promise<void> {
    for (let turn = 0; turn < lookUpsMax; turn++) {
      const directories = await linkDirectories(path);
      if (closed || !useWatchers(directories)) return;
    }
  }

  /** @returns whether there were others before */
  function useWatchers(directories: ReadonlySet<string>): boolean {
    let changed = false;
    for (const [directory, watcher] of watchers) {
      if (directories.has(directory)) continue;
      watcher.close();
      watchers.delete(directory);
    }
    for (const directory of directories) {
      if (watchers.has(directory)) continue;
      const watcher = watchDirectory(directory, lookSoon);
      if (watcher === undefined) continue;
      watchers.set(directory, watcher);
      changed = true;
    }
    return changed;
  }

  function done(tell: () => void): void {
    reading = false;
    if (!closed) tell();
  }

  function compare(content: Buffer): void {
    const hash = hashOf(content);
    const settled = hash === unsettled;
    unsettled = undefined;
    if (hash === told) return;
    if (settled) {
      told = hash;
      onContent(content);
    } else {
      unsettled = hash;
      lookSoon();
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
      cancelLook?.();
      closeWatchers();
    },
  };
}

/** @returns undefined when the directory cannot be watched */
function watchDirectory(directory: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { persistent: false }, onChange);
    // The polls go on, and the next one watches again.
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
