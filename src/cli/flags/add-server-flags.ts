import { type Command, Help } from "commander";
import type { ServerFlags } from "./parse-flags.ts";

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
