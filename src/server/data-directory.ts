/** Warns of a data directory in which other users of the machine can replace the server's files. */
import { statSync } from "node:fs";
import { storeDirectory } from "../storage/options.ts";
import type { ServerOptions } from "./options.ts";

const othersWrite = 0o002;

/**
 * A user who can write to the data directory can replace the authority, the keys and the store, and so become any user.
 * Only POSIX has these permissions: on Windows, the directory has those of its parent.
 */
export function warnOfWritableDirectories({ dataDir, logger }: Pick<ServerOptions, "dataDir" | "logger">): void {
  if (dataDir === undefined || process.platform === "win32") return;
  for (const directory of [dataDir, storeDirectory(dataDir)]) {
    const found = statSync(directory, { throwIfNoEntry: false });
    if (found === undefined || (found.mode & othersWrite) === 0) continue;
    const mode = (found.mode & 0o7777).toString(8).padStart(4, "0");
    logger.warn("All users of this machine can write to the data directory", {
      directory,
      mode,
      change: `chmod o-w ${directory}`,
    });
  }
}
