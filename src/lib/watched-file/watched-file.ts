/** Follows the content of one file. Source: access-control §5.3 and §8: on change, and every 60 s. */
import { createHash } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";
import { readBoundedFile } from "../bounded-file/bounded-file.ts";

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

/**
 * The directory is watched, not the file, because files are replaced by renaming, and mounted ones by a link that is turned. Where the system
 * cannot watch, the polls remain.
 */
export function watchFile(path: string, options: WatchedFileOptions): WatchedFile {
  const { after, onContent, onError, bytesMax } = options;
  let told = options.known && hashOf(options.known);
  let unsettled: string | undefined;
  let watcher: FSWatcher | undefined;
  let cancelPoll: () => void;
  let cancelLook: (() => void) | undefined;
  let reading = false;
  let closed = false;

  /** The watcher is made anew, for the directory may be another one by now. */
  function poll(): void {
    watcher?.close();
    watcher = watchDirectory(path, lookSoon);
    cancelPoll = after(pollMs, poll);
    look();
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
    readBoundedFile(path, { ...(bytesMax !== undefined && { bytesMax }), waitMs: 0 }).then(
      (content) => done(() => compare(content)),
      (error: Error) => done(() => fail(error)),
    );
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
      watcher?.close();
    },
  };
}

/** @returns undefined when the directory cannot be watched */
function watchDirectory(path: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(dirname(path), { persistent: false }, onChange);
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
