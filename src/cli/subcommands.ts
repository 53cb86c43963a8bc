/** The frame of commands with subcommands, such as `coxswain auth`: help, errors and exit codes. */
import { Command, CommanderError, Option } from "commander";
import type { Output } from "./output.ts";

/** The exit code if the command line or an input is invalid, or the command failed. */
export const exitFailed = 2;

/** The value of `--output`. */
export type OutputFormat = "text" | "json";

/** A command with subcommands. */
interface CommandGroup {
  /** `coxswain auth` */
  readonly name: string;
  readonly description: string;
  /** What the exit codes mean, for `--help`: `0 allowed, 1 not allowed, 2 …`. */
  readonly exitCodes: string;
}

/** Runs the action of a subcommand and keeps its exit code. */
export type Run = (action: (output: Output) => number | Promise<number>) => Promise<void>;

/**
 * Runs one of the subcommands of a command. The message of an error is printed.
 *
 * @param argv the arguments after the name of the command
 * @param add adds the subcommands, whose actions call `run`
 * @returns the exit code of the subcommand, 0 after `--help`, or {@link exitFailed} after an error
 */
export async function runSubcommands(
  { name, description, exitCodes }: CommandGroup,
  argv: readonly string[],
  output: Output,
  add: (command: Command, run: Run) => void,
): Promise<number> {
  let code = 0;
  const command = new Command(name)
    .description(description)
    .exitOverride()
    .configureOutput({ writeOut: output.out, writeErr: output.err });
  add(command, async (action) => {
    code = await action(output);
  });
  command.addHelpText("after", `\nExit codes: ${exitCodes}.`);
  try {
    await command.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitFailed;
    output.err(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
    return exitFailed;
  }
  return code;
}

/** Parses an option that may be repeated. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** @returns the option `--output`, whose value is an {@link OutputFormat} */
export function outputOption(): Option {
  return new Option("-o, --output <format>", "the output format").choices(["text", "json"]).default("text");
}
