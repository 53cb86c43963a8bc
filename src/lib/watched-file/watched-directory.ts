/** Notices changes in a directory. */
import { type FSWatcher, watch } from "node:fs";

interface WatchedDirectoryOptions {
  /** Runs a function once after a delay. @returns a function that cancels it */
  after(delayMs: number, run: () => void): () => void;
  /** Called after changes, and once a minute; also when nothing changed. */
  onEvent(): void;
}

interface WatchedDirectory {
  close(): void;
}

const pollMs = 60_000;
/** `onEvent` is called when there was no change for this time, so that files are rarely read while they are written. */
const settleMs = 100;

/**
 * Watches the entries of a directory, but not of its subdirectories. Calls `onEvent` for a change
 * of an entry, and every 60 seconds, because the directory itself may be missing or replaced, and
 * entries may be links to files elsewhere.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/filesystem/watchuntil.go.
 */
export function watchDirectory(path: string, { after, onEvent }: WatchedDirectoryOptions): WatchedDirectory {
  let watcher: FSWatcher | undefined;
  let cancelPoll = (): void => undefined;
  let cancelEvent = (): void => undefined;
  const onChange = (): void => {
    cancelEvent();
    cancelEvent = after(settleMs, onEvent);
  };
  const poll = (): void => {
    watcher?.close();
    watcher = tryWatch(path, onChange);
    cancelPoll = after(pollMs, () => {
      poll();
      onEvent();
    });
  };
  poll();
  onChange(); // The directory may have changed since the caller read it.
  return {
    close() {
      watcher?.close();
      cancelPoll();
      cancelEvent();
    },
  };
}

/** Watches a directory until an error. @returns undefined when it cannot be watched; the next poll tries again */
export function tryWatch(path: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(path, { persistent: false }, onChange);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}
