/** Content of files that may change while the server runs. */

import { fileProblem, readGiven } from "../lib/kubeconfig/kubeconfig.ts";
import { watchFile } from "../lib/watched-file/watched-file.ts";
import { type Clock, realClock } from "./clock.ts";
import type { Logger } from "./logger.ts";

/** The latest valid content. */
export interface Live<T> {
  current(): T;
  /** Reloads the files when they change. @param onChange called after each reload */
  follow(onChange: () => void): void;
  /** Tries rejected content again, which other changed files may have made valid. */
  retry(): void;
  close(): void;
}

interface LiveFilesOptions<T> {
  /** The purpose of the files, for logs. */
  readonly name: string;
  readonly files: readonly string[];
  /**
   * Parses the texts of the files, in their order.
   * @throws Error when they are not valid, or do not match each other; its message must not contain secrets
   */
  parse(texts: readonly string[]): T;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * When changed content is not valid, it is logged, and the content before remains in use.
 * @throws Error when a file cannot be read, or `parse` throws
 */
export async function openLiveFiles<T>({ name, files, parse, clock, logger }: LiveFilesOptions<T>): Promise<Live<T>> {
  const texts = await Promise.all(files.map(async (file) => (await readGiven(file)).toString()));
  let current = parse(texts);
  let isRejected = false;
  let changed = (): void => {};
  let watched: { close(): void }[] = [];
  const failed = (error: unknown, file = ""): void =>
    logger.error("Changed files are not valid, keeping their previous content", {
      name,
      error: fileProblem(error, file) ?? (error as Error).message,
    });
  const take = (): void => {
    try {
      current = parse(texts);
    } catch (error) {
      isRejected = true;
      return failed(error); // Files that are replaced one by one may not match yet.
    }
    isRejected = false;
    logger.info("Reloaded changed files", { name });
    changed();
  };
  return {
    current: () => current,
    retry() {
      if (isRejected) take();
    },
    follow(onChange) {
      changed = onChange;
      watched = files.map((file, index) =>
        watchFile(file, {
          known: Buffer.from(texts[index] as string),
          after: realClock(clock).after,
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

/** Constant content in the place of followed content. */
export function constantly<T>(value: T): Live<T> {
  return { current: () => value, follow() {}, retry() {}, close() {} };
}
