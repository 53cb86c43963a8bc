/** `coxswain completion`: prints scripts with which shells complete command lines. */
import { Argument } from "commander";
import { exitFailed } from "../exit-codes.ts";
import { addExamples, defineSubcommand, type Program, type Subcommand } from "../subcommands.ts";
import type { CompletedCommand } from "./completion-tree.ts";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

/** @returns the command `coxswain completion` @param program whose commands the scripts complete */
export const completionOf = (program: Program): Subcommand =>
  defineSubcommand({
    name: "coxswain completion",
    description:
      "Prints a script with which a shell completes commands, flags and the values of flags. Add the matching line of the examples to ~/.bashrc, or to ~/.zshrc below compinit; fish loads the file itself.",
    exitCodes: [
      [0, "printed"],
      [exitFailed, "the command line is invalid"],
    ],
    add(command, run) {
      command.addArgument(new Argument("<shell>", "the shell").choices(shells)).action((shell: Shell) =>
        run(async ({ out }) => {
          const { allCommands } = await import("./completion-tree.ts");
          out(await formatScript(shell, await allCommands(program)));
          return 0;
        }),
      );
      addExamples(command, [
        "completion bash        # in ~/.bashrc: source <(coxswain completion bash)",
        "completion zsh         # in ~/.zshrc: source <(coxswain completion zsh)",
        "completion fish > ~/.config/fish/completions/coxswain.fish",
      ]);
    },
  });

async function formatScript(shell: Shell, commands: readonly CompletedCommand[]): Promise<string> {
  if (shell === "bash") return (await import("./bash.ts")).bashScript(commands);
  if (shell === "zsh") return (await import("./zsh.ts")).zshScript(commands);
  return (await import("./fish.ts")).fishScript(commands);
}
