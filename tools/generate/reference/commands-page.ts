/** docs/reference/commands.md: the help of the subcommands. */

import { commandGroups } from "../../../src/cli/commands.ts";
import type { Subcommand } from "../../../src/cli/subcommands.ts";
import { generatedNote } from "./markdown.ts";

const introduction = `What \`coxswain COMMAND --help\` prints; in a clone of the repository, \`npm start -- COMMAND\`. Without a command, Coxswain starts the server: its
[flags](flags.md).`;

/** @throws Error if a command has no help */
export async function commandsPage(): Promise<string> {
  const sections: string[] = [];
  for (const { name, load } of commandGroups.flatMap(([, commands]) => commands)) {
    const command = await load?.();
    if (command === undefined) continue; // The flags of serve have their own page.
    const help = (...words: string[]): Promise<string> => helpOf(command, words);
    sections.push(section(2, `coxswain ${name}`, await help()));
    for (const inner of innerCommands(await help()))
      sections.push(section(3, `coxswain ${name} ${inner}`, await help(inner)));
  }
  return ["# Commands\n", `${generatedNote}\n`, `${introduction}\n`, ...sections].join("\n");
}

const section = (level: number, title: string, help: string): string =>
  `${"#".repeat(level)} ${title}\n\n\`\`\`text\n${help.trim()}\n\`\`\`\n`;

async function helpOf(command: Subcommand, words: readonly string[]): Promise<string> {
  const parts: string[] = [];
  const add = (part: string): void => void parts.push(part);
  const code = await command.run([...words, "--help"], { out: add, err: add }, {});
  if (code !== 0) throw new Error(`${words.join(" ")} --help: ${parts.join("")}`);
  return parts.join("");
}

/** The commands that a help lists, except `help`. */
function innerCommands(help: string): string[] {
  const list = /^Commands:\n((?: .*\n)*)/m.exec(help)?.[1] ?? "";
  return [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name as string).filter((name) => name !== "help");
}
