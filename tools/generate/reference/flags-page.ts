/** docs/reference/flags.md: the flags of the server, by the groups of `--help`. */
import type { Flag } from "../../../src/cli/flags/contract.ts";
import { defaultOf } from "../../../src/cli/flags/defaults.ts";
import { flagGroups } from "../../../src/cli/flags/flag-groups.ts";
import { code, generatedNote, prose, table } from "./markdown.ts";

const head = ["flag", "value", "default", "meaning", "kube-apiserver"];

const introduction = `The flags of the server: \`coxswain serve --help\`, or \`npm start -- serve --help\`. The [other commands](commands.md) have their own.

The last column compares with kube-apiserver 1.36: *same* if it has the flag with this default, its default if that is another, *no* if it does not have the flag.
A switch (\`bool\`) without a value is true. Durations are numbers with units, such as \`1h30m\` or \`500ms\`. The groups are those of \`--help\`, which leaves out
deprecated flags and those of the last group.`;

export function flagsPage(): string {
  const sections = flagGroups.map(([heading, flags]) => `## ${heading}\n\n${table(head, flags.map(rowOf))}`);
  return ["# Flags\n", `${generatedNote}\n`, `${introduction}\n`, ...sections].join("\n");
}

function rowOf(flag: Flag): string[] {
  const { name, short, type, help, deprecated } = flag;
  const names = short === undefined ? `--${name}` : `-${short}, --${name}`;
  const meaning = deprecated === undefined ? prose(help) : `${prose(help)} Deprecated: ${prose(deprecated)}`;
  return [code(names), code(type.value), code(defaultOf(flag) ?? flag.unset), meaning, comparison(flag)];
}

function comparison({ upstream, hidden }: Flag): string {
  if (upstream === null) return "no";
  if (upstream === undefined) return hidden ? "" : "same";
  return upstream === "" ? "no default" : `default ${code(upstream)}`;
}
