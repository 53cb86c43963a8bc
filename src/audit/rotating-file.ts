/**
 * A file that is appended to and set aside when it is full: `audit.log` becomes `audit-2026-01-02T03-04-05.678.log`, and those beyond number or age go.
 * Source: `--audit-log-maxsize`, `-maxage`, `-maxbackup`, `-compress`; the names are those upstream's log library gives.
 */
import {
  closeSync,
  createReadStream,
  createWriteStream,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  write,
  writeSync,
} from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Clock } from "../api/clock.ts";
import type { Logger } from "../api/logger.ts";

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

/** Every text handed over is whole lines. After a write that stopped half-way the next begins on a line of its own. */
export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #fd: number;
  #size: number;
  #isMidLine = false;
  #tidying: Promise<void> | undefined;
  #tidyAgain = false;

  /** @throws Error when the file cannot be opened */
  constructor(options: RotatingFileOptions) {
    this.#options = options;
    mkdirSync(dirname(options.path), { recursive: true, mode: 0o700 });
    this.#fd = openSync(options.path, "a", 0o600);
    this.#size = fstatSync(this.#fd).size;
    this.#tidy();
  }

  /** Returns when the system has it. @throws Error as the system tells it */
  writeNow(text: string): void {
    const bytes = this.#next(text);
    for (let at = 0; at < bytes.length; ) {
      const written = writeSync(this.#fd, bytes, at);
      this.#wrote(bytes, at, written);
      at += written;
    }
  }

  /** The same, without others waiting. One at a time. @throws Error as the system tells it */
  async write(text: string): Promise<void> {
    const bytes = this.#next(text);
    for (let at = 0; at < bytes.length; ) {
      const written = await new Promise<number>((resolve, reject) => {
        write(this.#fd, bytes, at, (error, count) => (error === null ? resolve(count) : reject(error)));
      });
      this.#wrote(bytes, at, written);
      at += written;
    }
  }

  async close(): Promise<void> {
    closeSync(this.#fd);
    await this.#tidying;
  }

  #wrote(bytes: Buffer, at: number, written: number): void {
    this.#size += written;
    if (written > 0) this.#isMidLine = bytes[at + written - 1] !== 0x0a;
  }

  /** @throws Error when the file is full and cannot be set aside, or the text is longer than a file may be */
  #next(text: string): Buffer {
    const bytes = Buffer.from(this.#isMidLine ? `\n${text}` : text);
    const { bytesMax } = this.#options;
    if (bytesMax === 0) return bytes;
    if (bytes.length > bytesMax) throw new Error(`write length ${bytes.length} exceeds maximum file size ${bytesMax}`);
    if (this.#size + bytes.length > bytesMax) this.#rotate();
    return bytes;
  }

  #rotate(): void {
    const { path, clock } = this.#options;
    const { directory, stem, extension } = partsOf(path);
    const time = new Date(clock.now()).toISOString().slice(0, -1).replaceAll(":", "-");
    renameSync(path, join(directory, `${stem}${time}${extension}`));
    const fd = openSync(path, "a", 0o600);
    closeSync(this.#fd);
    this.#fd = fd;
    this.#size = 0;
    this.#isMidLine = false;
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
