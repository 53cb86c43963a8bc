/** A page fails if one of its blocks does not do what it says. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { skipWithout } from "./needs.ts";
import { applyChange, blocksOf, runPage } from "./run-page.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-page-"));
after(() => rmSync(directory, { recursive: true, force: true }));

const block = (language: string, ...lines: string[]): string => `\n\`\`\`${language}\n${lines.join("\n")}\n\`\`\`\n`;

describe("a page", { skip: skipWithout("shell") }, () => {
  const rows: readonly (readonly [title: string, page: string, error?: RegExp])[] = [
    ["passes if its commands do", block("sh", "a=1") + block("sh", 'test "$a" = 1')],
    [
      "names the block that fails",
      block("sh", "true") + block("sh", "echo seen", "false"),
      /block at line 7 .*\n.*seen/s,
    ],
    ["shows the output", block("sh", "echo one; echo two; echo three") + block("text", "one", "th…e")],
    ["shows a different output", block("sh", "echo one; echo two") + block("text", "two", "one"), /the output at line/],
    ["creates files", block("yaml", "# a/b.yaml", "c: d") + block("sh", "grep d a/b.yaml")],
    [
      "changes files",
      block("yaml", "# a.yaml", "b: c") +
        block("diff", "+++ a.yaml", "@@", "-b: c", "+b: d") +
        block("sh", "grep d a.yaml"),
    ],
    [
      "changes lines that a file does not have",
      block("yaml", "# a.yaml", "b: c") + block("diff", "+++ a.yaml", "@@", "-c: c"),
      /a.yaml does not contain/,
    ],
    ["has a block that is not executed", block("ts", "const a = 1;"), /block at line 3 is not executed/],
    ["has code without a fence", "Text:\n\n    code\n", /indented code/],
    ["ends processes in the background", block("sh", "sleep 1000 &")],
    ["does not end", block("sh", "echo waits", "sleep 1000"), /waits/],
  ];
  for (const [index, [title, page, error]] of rows.entries()) {
    test(title, async () => {
      const scratch = join(directory, String(index));
      mkdirSync(scratch);
      const run = runPage(page, { directory: scratch, scratch, timeoutMs: title === "does not end" ? 200 : 60_000 });
      await (error === undefined ? run : assert.rejects(run, error));
    });
  }
});

test("blocks are found with their lines", () => {
  const page = "text\n```sh\na\n```\n\n  ```json\n  {\n  }\n  ```\n";
  assert.deepEqual(blocksOf(page), [
    { language: "sh", code: "a\n", line: 3 },
    { language: "json", code: "{\n}\n", line: 7 },
  ]);
});

test("a change applies to the first lines that match as a whole", () => {
  let written = "";
  const write = (_file: unknown, text: unknown): void => {
    written = String(text);
  };
  applyChange("+++ f\n@@\n b\n+c\n@@\n-d\n", () => "ab\nb\nd\nd\n", write);
  assert.equal(written, "ab\nb\nc\nd\n");
});
