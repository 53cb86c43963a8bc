/**
 * A file that is appended to and set aside when it is full: `audit.log` becomes `audit-2026-01-02T03-04-05.678.log`, and those beyond number or age go.
 * Source: `--audit-log-maxsize`, `-maxage`, `-maxbackup`, `-compress`; the names are those upstream's log library gives.
 */
import { createReadStream, createWriteStream, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Clock } from "../apimachinery/clock.ts";
import type { Logger } from "../apimachinery/logger.ts";
import { makeDirectory } from "../apimachinery/make-directory.ts";
import { LineFile, openForLines } from "./line-file.ts";

export interface RotatingFileOptions {
  readonly path: string;
  /** 0: never set aside. */
  readonly bytesMax: number;
  /** 0: any number. */
  readonly backupsMax: number;
  /** 0: any age. */
  readonly ageMsMax: number;
  readonly compress: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #file: LineFile;
  #tidying: Promise<void> | undefined;
  #tidyAgain = false;

  /** @throws Error when the file cannot be opened */
  constructor(options: RotatingFileOptions) {
    this.#options = options;
    makeDirectory(dirname(options.path), { mode: 0o700 });
    this.#file = new LineFile(openForLines(options.path), options.clock);
    if (this.#file.isRegular) this.#tidy();
  }

  /** Returns when the system has it. @throws Error as the system tells it */
  writeNow(text: string): void {
    const bytes = this.#next(text);
    this.#file.writeNow(bytes);
  }

  /** The same, without others waiting. One at a time. @throws Error as the system tells it */
  async write(text: string): Promise<void> {
    const bytes = this.#next(text);
    await this.#file.write(bytes);
  }

  async close(): Promise<void> {
    this.#file.close();
    await this.#tidying;
  }

  /** @throws Error when the file is full and cannot be set aside, or the text is longer than a file may be */
  #next(text: string): Buffer {
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
    this.#tidy();
  }

  /** In the background, once at a time. */
  #tidy(): void {
    this.#tidyAgain = true;
    this.#tidying ??= this.#tidyAll().finally(() => {
      this.#tidying = undefined;
      if (this.#tidyAgain) this.#tidy(); // Asked for since the last look.
    });
  }

  async #tidyAll(): Promise<void> {
    while (this.#tidyAgain) {
      this.#tidyAgain = false;
      try {
        await this.#tidyOnce();
      } catch (error) {
        this.#options.logger.error("old audit logs could not be tidied up", { error: String(error) }); // They are tried again at the next rotation.
      }
    }
  }

  async #tidyOnce(): Promise<void> {
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

/** Files set aside, the newest first. */
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
