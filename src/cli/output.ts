/** Where a subcommand prints, and the form of its messages. */
import { colored } from "./colors.ts";

/** Where a subcommand prints. */
export interface Output {
  /** Writes to standard output. */
  readonly out: (text: string) => void;
  /** Writes to standard error. */
  readonly err: (text: string) => void;
  /** Whether standard error is a terminal that can replace its last line; unset: it is not. */
  readonly errIsTerminal?: boolean;
  /** Whether texts for standard output are colored; unset: they are not. */
  readonly outColors?: boolean;
  /** Whether texts for standard error are colored; unset: they are not. */
  readonly errColors?: boolean;
}

/** Prints a warning: what is wrong, where, and what to do, without a period. */
export function warn(output: Output, message: string): void {
  output.err(`${colored("Warning:", "yellow", output.errColors)} ${message}\n`);
}

/** Prints an error as all commands do: what is wrong, where, and what to do if that is known. */
export async function reportError(error: unknown, output: Output): Promise<void> {
  const { describeError } = await import("./describe-error.ts");
  if (output.errIsTerminal === true) output.err("\r\x1b[K"); // A progress bar that the error has ended.
  output.err(`${colored("Error:", "red", output.errColors)} ${describeError(error)}\n`);
}
