/** Completion for fish. Source: fishshell.com/docs, `complete` */
import type { CompletedCommand, CompletedOption, Described } from "./completion-tree.ts";

/** The script of `coxswain completion fish`. */
export function fishScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  return `# Completion of coxswain for fish.
function __coxswain_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$at $word")
        if contains -- "$next" ${paths.join(" ")}
            set at $next
        end
    end
    test "$at" = "$argv[1]"
end
${commands.flatMap(linesOf).join("\n")}
`;
}

function linesOf(command: CompletedCommand): string[] {
  const { path, subcommands, options } = command;
  const at = `complete -c coxswain -n ${quoted(`__coxswain_at ${quoted(path)}`)}`;
  return [
    ...subcommands.map((one) => `${at} -f -a ${quoted(one.word)} ${described(one)}`),
    ...options.map((one) => `${at} -l ${one.word.slice(2)}${shortOf(one)} ${valueFlags(one)}${described(one)}`),
  ];
}

const described = ({ help }: Described): string => `-d ${quoted(help)}`;
const shortOf = ({ short }: CompletedOption): string => (short === undefined ? "" : ` -s ${short.slice(1)}`);

/** Fish has no optional values. Values without a list are files. */
function valueFlags({ value, choices }: CompletedOption): string {
  if (value !== "required") return "";
  return choices.length === 0 ? "-r -F " : `-x -a ${quoted(choices.join(" "))} `;
}

/** In single quotes, fish interprets a backslash before a quote or a backslash. */
function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
