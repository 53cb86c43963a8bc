import assert from "node:assert/strict";
import { test } from "node:test";
import { CsvError, parseCsv } from "./csv.ts";

const rows: [what: string, text: string, expected: [line: number, fields: string[]][] | string][] = [
  ["empty text", "", []],
  ["one field", "a", [[1, ["a"]]]],
  [
    "empty lines have no record, but have line numbers",
    "a,b\n\r\n\nc,d\r\n",
    [
      [1, ["a", "b"]],
      [4, ["c", "d"]],
    ],
  ],
  ["spaces are kept", " a , b ", [[1, [" a ", " b "]]]],
  ["empty fields", "a,,\n", [[1, ["a", "", ""]]]],
  ["quotes around commas and quotes", '"a,b","c""d",""', [[1, ["a,b", 'c"d', ""]]]],
  [
    "a field over two lines",
    '"a\nb",c\nd',
    [
      [1, ["a\nb", "c"]],
      [3, ["d"]],
    ],
  ],
  ["a carriage return in a line", "a\rb", [[1, ["a\rb"]]]],
  ["a bare quote", 'a,b"c', 'parse error on line 1, column 4: bare " in non-quoted-field'],
  ["a space before a quote", 'a, "b"', 'parse error on line 1, column 4: bare " in non-quoted-field'],
  ["more after a quote", 'x\n"a"b', 'parse error on line 2, column 3: extraneous or missing " in quoted-field'],
  ["no end", 'x\n"a\nb', 'record on line 2; parse error on line 3, column 2: extraneous or missing " in quoted-field'],
];
for (const [what, text, expected] of rows) {
  test(`CSV: ${what}`, () => {
    if (typeof expected === "string") assert.throws(() => parseCsv(text), new CsvError(expected));
    else
      assert.deepEqual(
        parseCsv(text).map(({ line, fields }) => [line, fields]),
        expected,
      );
  });
}
