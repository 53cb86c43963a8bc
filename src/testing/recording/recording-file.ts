/** The file of a recording, which grows while the session runs, so that it survives the recorder. */
import { closeSync, fdatasync, openSync, readSync, renameSync, writeSync } from "node:fs";
import { promisify } from "node:util";
import { temporaryFor, writeFileAtomically } from "../../apimachinery/write-file-atomically.ts";
import { formatVersion, type Header } from "./format.ts";

/** An open file. */
export interface RecordingFile {
  /**
   * Adds a line. It survives the end of this process at once, and a loss of power soon after.
   *
   * @throws Error of the system; further calls throw it, too: a line after a torn one could not be read
   */
  append(line: string): void;
  /**
   * Replaces the file by a complete recording.
   *
   * @param clean is called with each line that was added, in order
   * @throws Error of the system; the file has the lines that were added then
   */
  finish(clean: (line: string) => string): Promise<void>;
  /** Closes the file, which keeps its lines. */
  close(): Promise<void>;
}

const mode = 0o600;
const headerOf = (more: Partial<Header>): string =>
  JSON.stringify({ format: "coxswain-recording", version: formatVersion, ...more } satisfies Header);

/**
 * Creates the file, which only its owner can read. No link at its name is followed.
 *
 * @throws Error if the file exists, unless it may be replaced
 */
export function openRecordingFile(path: string, { replace }: { readonly replace: boolean }): RecordingFile {
  const descriptor = replace ? openReplacing(path) : openNew(path);
  let bytes = 0;
  let failure: Error | undefined;
  const sync = syncing(descriptor, (error) => {
    failure ??= error;
  });

  function append(line: string): void {
    if (failure !== undefined) throw failure;
    try {
      bytes += writeAll(descriptor, Buffer.from(`${line}\n`));
    } catch (error) {
      failure = error as Error;
      throw error;
    }
    sync.request();
  }

  append(headerOf({ isPartial: true }));
  return {
    append,
    async finish(clean) {
      const [, ...lines] = readAll(descriptor, bytes).toString().split("\n").slice(0, -1);
      await writeFileAtomically(path, [headerOf({}), ...lines.map(clean), ""].join("\n"), mode);
    },
    async close() {
      await sync.ended();
      closeSync(descriptor);
    },
  };
}

function openNew(path: string): number {
  try {
    return openSync(path, "wx+", mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new Error(`${path} exists already: --force replaces it`, { cause: error });
  }
}

/** A new file takes the name: that of a link, too, whose target stays as it is. */
function openReplacing(path: string): number {
  const temporary = temporaryFor(path);
  const descriptor = openSync(temporary, "wx+", mode);
  renameSync(temporary, path);
  return descriptor;
}

/** The system can write less than it gets. */
function writeAll(descriptor: number, bytes: Buffer): number {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
  return bytes.length;
}

function readAll(descriptor: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    const read = readSync(descriptor, bytes, at, length - at, at);
    if (read === 0) throw new Error("the recording was truncated by another program");
    at += read;
  }
  return bytes;
}

/** Lines that are added while the disk writes are in its next run. */
function syncing(descriptor: number, onError: (error: Error) => void): { request(): void; ended(): Promise<void> } {
  const run = promisify(fdatasync);
  let isRequested = false;
  let running: Promise<void> | undefined;
  async function syncAll(): Promise<void> {
    while (isRequested) {
      isRequested = false;
      await run(descriptor).catch(onError);
    }
    running = undefined;
  }
  return {
    request() {
      isRequested = true;
      running ??= syncAll();
    },
    ended: async () => running,
  };
}
