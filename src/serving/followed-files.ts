/** What is read from files that may change while the server runs. */
import type { Clock } from "../apimachinery/clock.ts";
import type { Logger } from "../apimachinery/logger.ts";
import { fileProblem, readGiven } from "../lib/kubeconfig/kubeconfig.ts";
import { watchFile } from "../lib/watched-file/watched-file.ts";

/** The latest content that could be used. */
export interface Live<T> {
  current(): T;
  /** From here on changes are taken over. @param onChange is told after each */
  follow(onChange: () => void): void;
  /** Looks again at what could not be used, which may fit to what else has changed since. */
  retry(): void;
  close(): void;
}

export interface LiveFilesOptions<T> {
  /** What the files are, for logs. */
  readonly name: string;
  readonly files: readonly string[];
  /** Of the files' texts, in their order. @throws Error when they cannot be used, or not together; nothing secret may stand in its message */
  parse(texts: readonly string[]): T;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Content that cannot be used later on is logged, and the one before stays.
 * @throws Error when a file cannot be read, or `parse` refuses it
 */
export async function openLiveFiles<T>({ name, files, parse, clock, logger }: LiveFilesOptions<T>): Promise<Live<T>> {
  const texts = await Promise.all(files.map(async (file) => (await readGiven(file)).toString()));
  let current = parse(texts);
  let isRefused = false;
  let changed = (): void => {};
  let watched: { close(): void }[] = [];
  const failed = (error: unknown, file = ""): void =>
    logger.error("changed files cannot be used; what was read before stays", {
      name,
      error: fileProblem(error, file) ?? (error as Error).message,
    });
  const take = (): void => {
    try {
      current = parse(texts);
    } catch (error) {
      isRefused = true;
      return failed(error); // As long as one file of several is replaced they may not fit.
    }
    isRefused = false;
    logger.info("changed files are used from now on", { name });
    changed();
  };
  return {
    current: () => current,
    retry() {
      if (isRefused) take();
    },
    follow(onChange) {
      changed = onChange;
      watched = files.map((file, index) =>
        watchFile(file, {
          known: Buffer.from(texts[index] as string),
          after: clock.after,
          onContent(content) {
            texts[index] = content.toString();
            take();
          },
          onError: (error) => failed(error, file),
        }),
      );
    },
    close() {
      for (const one of watched) one.close();
    },
  };
}

/** What never changes, where something live is wanted. */
export function constantly<T>(value: T): Live<T> {
  return { current: () => value, follow() {}, retry() {}, close() {} };
}
