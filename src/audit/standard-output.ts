/** Standard output as the log, for `--audit-log-path=-`. */
import { constants, openSync } from "node:fs";
import type { Clock } from "../apimachinery/clock.ts";
import { LineFile } from "./line-file.ts";
import type { LineWriter } from "./log-sink.ts";

/** What has to be there before an answer waits for whoever reads it; what may be late does not, where the system can be asked for that. */
export function standardOutput(clock: Clock): LineWriter {
  const writeNow = (text: string): void => {
    process.stdout.write(text);
  };
  const later = openAgain(clock);
  return {
    writeNow,
    async write(text) {
      if (later === undefined) writeNow(text);
      else await later.write(later.bytesOf(text));
    },
    async close() {
      later?.close();
    },
  };
}

/** The same file or pipe, opened so that it never makes the process wait. @returns undefined where there is no such way, as with a socket */
function openAgain(clock: Clock): LineFile | undefined {
  const { O_RDWR, O_APPEND, O_NONBLOCK } = constants;
  try {
    return new LineFile(openSync("/dev/stdout", O_RDWR | O_APPEND | O_NONBLOCK), clock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined; // Then it is written to as everything else is.
  }
}
