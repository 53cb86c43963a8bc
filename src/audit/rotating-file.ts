/**
 * A log file with rotation: a full `audit.log` is renamed to `audit-2026-01-02T03-04-05.678.log`,
 * and backups above the limits are removed.
 * Source: gopkg.in/natefinch/lumberjack.v2@v2.2.1/lumberjack.go.
 */
import { createReadStream, createWriteStream, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Clock } from "../apimachinery/clock.ts";
import type { Logger } from "../apimachinery/logger.ts";
import { makeDirectory } from "../apimachinery/make-directory.ts";
import { LineFile, openForLines } from "./line-file.ts";

interface RotatingFileOptions {
  readonly path: string;
  /** 0 disables rotation. */
  readonly bytesMax: number;
  /** 0 for no limit. */
  readonly backupsMax: number;
  /** 0 for no limit. */
  readonly ageMsMax: number;
  readonly compress: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A log file that rotates. */
export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #file: LineFile;
  #cleaning: Promise<void> | undefined;
  #isCleaningRequested = false;

  /** @throws Error when the file cannot be opened */
  constructor(options: RotatingFileOptions) {
    this.#options = options;
    makeDirectory(dirname(options.path), { mode: 0o700 });
    this.#file = new LineFile(openForLines(options.path), options.clock);
    if (this.#file.isRegular) this.#startCleaning();
  }

  /** Writes synchronously. @throws Error from the system call, or from the rotation */
  writeNow(text: string): void {
    const bytes = this.#prepareWrite(text);
    this.#file.writeNow(bytes);
  }

  /**
   * Writes without blocking. Callers make one call at a time.
   *
   * @throws Error from the system call, or from the rotation
   */
  async write(text: string): Promise<void> {
    const bytes = this.#prepareWrite(text);
    await this.#file.write(bytes);
  }

  /** Closes the file and waits for the removal and compression of backups. */
  async close(): Promise<void> {
    this.#file.close();
    await this.#cleaning;
  }

  /**
   * Rotates a full file.
   *
   * @throws Error when the rotation fails or the text exceeds the maximum size
   */
  #prepareWrite(text: string): Buffer {
    const bytes = this.#file.bytesOf(text);
    const { bytesMax } = this.#options;
    if (bytesMax === 0 || !this.#file.isRegular) return bytes;
    if (bytes.length > bytesMax) throw new Error(`write length ${bytes.length} exceeds maximum file size ${bytesMax}`);
    if (this.#file.size + bytes.length <= bytesMax) return bytes;
    this.#rotate();
    return this.#file.bytesOf(text);
  }

  #rotate(): void {
    const { path, clock } = this.#options;
    const { directory, stem, extension } = partsOf(path);
    const time = new Date(clock.now()).toISOString().slice(0, -1).replaceAll(":", "-");
    renameSync(path, join(directory, `${stem}${time}${extension}`));
    const next = new LineFile(openForLines(path), clock);
    this.#file.close();
    this.#file = next;
    this.#startCleaning();
  }

  /** Removes and compresses backups in the background, one run at a time. */
  #startCleaning(): void {
    this.#isCleaningRequested = true;
    this.#cleaning ??= this.#cleanUntilDone().finally(() => {
      this.#cleaning = undefined;
      if (this.#isCleaningRequested) this.#startCleaning(); // Requested during the run.
    });
  }

  async #cleanUntilDone(): Promise<void> {
    while (this.#isCleaningRequested) {
      this.#isCleaningRequested = false;
      try {
        await this.#clean();
      } catch (error) {
        // The next rotation repeats it.
        this.#options.logger.error("Failed to clean up old audit logs", { error: String(error) });
      }
    }
  }

  async #clean(): Promise<void> {
    const { path, backupsMax, ageMsMax, compress, clock } = this.#options;
    const oldest = ageMsMax === 0 ? Number.NEGATIVE_INFINITY : clock.now() - ageMsMax;
    const backups = backupsOf(path);
    const kept = backups.slice(0, backupsMax === 0 ? undefined : backupsMax).filter(({ time }) => time >= oldest);
    for (const backup of backups) if (!kept.includes(backup)) rmSync(backup.path, { force: true });
    if (!compress) return;
    for (const { path: plain } of kept) if (!plain.endsWith(".gz")) await gzipFile(plain);
  }
}

async function gzipFile(path: string): Promise<void> {
  await pipeline(createReadStream(path), createGzip(), createWriteStream(`${path}.gz`, { mode: 0o600 }));
  rmSync(path);
}

function partsOf(path: string): { directory: string; stem: string; extension: string } {
  const extension = extname(path);
  return { directory: dirname(path), stem: `${basename(path, extension)}-`, extension };
}

/** The backups, newest first. */
function backupsOf(path: string): { path: string; time: number }[] {
  const { directory, stem, extension } = partsOf(path);
  return readdirSync(directory)
    .filter((name) => name.startsWith(stem))
    .flatMap((name) => {
      const bare = name.endsWith(`${extension}.gz`) ? name.slice(0, -3) : name;
      if (!bare.endsWith(extension)) return [];
      const text = bare.slice(stem.length, bare.length - extension.length);
      const match = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(text);
      if (match === null) return [];
      const [, day, hours, minutes, seconds] = match;
      return [{ path: join(directory, name), time: Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`) }];
    })
    .sort((a, b) => b.time - a.time);
}
