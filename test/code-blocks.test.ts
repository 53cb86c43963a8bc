/**
 * Code blocks of the documents that are checked without a server: flags, forms of commands, scripts, JSON, YAML. `test/e2e/documented-code.test.ts` runs the others.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import packageJson from "../package.json" with { type: "json" };
import { findCommand } from "../src/cli/commands.ts";
import { parseFlags } from "../src/cli/flags/parse-flags.ts";
import { decodeYaml } from "../src/lib/yaml/decode.ts";
import { blocksOf, type CodeBlock, codeBlocks } from "./support/code-blocks.ts";

const blocks = codeBlocks();
const titleOf = ({ file, line }: CodeBlock): string => `${file}:${line}`;

/** Those that no test checks: at most one in four blocks. */
test("blocks without a check have a reason", () => {
  const samples = blocks.filter(({ check }) => check === "sample");
  for (const block of samples) assert.ok(block.argument.length >= 9, titleOf(block));
  assert.ok(samples.length <= blocks.length / 4, samples.map((one) => `${titleOf(one)}: ${one.argument}`).join("\n"));
});

test("rejects blocks without a language or with an unknown check", () => {
  assert.throws(() => blocksOf("a.md", "```\nx\n```\n"), /no language/);
  assert.throws(() => blocksOf("a.md", "```go\nx\n```\n"), /\(none\)/);
  assert.throws(() => blocksOf("a.md", "<!-- check: types -->\n```sh\nx\n```\n"), /types/);
  assert.throws(() => blocksOf("a.md", "Text:\n\n    code\n"), /indented/);
  const [block] = blocksOf("a.md", "# A\n\n<!-- check: run\nsetup\n-->\n```sh\nx\n```\n");
  assert.deepEqual([block?.line, block?.setup, block?.code], [3, "setup", "x\n"]);
});

/** Its options are those that documents name. */

/** The commands of a block: without comments, with joined lines. */
function commandsOf({ code }: CodeBlock): string[] {
  const joined = code.replaceAll("\\\n", " ");
  return joined
    .split("\n")
    .map((line) => line.replace(/(?:^|\s)#.*$/, "").trim())
    .filter((line) => line !== "");
}

const checkers: Partial<Record<CodeBlock["check"], (block: CodeBlock) => void | Promise<void>>> = {
  flags(block) {
    for (const command of commandsOf(block)) {
      const line = parseFlags(command.replace(/^(?:coxswain|npm start --) (?:serve )?/, "").split(/\s+/));
      assert.ok(line.run === "print" || line.settings.warnings.length === 0, command);
    }
  },
  scripts(block) {
    for (const command of commandsOf(block)) {
      const [npm = "", args = ""] = command.split(" -- ");
      const name = /^npm (?:run )?([a-z:-]+)(?: [a-z]+)?$/.exec(npm)?.[1] ?? command;
      const script = Object.entries(packageJson.scripts).find(([key]) => key === name)?.[1];
      assert.ok(script !== undefined, `no script ${name}`);
      const options = [...args.matchAll(/--[a-z-]+/g)].map(([option]) => option);
      const program = /[\w/-]+\.ts/.exec(script)?.[0];
      const source = program === undefined ? "" : readFileSync(join(import.meta.dirname, "..", program), "utf8");
      for (const option of options) assert.ok(source.includes(`"${option}`), command);
    }
  },
  async synopsis(block) {
    for (const command of commandsOf(block)) await checkSynopsis(command);
  },
  part({ argument, code }) {
    assert.ok(readFileSync(join(import.meta.dirname, "..", argument), "utf8").includes(code), argument);
  },
  parse({ language, code }) {
    if (language === "json") JSON.parse(code);
    else for (const document of code.split(/^---$/m)) assert.notEqual(decodeYaml(Buffer.from(document)).value, null);
  },
};

/** The help of the command lists its options, and as many arguments in lower case as it has. */
async function checkSynopsis(command: string): Promise<void> {
  const [path = "", words = ""] = /^coxswain((?: [a-z][a-z-]*)+)(?= |$)/.exec(command) ?? [];
  const [name = "", ...inner] = words.trim().split(" ");
  const found = await findCommand(name)?.load?.();
  assert.ok(found !== undefined, command);
  const parts: string[] = [];
  const add = (text: string): void => void parts.push(text);
  assert.equal(await found.run([...inner, "--help"], { out: add, err: add }, {}), 0, parts.join(""));
  const help = parts.join("");
  assert.ok(help.includes(path), help);
  const options = [...command.matchAll(/(?<=[\s[])--?[a-z][a-z-]*/g)].map(([option]) => option);
  const unknown = options.filter((option) => !new RegExp(`(?:^|[\\s,])${option}(?:[\\s,]|$)`, "m").test(help));
  assert.deepEqual(unknown, [], command);
}

for (const [check, run] of Object.entries(checkers)) {
  describe(`the help, the flags and the parsers know what documents name: ${check}`, () => {
    for (const block of blocks.filter((one) => one.check === check)) test(titleOf(block), () => run(block));
  });
}
