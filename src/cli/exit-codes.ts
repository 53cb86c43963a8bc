/** What exit codes mean, in the help of commands and in docs/reference/exit-codes.md. */

/** What each exit code of a command means. */
export type ExitCodes = readonly (readonly [code: number | string, meaning: string])[];

/** The exit code of subcommands if the command line or an input is invalid, or the command failed. */
export const exitFailed = 2;
/** The exit code of the server if it cannot start. */
export const exitNotStarted = 1;
/** The exit code of the server if the store is damaged. Source: docs/reliability.md, "A store that does not open". */
export const exitDamagedStore = 3;
/** A signal that ends the server at once has this exit code plus the number of the signal, as in a shell. */
export const exitSignal = 128;

/** Of `coxswain serve`, and of `coxswain` without a command. */
export const serveExitCodes: ExitCodes = [
  [0, "a signal ended the server, and open requests were finished"],
  [exitNotStarted, "the command line is invalid, the server could not start, or its end failed"],
  [exitDamagedStore, "the store is damaged"],
  [`${exitSignal} + n`, "a second signal, of number n, ended the server before open requests were finished"],
];
