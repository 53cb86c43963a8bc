import { realpathSync } from "node:fs";

/** The command line that runs this command again; arguments follow. */
export function ownCommand(): [program: string, ...args: string[]] {
  return [process.execPath, ...process.execArgv, realpathSync(process.argv[1] as string)];
}
