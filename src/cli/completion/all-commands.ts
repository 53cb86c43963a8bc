import type { Program } from "../commands.ts";
import { serveDefinition } from "../flags.ts";
import { type CompletedCommand, completedCommands } from "./completion-tree.ts";

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
