/** Replaces src/lib/processes/own-command.ts in the single executable: it is the command. */
export function ownCommand(): [program: string] {
  return [process.execPath];
}
