import type { Command } from "commander";

/**
 * Writes the value of each switch that has none: `--profiling` becomes `--profiling=true`. Otherwise commander would
 * take the next word, which kube-apiserver's flag library never does.
 *
 * @param argv the words of a command line; those after `--` stay
 */
export function presetWords({ options }: Command, argv: readonly string[]): string[] {
  const switches = new Map<string, string>();
  const valued = new Set<string>();
  for (const { long, short, optional, required, presetArg } of options) {
    if (optional && presetArg !== undefined) switches.set(long as string, `${long}=${presetArg}`);
    if (required) for (const name of [long, short]) valued.add(name as string);
  }
  const end = argv.includes("--") ? argv.indexOf("--") : argv.length;
  let isValue = false;
  return argv.map((word, at) => {
    const written = isValue || at >= end ? word : (switches.get(word) ?? word);
    isValue = !isValue && valued.has(word);
    return written;
  });
}
