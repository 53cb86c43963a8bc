/** Parts of the scripts for bash and zsh. */
import type { CompletedCommand, CompletedOption } from "./completion-tree.ts";

/** Quotes a text as one word. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The words of the shell that `commandSearch` reads. */
interface Words {
  /** The name of the array of words. */
  readonly array: string;
  /** The name of the index of the current word. */
  readonly current: string;
  /** The index of the word after `coxswain`. */
  readonly first: number;
}

/** Shell code that sets `at` to the command of the words before the current one. Other words are skipped. */
export function commandSearch(commands: readonly CompletedCommand[], { array, current, first }: Words): string {
  const paths = commands.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  return `  local at='' next i
  for (( i = ${first}; i < ${current}; i++ )); do
    next="\${at:+$at }\${${array}[i]}"
    case "$next" in
      ${paths.join("|")}) at="$next" ;;
    esac
  done`;
}

/** Options of a command that have the same values. */
interface ValueGroup {
  /** The patterns of a shell's `case "$at $flag"`. */
  readonly patterns: string;
  /** Values without a list are files. */
  readonly values: readonly string[] | "files";
  /** Whether the value follows `=` alone, as that of a switch. */
  readonly isSwitch: boolean;
}

/** Groups the options with values, so that scripts are short. */
export function valueGroups({ path, options }: CompletedCommand): ValueGroup[] {
  const groups = Map.groupBy(
    options.filter(({ value }) => value !== "none"),
    ({ value, choices }) => `${value} ${choices.join(" ")}`,
  );
  return [...groups.values()].map((same) => {
    const [{ value, choices }] = same as [CompletedOption];
    return {
      patterns: same
        .flatMap(namesOf)
        .map((name) => quoted(`${path} ${name}`))
        .join("|"),
      values: choices.length === 0 ? "files" : choices,
      isSwitch: value === "optional",
    };
  });
}

const namesOf = ({ word, short }: CompletedOption): string[] => (short === undefined ? [word] : [word, short]);
