import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeYaml } from "./decode.ts";
import { splitDocuments } from "./split-documents.ts";

const rows: [text: string, expected: [value: unknown, line: number][]][] = [
  ["", []],
  ["# nothing\n---\n# here\n--- \n\n...\n", []],
  ["a: 1", [[{ a: 1 }, 1]]],
  [
    "# first\na: 1\n---\nb: 2\n--- # third\nc: 3\n",
    [
      [{ a: 1 }, 1],
      [{ b: 2 }, 3],
      [{ c: 3 }, 5],
    ],
  ],
  [
    "--- {a: 1}\r\n---\t{b: 2}\r\n",
    [
      [{ a: 1 }, 1],
      [{ b: 2 }, 2],
    ],
  ],
  [
    "a: |\n  ---\n  x\n---\nb: ---x\n---y: 1\n",
    [
      [{ a: "---\nx\n" }, 1],
      [{ b: "---x", "---y": 1 }, 4],
    ],
  ],
  [
    "a: 1\n...\n%YAML 1.1\n---\nb: 2\n...\nc: 3\n",
    [
      [{ a: 1 }, 1],
      [{ b: 2 }, 3],
      [{ c: 3 }, 7],
    ],
  ],
  ['{"a": 1}', [[{ a: 1 }, 1]]],
];
for (const [text, expected] of rows) {
  test(`the documents of ${JSON.stringify(text)}`, () => {
    const found = splitDocuments(Buffer.from(text)).map(({ bytes, line }) => [decodeYaml(bytes).value, line]);
    assert.deepEqual(found, expected);
  });
}

test("rejects bytes that are not text", () => {
  assert.throws(() => splitDocuments(Buffer.from([0x61, 0xff])), { message: "yaml: invalid leading UTF-8 octet" });
});
