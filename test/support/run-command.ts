/** Runs a subcommand of `coxswain` within the test process. */
import type { Output } from "../../src/cli/output.ts";

/** What a command printed, and its exit code. */
export interface RanCommand {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** @param command is called with the output that is collected */
export async function runCommand(command: (output: Output) => Promise<number>): Promise<RanCommand> {
  let [out, err] = ["", ""];
  const code = await command({
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { code, out, err };
}
