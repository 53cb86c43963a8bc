/** docs/reference/flags.md: the flags of the server, by the groups of `--help`. */

import { type Flag, flagGroups } from "../../../src/cli/flags.ts";
import { kubeApiserverFlags, type UpstreamFlag, upstreamDefault } from "../../../test/support/kube-apiserver-flags.ts";
import { code, generatedNote, prose, table } from "./markdown.ts";

const head = ["flag", "value", "default", "meaning", "kube-apiserver"];

const introduction = `The flags of the server: \`coxswain serve --help\`, or \`npm start -- serve --help\`. The [other commands](commands.md) have their own.

The last column compares with kube-apiserver 1.36: *same* if it has the flag with this default, its default if that is another, *no* if it does not have the flag.
A switch (\`bool\`) without a value is true. Durations are numbers with units, such as \`1h30m\` or \`500ms\`. The groups are those of \`--help\`, which leaves out
deprecated flags and those of the last group.`;

export function flagsPage(): string {
  const upstream = new Map(kubeApiserverFlags().map((flag) => [flag.name, flag]));
  const sections = flagGroups.map(([group, flags]) => {
    const rows = flags.map((flag) => rowOf(flag, upstream.get(nameOf(flag))));
    return `## ${group}\n\n${table(head, rows)}`;
  });
  return ["# Flags\n", `${generatedNote}\n`, `${introduction}\n`, ...sections].join("\n");
}

const nameOf = ({ term }: Flag): string => /--([\w-]+)/.exec(term)?.[1] as string;

function rowOf(flag: Flag, upstream: UpstreamFlag | undefined): string[] {
  const { term, shown, unset, help, deprecated } = flag;
  const [, names = "", value = ""] = /^(.*?)(?: [<[](.*)[\]>])?$/.exec(term) ?? [];
  const meaning = deprecated === undefined ? prose(help) : `${prose(help)} Deprecated: ${prose(deprecated)}`;
  return [code(names), code(value), code(shown ?? unset), meaning, comparison(flag, upstream)];
}

function comparison({ shown, unset, hidden }: Flag, upstream: UpstreamFlag | undefined): string {
  if (upstream === undefined) return "no";
  const theirs = upstreamDefault(upstream);
  if ((shown ?? unset) === theirs) return hidden ? "" : "same";
  return theirs === undefined ? "no default" : `default ${code(theirs)}`;
}
