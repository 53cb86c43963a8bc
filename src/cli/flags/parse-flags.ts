/** Parses the command line of the server, and writes its `--help`. */

import { Command, CommanderError, Help, Option } from "commander";
import { quoteGo } from "../../lib/json/quote.ts";
import { colored, hasColors } from "../colors.ts";
import { serveExitCodes } from "../exit-codes.ts";
import { formatExamples, formatExitCodes } from "../help-text.ts";
import { presetWords } from "../preset-words.ts";
import { versionText } from "../version.ts";
import { type Flag, FlagError, type FlagType, FlagValueError, type OptionPath, type Settings } from "./contract.ts";
import { defaultOf } from "./defaults.ts";
import { flagGroups } from "./flag-groups.ts";
import { type GivenOptions, optionsOf, settingsOf } from "./settings.ts";
import { shownFlags } from "./shown-flags.ts";

type CommandLine =
  | { readonly run: "server"; readonly settings: Settings }
  | { readonly run: "print"; readonly text: string };

/** What flags have set so far. */
interface Parsed {
  /** The last value of each flag, by its name. */
  readonly texts: Map<string, string>;
  readonly given: Map<OptionPath, { readonly flag: Flag; readonly value: unknown }>;
  /** Each flag as `--name=value`, in their order. */
  readonly words: string[];
  /** About deprecated flags. */
  readonly warnings: string[];
}

/** Flags of the server in the definition of another command. */
export interface ServerFlags {
  readonly options: readonly Option[];
  /** The flags of the command line in their order, as `--name=value`. */
  readonly words: readonly string[];
  /** What the flags have set. @throws FlagError for flags that cannot be combined */
  settings(): Settings;
}

/**
 * Parses the command line of the server.
 *
 * @param argv the arguments without the names of node and the script
 * @throws FlagError
 */
export function parseFlags(argv: readonly string[]): CommandLine {
  const parsed = nothingParsed();
  const command = newCommand(parsed);
  try {
    command.parse(presetWords(command, argv), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) throw new FlagError(upstreamText(error));
    throw error;
  }
  const { help, version } = command.opts<{ help?: true; version?: true }>();
  if (help) return { run: "print", text: helpText(command, { isColored: isColored(parsed.given) }) };
  if (version) return { run: "print", text: `${versionText()}\n` };
  return { run: "server", settings: parsedSettings(parsed) };
}

/**
 * Flags of the server for the definition of another command, which has its own `--color`.
 *
 * @param defaults flags of every server of the command; later ones replace them
 */
export function serverFlags(defaults: readonly string[]): ServerFlags {
  const parsed = nothingParsed();
  newCommand(parsed).parse(defaults, { from: "user" });
  const flags = flagGroups.flatMap(([, group]) => group).filter(({ name }) => name !== "color");
  return {
    options: flags.map((flag) => optionOf(flag, parsed)),
    get words() {
      return parsed.words.slice(defaults.length);
    },
    settings: () => parsedSettings(parsed),
  };
}

/** Adds flags of the server to a command, whose help names the command that describes them. */
export function addServerFlags(command: Command, { options }: ServerFlags): Command {
  const described = new Set(options);
  for (const option of options) command.addOption(option);
  return command
    .configureHelp({
      ...command.configureHelp(),
      formatHelp(one, help) {
        const visibleOptions = () => help.visibleOptions(one).filter((option) => !described.has(option));
        return new Help().formatHelp(one, Object.assign(Object.create(help), { visibleOptions }));
      },
    })
    .addHelpText("after", "\nFlags of the server: coxswain serve --help");
}

function nothingParsed(): Parsed {
  return { texts: new Map(), given: new Map(), words: [], warnings: [] };
}

function parsedSettings({ texts, given, warnings }: Parsed): Settings {
  return { ...settingsOf(given, warnings), flags: shownFlags(texts, optionsOf(given)) };
}

/** The definition of all flags, for shell completion. */
export function serveDefinition(): Command {
  return newCommand(nothingParsed());
}

function newCommand(parsed: Parsed): Command {
  const command = new Command("coxswain serve")
    .description(
      "Starts the server: a Kubernetes 1.36 API server with an embedded store. `coxswain` without a command is the same. `coxswain --help` lists the other commands.",
    )
    .usage("[flags]")
    .helpOption(false)
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeErr() {}, outputError() {}, getOutHasColors: () => isColored(parsed.given) })
    .configureHelp({
      optionDescription: ({ description }) => description,
      styleTitle: (text) => colored(text, "bold", true),
    });
  for (const [heading, flags] of flagGroups) {
    for (const flag of flags) command.addOption(optionOf(flag, parsed).helpGroup(`${heading}:`));
  }
  for (const [term, help] of [
    ["-h, --help", "Prints this help."],
    ["--version", "Prints the version; `coxswain version` prints more."],
  ] as const) {
    command.addOption(new Option(term, help).helpGroup("Misc flags:"));
  }
  return command;
}

function isColored(given: GivenOptions): boolean {
  return hasColors(optionsOf(given).command.color, process.stdout, process.env);
}

function helpText(command: Command, colors: { readonly isColored: boolean }): string {
  const examples = ["serve", "serve --data-dir /tmp/demo --secure-port 7443", "serve --storage memory --secure-port 0"];
  return `${command.helpInformation()}\n${formatExamples(examples, colors)}\n\n${formatExitCodes(serveExitCodes, colors)}\n`;
}

function optionOf(flag: Flag, parsed: Parsed): Option {
  const { type, help, deprecated, hidden } = flag;
  const shown = defaultOf(flag);
  const option = new Option(termOf(flag), shown === undefined ? help : `${help} (default ${shown})`);
  option.argParser((text: string) => {
    apply(flag, text, parsed);
    return text;
  });
  if (deprecated !== undefined || hidden) option.hideHelp();
  if (type.choices !== undefined) option.argChoices = [...type.choices];
  // A switch without a value is true.
  return type.isSwitch ? option.preset("true") : option;
}

/** In the syntax of commander: `--secure-port <int>`; the value of a switch is optional. */
export function termOf({ name, short, type: { value, isSwitch } }: Flag): string {
  return `${short === undefined ? "" : `-${short}, `}--${name} ${isSwitch ? `[${value}]` : `<${value}>`}`;
}

/** @throws FlagError */
function apply(flag: Flag, text: string, { texts, given, words, warnings }: Parsed): void {
  const { name, option, deprecated } = flag;
  const type: FlagType<unknown> = flag.type;
  try {
    const value = type.read(text, option && given.get(option)?.value);
    texts.set(name, text);
    words.push(`--${name}=${text}`);
    if (option !== undefined && value === undefined) given.delete(option);
    else if (option !== undefined) given.set(option, { flag, value });
  } catch (error) {
    if (!(error instanceof FlagValueError)) throw error;
    const shown = flag.short === undefined ? `--${name}` : `-${flag.short}, --${name}`;
    throw new FlagError(`invalid argument ${quoteGo(text)} for "${shown}" flag: ${error.message}`);
  }
  if (deprecated !== undefined) warnings.push(`Flag --${name} has been deprecated, ${deprecated}`);
}

/** Converts an error of commander to the message of kube-apiserver's flag library. */
function upstreamText({ code, message }: CommanderError): string {
  const name = /'(-[^' ]*)/.exec(message)?.[1] ?? "";
  if (code === "commander.unknownOption") {
    const nearest = /\(Did you mean ([^()]*)\?\)/.exec(message)?.[1];
    const suggestion = nearest === undefined ? "" : ` (did you mean ${nearest}?)`;
    return `unknown flag: ${name.split("=")[0]}${suggestion}`;
  }
  if (code === "commander.optionMissingArgument")
    return `flag needs an argument: ${/--[\w-]+/.exec(message)?.[0] ?? name}`;
  if (code === "commander.excessArguments") return "unexpected arguments: only flags are accepted";
  return message;
}
