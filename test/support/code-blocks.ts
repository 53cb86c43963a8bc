/**
 * The code blocks of the documents, and how the tests check each. The language of a block decides, or an HTML
 * comment right before it:
 *
 *     <!-- check: KIND -->
 *
 * Further lines of the comment are code that runs before the block and is not displayed. The kinds are in
 * {@link checks}.
 */
import { globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";

const root = join(import.meta.dirname, "../..");

/** What the tests do with a block. */
const checks = {
  /** Runs it: a program, commands, or (`console`) one command whose output follows. */
  run: "sh ts console",
  /** Checks its types. */
  types: "ts",
  /** Sends its objects as dry runs. */
  apply: "yaml",
  /** Starts a server that reads it, as the value of the flag that follows. */
  start: "yaml",
  /** Parses it. */
  parse: "json yaml",
  /** Parses its flags of the server. */
  flags: "sh",
  /** Compares its options with the help of the command. */
  synopsis: "sh",
  /** Looks its scripts up in package.json, and the options of tests in their program. */
  scripts: "sh",
  /** Renders it, in the test of the site. */
  render: "mermaid",
  /** Finds it in a file, whose path follows and which other tests run. */
  part: "*",
  /** Nothing; the reason follows. */
  sample: "*",
} as const;

type Check = keyof typeof checks;

export interface CodeBlock {
  readonly file: string;
  readonly line: number;
  readonly language: string;
  readonly check: Check;
  /** The flag of `start`, the path of `part`, the reason of `sample`. */
  readonly argument: string;
  /** Code that runs before and is not displayed. */
  readonly setup: string;
  readonly code: string;
}

const defaults: Readonly<Record<string, Check>> = {
  sh: "run",
  console: "run",
  ts: "run",
  json: "parse",
  mermaid: "render",
};

/**
 * The documents with code; docs/reference is generated. The tutorial, the guides in docs/how-to and examples/typescript run as a whole instead, block after
 * block: see `run-page.ts`.
 */
export const documents = globSync(
  ["*.md", "docs/**/*.md", "src/lib/*/README.md", "examples/**/*.md", "tools/**/*.md"],
  {
    cwd: root,
    exclude: [
      "docs/reference/**",
      "docs/how-to/!(judge|run-tests).md",
      "docs/tutorial.md",
      "examples/typescript/**",
      "**/node_modules/**",
    ],
  },
)
  .map((file) => file.replaceAll(sep, "/"))
  .sort();

/** @throws Error when a block has no language or an unknown mark */
export function codeBlocks(): CodeBlock[] {
  return documents.flatMap((file) => blocksOf(file, readFileSync(join(root, file), "utf8")));
}

const fence =
  /(?:^(?<markIndent> *)<!-- check: (?<mark>.*?)\s*-->\n)?^(?<indent> *)```(?<language>\S*)\n(?<code>.*?)^\k<indent>```$/gms;

/** @throws Error when a block has no language or an unknown mark, or is indented instead of fenced */
export function blocksOf(file: string, text: string): CodeBlock[] {
  const indented = /(?:^|\n\n)(?! *[-*\d])\S[^\n]*\n\n {4}\S/.exec(text.replace(fence, ""));
  if (indented !== null) throw new Error(`${file}: indented code: ${indented[0]}`);
  return [...text.matchAll(fence)].map(({ groups = {}, index }) => {
    const { indent = "", language = "", code = "", mark } = groups;
    const line = text.slice(0, index).split("\n").length;
    const plain = withoutIndent(code, indent);
    const [first = "", ...setup] = withoutIndent(mark ?? "", indent).split("\n");
    const [name = "", ...argument] = first.split(" ");
    const check = mark === undefined ? defaultOf(language, plain) : name.replace(/:$/, "");
    if (!Object.hasOwn(checks, check) || !accepts(check as Check, language))
      throw new Error(`${file}:${line}: a block of ${language || "no language"} cannot have the check ${check}`);
    const rest = { setup: setup.join("\n"), code: plain };
    return { file, line, language, check: check as Check, argument: argument.join(" "), ...rest };
  });
}

function defaultOf(language: string, code: string): string {
  if (language === "yaml") return /^kind:/m.test(code) ? "apply" : "parse";
  return defaults[language] ?? "(none)";
}

function accepts(check: Check, language: string): boolean {
  return language !== "" && (checks[check] === "*" || checks[check].split(" ").includes(language));
}

function withoutIndent(text: string, indent: string): string {
  return text
    .split("\n")
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    .join("\n");
}
