/** The results are those of Go's `url.URL.Query().Encode()`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeQueryAgain, parseQuery } from "./go-query.ts";

const rows: [query: string, expected: string][] = [
  ["", ""],
  ["watch=1&limit=5", "limit=5&watch=1"],
  ["b=2&a=1&b=1", "a=1&b=2&b=1"],
  ["watch", "watch="],
  ["=1", "=1"],
  ["&&a=1&", "a=1"],
  ["a=b=c", "a=b%3Dc"],
  ["a=1;b=2&c=3", "c=3"],
  ["a=%zz&b=%4", ""],
  ["a=%41&b=x+y&c=x%20y", "a=A&b=x+y&c=x+y"],
  ["labelSelector=a%3Db%2Cc", "labelSelector=a%3Db%2Cc"],
  ["a=/?:@!$'()*", "a=%2F%3F%3A%40%21%24%27%28%29%2A"],
  ["a=%C3%BC&b=\u00fc", "a=%C3%BC&b=%FC"],
  ["Z=1&a=2&%00=3", "%00=3&Z=1&a=2"],
  [`a=1${"&".repeat(9999)}`, "a=1"],
  [`a=1${"&".repeat(10_000)}`, ""],
];

for (const [query, expected] of rows)
  test(`encodes ${JSON.stringify(query.slice(0, 40))} as ${expected}`, () =>
    assert.equal(encodeQueryAgain(query), expected));

test("a query with more than 10,000 parameters is empty, as for Go", () => {
  assert.equal(parseQuery(`watch=1${"&".repeat(9999)}`).get("watch"), "1");
  assert.equal(parseQuery(`watch=1${"&".repeat(10_000)}`).size, 0);
  assert.deepEqual([...parseQuery("?a=1")], [["?a", "1"]]);
});

test("drops parameters with a semicolon or a malformed escape, as Go", () => {
  assert.deepEqual([...parseQuery("limit=1;2&watch=%zz&a%4=b&c=d%20e&f=%")], [["c", "d e"]]);
});
