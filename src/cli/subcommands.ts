/** The frame of subcommands, such as `coxswain auth`: definition, help, errors and exit codes. */
import { Command, CommanderError, Option } from "commander";
import { type ColorMode, colored, colorModes } from "./colors.ts";
import { type ExitCodes, exitFailed } from "./exit-codes.ts";
import { FlagError } from "./flags/contract.ts";
import { formatExamples, formatExitCodes } from "./help-text.ts";
import { type Output, reportError } from "./output.ts";
import { presetWords } from "./preset-words.ts";

/** The value of `--output`. */
export type OutputFormat = "text" | "json";

/** A subcommand of `coxswain`. */
export interface Subcommand {
  readonly exitCodes: ExitCodes;
  /** Commands, options and arguments, which shell completion reads. */
  definition(): Command;
  /**
   * Runs the command. The message of an error is printed.
   *
   * @param argv the arguments after the name of the command
   * @param env the environment, for KUBECONFIG and for credential plugins
   * @returns the exit code of the action, 0 after `--help`, or that of failures after an error
   */
  run(argv: readonly string[], output: Output, env: NodeJS.ProcessEnv): Promise<number>;
}

/** A subcommand in the help of `coxswain`. */
export interface ListedCommand {
  readonly name: string;
  readonly summary: string;
  /** Loads the command; undefined for `serve`, which is not a {@link Subcommand}. */
  readonly load?: () => Promise<Subcommand>;
}

/** The command line as a whole. */
export interface Program {
  /** `coxswain`, without the definitions of its subcommands. */
  definition(): Command;
  commands(): readonly ListedCommand[];
}

/** What a command does. @param argv all arguments of the subcommand @returns the exit code */
type Action = (output: Output, env: NodeJS.ProcessEnv, argv: readonly string[]) => Promise<number>;

/** Runs the action of a command and keeps its exit code. */
export type Run = (action: Action) => Promise<void>;

/** What {@link defineSubcommand} needs. */
interface SubcommandOptions {
  /** `coxswain auth` */
  readonly name: string;
  readonly description: string;
  readonly exitCodes: ExitCodes;
  /** The exit code after an error; {@link exitFailed} by default. */
  readonly failureCode?: number;
  /** Adds options, arguments and subcommands, whose actions call `run`. */
  readonly add: (command: Command, run: Run) => void;
}

/** Defines a subcommand with the option `--color`. Its help and that of its subcommands list the exit codes. */
export function defineSubcommand(options: SubcommandOptions): Subcommand {
  return {
    exitCodes: options.exitCodes,
    definition: () => newCommand(options, () => Promise.reject(new Error("a definition does not run"))),
    run: (argv, output, env) => runSubcommand(options, argv, output, env),
  };
}

async function runSubcommand(
  options: SubcommandOptions,
  argv: readonly string[],
  plain: Output,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const { failureCode = exitFailed } = options;
  let code = 0;
  let output = plain;
  const command = newCommand(options, async (action) => {
    code = await action(output, env, argv);
  });
  command.on("option:color", (mode: ColorMode) => {
    const always = mode === "always";
    if (mode !== "auto") output = { ...plain, outColors: always, errColors: always };
  });
  let acting = command;
  command.hook("preAction", (_, chosen) => {
    acting = chosen;
  });
  configureOutput(command, () => output);
  try {
    await command.parseAsync(presetWords(command, argv), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : failureCode;
    await reportError(error, output);
    if (error instanceof FlagError) output.err(seeHelp(acting));
    return failureCode;
  }
  return code;
}

function newCommand({ name, description, exitCodes, add }: SubcommandOptions, run: Run): Command {
  const command = new Command(name)
    .description(description)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true, styleTitle: bold })
    .addOption(colorOption());
  add(command, run);
  return command.addHelpText("afterAll", `\n${formatExitCodes(exitCodes, { isColored: true })}`);
}

const pathOf = (one: Command): string => (one.parent === null ? one.name() : `${pathOf(one.parent)} ${one.name()}`);
const seeHelp = (command: Command): string => `Run ${pathOf(command)} --help for its options.\n`;

function configureOutput(command: Command, output: () => Output): void {
  const apply = (one: Command): void => {
    one.configureOutput({
      writeOut: (text) => output().out(text),
      writeErr: (text) => output().err(text),
      getOutHasColors: () => output().outColors === true,
      getErrHasColors: () => output().errColors === true,
      outputError: (text, write) => {
        const { errColors } = output();
        write(
          text
            .replace(/^error: /, `${colored("Error:", "red", errColors)} `)
            .replace(/\n\(Did you mean ([^()]*)\?\)\n$/, " (did you mean $1?)\n"),
        );
        write(seeHelp(one));
      },
    });
    one.commands.forEach(apply);
  };
  apply(command);
}

const bold = (text: string): string => colored(text, "bold", true);

/** @returns the option `--color`, whose value is a {@link ColorMode} */
function colorOption(): Option {
  return new Option("--color <when>", "when output is colored; auto: on terminals, unless NO_COLOR is set")
    .choices(colorModes)
    .default("auto");
}

/** Adds examples to the help of a command. @param lines command lines without `coxswain` */
export function addExamples(command: Command, lines: readonly string[]): Command {
  return command.addHelpText("after", `\n${formatExamples(lines, { isColored: true })}`);
}

/** Parses an option that may be repeated. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** @returns the option `--output`, whose value is an {@link OutputFormat} */
export function outputOption(): Option {
  return new Option("-o, --output <format>", "the output format").choices(["text", "json"]).default("text");
}
