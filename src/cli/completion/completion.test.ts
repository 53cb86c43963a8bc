/** Completion in the real shells. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { skipWithout } from "../../../test/support/needs.ts";
import { main } from "../../../test/support/program.ts";
import { commandGroups } from "../commands.ts";
import { flagGroups } from "../flags/flag-groups.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-completion-"));
after(() => rmSync(directory, { recursive: true, force: true }));
const file = (name: string): string => join(directory, name);
const timeout = 120_000;

type Shell = "bash" | "zsh" | "fish";
const shells: readonly Shell[] = ["bash", "zsh", "fish"];

/** Separates words as bash does, which makes `=` a word. */
const bashProgram = `
source ${file("bash")}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=\${#COMP_LINE}
_coxswain
printf '%s\\n' "\${COMPREPLY[@]}"
`;

/** Prints what functions of the completion system add, in an interactive shell. */
const zshInit = `
PROMPT= RPROMPT=
autoload -U compinit
compinit -u -D
source ${file("zsh")}
compadd() {
  if [[ " \${(j: :)@[1,(i)(-|--)]} " == *' -'[a-zA-Z12]#[OAD]' '* ]]; then builtin compadd "$@"; return; fi
  local -a hits
  builtin compadd -A hits "$@"
  builtin compadd "$@"
  (( \${#hits} )) && print -l -r -- '' "MATCH "$^hits
}
end-of-list() { print -r -- LIST''_END }
comppostfuncs=(end-of-list)
LISTMAX=10000
bindkey '^I' complete-word
print RE''ADY
`;
const zshCapture = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "source ${file("init.zsh")}"
while zpty -r shell line; do [[ "$line" == *READY* ]] && break; done
zpty -w -n shell "$1"$'\\t'
while zpty -r shell line; do
  [[ "$line" == *LIST_END* ]] && break
  print -r -- "$line"
done
zpty -d shell
`;

for (const shell of shells) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, "completion", shell], { encoding: "utf8" });
  assert.deepEqual([status, stderr], [0, ""]);
  writeFileSync(file(shell), stdout);
}
writeFileSync(file("init.zsh"), zshInit);
writeFileSync(file("capture.zsh"), zshCapture);
writeFileSync(file("afile.yaml"), "");

/** @returns what the shell offers at the end of the line */
function complete(shell: Shell, line: string): string[] {
  const run = (program: string, ...argv: string[]): string =>
    spawnSync(program, argv, { encoding: "utf8", timeout, cwd: directory }).stdout;
  if (shell === "bash") {
    const words = line.split(/ +|(=)/).filter((word) => word !== undefined);
    const list = words.at(-1) === "" && words.at(-2) === "=" ? words.slice(0, -1) : words;
    return lines(run("bash", "--norc", "-c", bashProgram, "bash", ...list));
  }
  if (shell === "zsh") {
    const output = run("zsh", "-f", file("capture.zsh"), line);
    return [...output.matchAll(/^MATCH (\S+)/gm)].map(([, word]) => word as string).sort();
  }
  const offered = lines(run("fish", "--no-config", "-c", `source ${file("fish")}; complete -C '${line}'`));
  return offered.map((one) => (one.split("\t")[0] as string).replace(/^--[\w-]+=/, "")).sort();
}

const lines = (text: string): string[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .sort();

const names = commandGroups.flatMap(([, commands]) => commands.map(({ name }) => name));
const rows: [line: string, expected: readonly string[], besides?: { readonly except: readonly Shell[] }][] = [
  ["coxswain st", ["status", "store"]],
  ["coxswain help st", ["status", "store"]],
  ["coxswain store re", ["repair", "restore"]],
  ["coxswain completion z", ["zsh"]],
  ["coxswain serve --storage", ["--storage", "--storage-initialization-timeout", "--storage-media-type"]],
  ["coxswain --storage-m", ["--storage-media-type"]],
  ["coxswain serve --storage ", ["etcd", "lmdb", "memory"]],
  ["coxswain serve --storage=l", ["lmdb"]],
  ["coxswain --secure-port 1 --storage m", ["memory"]],
  ["coxswain serve --storage lmdb --logging-format ", ["json", "text"]],
  ["coxswain serve --anonymous-auth=t", ["true"], { except: ["fish"] }],
  ["coxswain auth explain -o ", ["json", "text"]],
  ["coxswain auth explain --output j", ["json"]],
  ["coxswain auth explain --color a", ["always", "auto"]],
  ["coxswain admission explain --operation c", ["create"]],
  ["coxswain store check --ca", ["--cafile"]],
  ["coxswain quota explain --stor", []],
  ["coxswain serve --tls-cert-file afi", ["afile.yaml"], { except: ["bash"] }],
];
for (const shell of shells) {
  describe(`completion in ${shell}`, { skip: skipWithout(shell) }, () => {
    for (const [line, expected, { except } = { except: [] }] of rows) {
      if (!except.includes(shell)) test(line, () => assert.deepEqual(complete(shell, line), [...expected].sort()));
    }
    test("offers every command", () => {
      assert.deepEqual(
        complete(shell, "coxswain ").filter((word) => names.includes(word)),
        [...names].sort(),
      );
    });
    test("offers every flag of the server that --help lists", () => {
      const listed = flagGroups.flatMap(([, flags]) =>
        flags.filter(({ hidden, deprecated }) => hidden !== true && deprecated === undefined),
      );
      const flags = listed.map(({ name }) => `--${name}`);
      const offered = new Set(complete(shell, "coxswain serve --"));
      assert.deepEqual(
        flags.filter((flag) => !offered.has(flag)),
        [],
      );
    });
  });
}

test("an unknown shell is an error", () => {
  const { status, stderr } = spawnSync(process.execPath, [main, "completion", "tcsh"], { encoding: "utf8" });
  assert.equal(status, 2);
  assert.match(stderr, /Allowed choices are bash, zsh, fish/);
});
