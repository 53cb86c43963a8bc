/** Writes the audit log to standard output, for `--audit-log-path=-`. */
import { constants, openSync } from "node:fs";
import type { Clock } from "../apimachinery/clock.ts";
import { LineFile } from "./line-file.ts";
import type { LineWriter } from "./log-sink.ts";

/**
 * @returns a writer whose `writeNow` waits for the reader of the output, and whose `write` does not
 *   where the system allows it
 */
export function standardOutput(clock: Clock): LineWriter {
  const writeNow = (text: string): void => {
    process.stdout.write(text);
  };
  const nonBlocking = openAgain(clock);
  return {
    writeNow,
    async write(text) {
      if (nonBlocking === undefined) writeNow(text);
      else await nonBlocking.write(nonBlocking.bytesOf(text));
    },
    async close() {
      nonBlocking?.close();
    },
  };
}

/**
 * Opens standard output again without blocking.
 *
 * @returns undefined when that is impossible, as with a socket
 */
function openAgain(clock: Clock): LineFile | undefined {
  const { O_RDWR, O_APPEND, O_NONBLOCK } = constants;
  try {
    return new LineFile(openSync("/dev/stdout", O_RDWR | O_APPEND | O_NONBLOCK), clock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined; // Then writes go to process.stdout.
  }
}
