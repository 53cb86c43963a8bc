/** The options of `startServer` that flags set, and their defaults: from the rows in src/cli/flags/. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Flag } from "../../src/cli/flags/contract.ts";
import { flagGroups } from "../../src/cli/flags/flag-groups.ts";

const start = "  // Written by `npm run generate` from the rows of flags in src/cli/flags/.\n";
const end = "  // The end of what is written.\n";

/** Options of contracts that `ServerOptions` extends: the parts that read them describe them. */
const ofContracts = new Set<string>([
  "endpointReconciler",
  "apiserverCount",
  "kubernetesServiceNodePort",
  "emulatedVersion",
  "minCompatibilityVersion",
  "emulationForwardCompatible",
  "runtimeConfigEmulationForwardCompatible",
]);

/** Writes the options into the files of a directory like src/server. */
export function writeOptions(directory: string): void {
  for (const [name, text] of Object.entries(optionFiles(directory))) writeFileSync(join(directory, name), text);
}

/** @returns the files by their names, with the options that the rows have now */
export function optionFiles(directory: string): Record<string, string> {
  const rows = flagGroups.flatMap(([, flags]) => flags).filter(isOption);
  const read = (name: string): string => readFileSync(join(directory, name), "utf8");
  return {
    "options.ts": withPart(read("options.ts"), rows.map(memberOf)),
    "default-options.ts": withPart(read("default-options.ts"), rows.filter(hasDefault).map(defaultOf)),
  };
}

function isOption({ option }: Flag): boolean {
  return option !== undefined && !option.includes(".") && !ofContracts.has(option);
}

function hasDefault(flag: Flag): boolean {
  return "default" in flag;
}

function withPart(file: string, lines: readonly string[]): string {
  const [from, to] = [file.indexOf(start), file.indexOf(end)];
  if (from < 0 || to < from) throw new Error("no lines that begin and end what is written");
  return `${file.slice(0, from)}${start}${lines.join("")}${file.slice(to)}`;
}

function memberOf(flag: Flag): string {
  const { name, option, type } = flag;
  if (type.ts === undefined) throw new Error(`--${name}: the type of an option names its TypeScript type, in \`ts\``);
  const mark = hasDefault(flag) ? "" : "?";
  const orUndefined = flag.default === undefined ? " | undefined" : "";
  return `${docstring(flag.inCode ?? inCode(flag.help))}  readonly ${option}${mark}: ${type.ts}${orUndefined};\n`;
}

function defaultOf(flag: Flag): string {
  return `  ${flag.option}: ${literal(flag.default)},\n`;
}

/** Numbers have a separator before each three digits. */
function literal(value: unknown): string {
  if (value instanceof Map && value.size === 0) return "new Map()";
  if (typeof value === "number") return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, value < 10_000 ? "" : "_");
  return value === undefined ? "undefined" : JSON.stringify(value);
}

/** A help text for programs: options instead of flags. */
function inCode(help: string): string {
  const options = new Map(flagGroups.flatMap(([, flags]) => flags).map(({ name, option }) => [name, option]));
  return help.replaceAll(/--[a-z0-9-]*[a-z0-9*]/g, (flag) => `\`${options.get(flag.slice(2)) ?? flag}\``);
}

const indentation = "  ";
const widthMax = 120;

function docstring(text: string): string {
  const line = `${indentation}/** ${text} */\n`;
  if (line.length - 1 <= widthMax) return line;
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`;
    if (`${indentation} *${longer}`.length <= widthMax) lines[lines.length - 1] = longer;
    else lines.push(` ${word}`);
  }
  return [`${indentation}/**`, ...lines.map((one) => `${indentation} *${one}`), `${indentation} */\n`].join("\n");
}
