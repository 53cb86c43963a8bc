import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { linkRewriter } from "./rewrite-html.ts";

const page = { prefix: "/proxy", backendHost: "10.0.0.1", requestHost: "server" };

async function rewritten(pieces: readonly string[]): Promise<string> {
  const rewrite = linkRewriter("", page as never);
  assert.ok(rewrite !== undefined);
  let text = "";
  for await (const piece of rewrite(Readable.from(pieces.map((one) => Buffer.from(one))))) text += piece.toString();
  return text;
}

const link = '<a href="/x">';
const changed = '<a href="/proxy/x">';
/** Longer than the tags whose links are rewritten. */
const long = `<a ${"b ".repeat(40_000)}>`;

const rows: [name: string, pieces: readonly string[], expected: string][] = [
  ["a link", [link], changed],
  ["a link in pieces", ["<a hr", 'ef="', '/x">'], changed],
  ["a link behind a tag that is too long", [long, link], long + changed],
  [
    "a link behind a tag that is too long, in pieces",
    [long.slice(0, 70_000), long.slice(70_000) + link],
    long + changed,
  ],
];

for (const [name, pieces, expected] of rows)
  test(`rewrites ${name}`, async () => assert.equal(await rewritten(pieces), expected));

test("reads a page of tags without an end once", async () => {
  const text = "<a ".repeat(1_000_000); // Read from each `<`, it takes hours.
  assert.equal(await rewritten([text]), text);
});
