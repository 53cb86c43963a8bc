/**
 * Runs the code blocks of a page of the documentation, in order, as a reader does: in one shell, from the top.
 *
 * - `sh` is run. The page is wrong if a command fails.
 * - A block whose first line is a comment with a file name, such as `// controller.ts` or `# policy.yaml`, becomes this file.
 * - `diff` changes a file: its first line names the file, then each part that starts with `@@` has lines that the file contains.
 * - `text` after `sh` is the output: its lines appear in the output in this order. `…` is any text.
 *
 * A page has no other blocks.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

export interface Block {
  readonly language: string;
  readonly code: string;
  /** Of its first line of code in the page. */
  readonly line: number;
}

interface Shell {
  /** The working directory of the first block. */
  readonly directory: string;
  /** A directory for the files of the blocks. */
  readonly scratch: string;
  /** Programs that the page calls: shell scripts by name. */
  readonly programs?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

/**
 * @returns the fenced blocks, in order, without the indentation of their fence
 * @throws AssertionError when a page has code without a fence
 */
export function blocksOf(markdown: string): Block[] {
  const indented = /\n\n {4}\S.*/.exec(markdown.replace(/^( *)```[\s\S]*?^\1```$/gm, ""));
  assert.equal(indented, null, `indented code: ${indented}`);
  return [...markdown.matchAll(/^( *)```(\w*)[^\n]*\n([\s\S]*?)^\1```$/gm)].map((match) => {
    const [, indent = "", language = "", code = ""] = match;
    const line = markdown.slice(0, match.index).split("\n").length + 1;
    return { language, code: code.replaceAll(new RegExp(`^${indent}`, "gm"), ""), line };
  });
}

/** @throws AssertionError that names the line of the block when a command fails or prints another output */
export async function runPage(markdown: string, shell: Shell): Promise<void> {
  const blocks = blocksOf(markdown);
  const bin = join(shell.scratch, "bin");
  mkdirSync(bin, { recursive: true });
  for (const [name, script] of Object.entries(shell.programs ?? {}))
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const script = join(shell.scratch, "page.sh");
  writeFileSync(script, scriptOf(blocks, shell.scratch));
  const { code, output } = await runScript(script, bin, shell);
  const outputs = outputsOf(output);
  const last = [...outputs.keys()].at(-1);
  assert.equal(code, 0, `the block at line ${last} fails:\n${outputs.get(last ?? 0)}`);
  checkOutputs(blocks, outputs);
}

const marker = "@@ block at line";

function scriptOf(blocks: readonly Block[], scratch: string): string {
  const parts = blocks.flatMap((block, index) => {
    if (block.language === "text" && blocks[index - 1]?.language === "sh") return [];
    const content = join(scratch, `block-${index}`);
    writeFileSync(content, block.code);
    return [`echo; echo "${marker} ${block.line}"\n${commandOf(block, content)}`];
  });
  const stopChildren = "trap 'code=$?; trap - EXIT; kill $(jobs -p) 2>/dev/null || true; wait; exit $code' EXIT";
  return ["set -eu", "exec 2>&1", stopChildren, ...parts, ""].join("\n");
}

function commandOf(block: Block, content: string): string {
  const { language, code, line } = block;
  if (language === "sh") return code;
  if (language === "diff") return `"${process.execPath}" "${import.meta.filename}" "${content}"`;
  const file = fileOf(block);
  assert.ok(file !== undefined, `the block at line ${line} is not executed`);
  return `mkdir -p "$(dirname "${file}")" && cp "${content}" "${file}"`;
}

/** The file that a block becomes, if its first line names one. */
export function fileOf({ code }: Block): string | undefined {
  return /^(?:\/\/|#) ([\w./-]+\.\w+)\n/.exec(code)?.[1];
}

function runScript(
  script: string,
  bin: string,
  { directory, scratch, environment = {}, timeoutMs = 120_000 }: Shell,
): Promise<{ code: number | null; output: string }> {
  const path = [bin, join(process.execPath, ".."), process.env.PATH].join(delimiter);
  // Of files that the page makes, and that are removed with it.
  const compiled = { NODE_COMPILE_CACHE: join(scratch, "compiled") };
  const env = { ...process.env, ...compiled, NODE_TEST_CONTEXT: undefined, ...environment, PATH: path };
  const child = spawn("bash", [script], { cwd: directory, env, stdio: ["ignore", "pipe", "inherit"], detached: true });
  const timer = setTimeout(() => process.kill(-(child.pid as number), "SIGTERM"), timeoutMs); // Its children, too.
  let output = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  return new Promise((resolve) =>
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve({ code, output });
    }),
  );
}

/** The output of each block, by its line. */
function outputsOf(output: string): Map<number, string> {
  const parts = output.split(new RegExp(`^${marker} (\\d+)$`, "m"));
  const outputs = new Map<number, string>();
  for (let index = 1; index < parts.length; index += 2) outputs.set(Number(parts[index]), parts[index + 1] ?? "");
  return outputs;
}

function checkOutputs(blocks: readonly Block[], outputs: ReadonlyMap<number, string>): void {
  for (const [index, { language, code, line }] of blocks.entries()) {
    const previous = blocks[index - 1];
    if (language !== "text" || previous?.language !== "sh") continue;
    const lines = code.trimEnd().split("\n");
    const expected = lines.map((text) => escapePattern(text).replaceAll("…", ".*")).join("\\n(?:.*\\n)*?");
    const output = outputs.get(previous.line) ?? "";
    assert.match(
      `\n${output}\n`,
      new RegExp(`\\n(?:${expected})\\n`),
      `the output at line ${line} differs:\n${output}`,
    );
  }
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/**
 * Changes a file as a block says. The numbers of lines do not matter, so that pages need no change when the file does.
 *
 * @throws Error when the file does not contain the lines
 */
export function applyChange(change: string, read: (file: string) => string, write: typeof writeFileSync): void {
  const [first = "", ...parts] = change.split(/^@@.*\n/m);
  const file = first.trim().replace(/^\+\+\+ /, "");
  const changed = parts.reduce((text, part) => {
    const lines = part.trimEnd().split("\n");
    const without = (mark: string): string =>
      lines.flatMap((line) => (line.startsWith(mark) ? [] : [`${line.slice(1)}\n`])).join("");
    const [before, after] = [without("+"), without("-")];
    const at = `\n${text}`.indexOf(`\n${before}`);
    if (at === -1) throw new Error(`${file} does not contain these lines:\n${before}`);
    return text.slice(0, at) + after + text.slice(at + before.length);
  }, read(file));
  write(file, changed);
}

if (import.meta.main) {
  applyChange(readFileSync(process.argv[2] as string, "utf8"), (file) => readFileSync(file, "utf8"), writeFileSync);
}
