/** docs/reference/exit-codes.md: what the exit codes of all commands mean. */

import { commandGroups } from "../../../src/cli/commands.ts";
import { type ExitCodes, serveExitCodes } from "../../../src/cli/exit-codes.ts";
import { generatedNote, prose, table } from "./markdown.ts";

const introduction = `\`coxswain\` without a command is \`coxswain serve\`. A server that cannot start prints one sentence to standard error: \`Error:\`, what is wrong, and what to
change. An unknown command, too, ends with code 1, as an invalid command line of \`coxswain envtest\` does. \`coxswain test\`, \`record\` and \`replay\` return
the code of the command that they run. All other commands end with code 2 if the command line is invalid
or the command failed, so that their code 1 is always an answer, such as not allowed or damaged.`;

export async function exitCodesPage(): Promise<string> {
  const sections = [section("serve", serveExitCodes)];
  for (const { name, load } of commandGroups.flatMap(([, commands]) => commands)) {
    const command = await load?.();
    if (command !== undefined) sections.push(section(name, command.exitCodes));
  }
  return ["# Exit codes\n", `${generatedNote}\n`, `${introduction}\n`, ...sections].join("\n");
}

function section(name: string, codes: ExitCodes): string {
  const rows = codes.map(([code, meaning]) => [String(code), prose(meaning)]);
  return `## coxswain ${name}\n\n${table(["code", "meaning"], rows)}`;
}
