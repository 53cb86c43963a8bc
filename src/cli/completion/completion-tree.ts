/** What shells complete, read from the definitions of the commands. */
import type { Command, Option } from "commander";
import { serveDefinition } from "../flags/parse-flags.ts";
import type { Program } from "../subcommands.ts";

/** A command with what may follow it. */
export interface CompletedCommand {
  /** The words after `coxswain`: `store backup`; empty for `coxswain` itself. */
  readonly path: string;
  /** Subcommands, and the values of arguments that have few. */
  readonly subcommands: readonly Described[];
  readonly options: readonly CompletedOption[];
}

/** A word and its meaning, in one line. */
export interface Described {
  readonly word: string;
  readonly help: string;
}

/** An option. */
export interface CompletedOption extends Described {
  /** `--output`; the word has the same text. */
  readonly word: string;
  /** `-o` */
  readonly short: string | undefined;
  /** `none` for switches; `optional` values follow `=` alone. */
  readonly value: "none" | "optional" | "required";
  /** The values, if there are few; otherwise shells complete files. */
  readonly choices: readonly string[];
}

/** All commands of the command line: `coxswain` first, which accepts the flags of `serve`, too. */
export async function allCommands({ definition, commands }: Program): Promise<CompletedCommand[]> {
  const [program] = completedCommands(definition(), []) as [CompletedCommand];
  const serve = completedCommands(serveDefinition(), ["serve"]);
  const own = new Set(program.options.map(({ word }) => word));
  const flags = (serve[0]?.options ?? []).filter(({ word }) => !own.has(word));
  const all = [{ ...program, options: [...program.options, ...flags] }, ...serve];
  for (const { name, load } of commands()) {
    const command = await load?.();
    if (command !== undefined) all.push(...completedCommands(command.definition(), [name]));
  }
  // `help` is followed by the same words as the command that has it.
  const words = program.subcommands.filter(({ word }) => word !== "help");
  return [...all, { path: "help", subcommands: words, options: [] }];
}

/**
 * Flattens a definition, itself first.
 *
 * @param path the words of the command after `coxswain`
 */
function completedCommands(definition: Command, path: readonly string[]): CompletedCommand[] {
  const help = definition.createHelp();
  const subcommands = help.visibleCommands(definition);
  const inner = subcommands.filter((one) => one.name() !== "help");
  const options = [...help.visibleOptions(definition), ...parentOptions(definition)];
  return [
    {
      path: path.join(" "),
      subcommands: [
        ...subcommands.map((one) => ({ word: one.name(), help: one.summary() || one.description() })),
        ...definition.registeredArguments.flatMap(({ argChoices = [], description }) =>
          argChoices.map((word) => ({ word, help: description })),
        ),
      ],
      options: options.flatMap(completedOption),
    },
    ...inner.flatMap((one) => completedCommands(one, [...path, one.name()])),
  ];
}

/** A command accepts the options of the commands around it. */
function parentOptions({ parent }: Command): Option[] {
  if (parent === null) return [];
  return [...parent.options.filter(({ hidden }) => !hidden), ...parentOptions(parent)];
}

function completedOption(option: Option): CompletedOption[] {
  const { long, short, argChoices = [], required, optional, description } = option;
  if (long === undefined) return [];
  const value = required ? "required" : optional ? "optional" : "none";
  // Switches of the server are `[bool]`.
  const choices = optional && argChoices.length === 0 ? ["true", "false"] : argChoices;
  return [{ word: long, help: firstSentence(description), short, value, choices }];
}

/** Shells show one line. */
function firstSentence(text: string): string {
  return (/^.*?[^.](?=[.;:](?:\s|$)|$)/s.exec(text)?.[0] ?? text).replaceAll(/\s+/g, " ");
}
