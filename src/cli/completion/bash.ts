/** Completion for bash 3.2 and later. Source: the bash manual, "Programmable Completion" */
import type { CompletedCommand } from "./completion-tree.ts";
import { commandSearch, quoted, valueGroups } from "./shell-text.ts";

/** The script of `coxswain completion bash`. */
export function bashScript(commands: readonly CompletedCommand[]): string {
  return `# Completion of coxswain for bash.
_coxswain() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" flag="\${COMP_WORDS[COMP_CWORD-1]}" equals='' words='' values=''
  # Bash splits --flag=value into three words.
  if [ "$cur" = '=' ]; then cur='' equals=1; elif [ "$flag" = '=' ]; then flag="\${COMP_WORDS[COMP_CWORD-2]}" equals=1; fi
${commandSearch(commands, { array: "COMP_WORDS", current: "COMP_CWORD", first: 1 })}
  case "$at $flag" in
${commands.flatMap(valueCases).join("\n")}
  esac
  # Without words, bash completes files.
  if [ "$values" = files ]; then return; fi
  if [ -z "$values" ]; then
    case "$at" in
${commands.map(wordCase).join("\n")}
    esac
  fi
  COMPREPLY=($(compgen -W "$values$words" -- "$cur"))
}
complete -o default -F _coxswain coxswain
`;
}

function valueCases(command: CompletedCommand): string[] {
  return valueGroups(command).map(({ patterns, values, isSwitch }) => {
    const set = `values=${quoted(values === "files" ? values : values.join(" "))}`;
    return `    ${patterns}) ${isSwitch ? `[ -z "$equals" ] || ` : ""}${set} ;;`;
  });
}

function wordCase({ path, subcommands, options }: CompletedCommand): string {
  const words = [...subcommands, ...options].map(({ word }) => word);
  return `      ${quoted(path)}) words=${quoted(words.join(" "))} ;;`;
}
