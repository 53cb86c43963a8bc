/** Completion for zsh. Source: zshcompsys(1), zshcompwid(1) */
import type { CompletedCommand, Described } from "./completion-tree.ts";
import { commandSearch, quoted, valueGroups } from "./shell-text.ts";

/** The script of `coxswain completion zsh`. */
export function zshScript(commands: readonly CompletedCommand[]): string {
  return `#compdef coxswain
# Completion of coxswain for zsh.
_coxswain() {
  local flag="\${words[CURRENT-1]}" equals=''
  local -a values subcommands options
  if [[ "$PREFIX" == --*=* ]]; then
    flag="\${PREFIX%%=*}" equals=1
    compset -P 1 '*='
  fi
${commandSearch(commands, { array: "words", current: "CURRENT", first: 2 })}
  case "$at $flag" in
${commands.flatMap(valueCases).join("\n")}
  esac
  if [[ "\${values[1]}" == files ]]; then _files; return; fi
  if (( \${#values} )); then compadd -a values; return; fi
  case "$at" in
${commands.map(wordCase).join("\n")}
  esac
  if [[ "$PREFIX" == -* ]]; then _describe -o option options
  elif (( \${#subcommands} )); then _describe command subcommands
  else _files; fi
}
compdef _coxswain coxswain
`;
}

function valueCases(command: CompletedCommand): string[] {
  return valueGroups(command).map(({ patterns, values, isSwitch }) => {
    const set = `values=(${values === "files" ? values : values.map(quoted).join(" ")})`;
    return `    ${patterns}) ${isSwitch ? `[[ -z "$equals" ]] || ` : ""}${set} ;;`;
  });
}

function wordCase({ path, subcommands, options }: CompletedCommand): string {
  const list = (words: readonly Described[]): string =>
    words.map(({ word, help }) => quoted(`${word}:${help}`)).join(" ");
  return `    ${quoted(path)}) subcommands=(${list(subcommands)}); options=(${list(options)}) ;;`;
}
