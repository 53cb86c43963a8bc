import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { deflatePart, GzipMember } from "./gzip-member.ts";

const text = Buffer.from("a word that repeats, ".repeat(9000));

const rows: [what: string, parts: readonly (readonly [how: "stored" | "deflated", bytes: Buffer])[]][] = [
  ["nothing", []],
  ["an empty part", [["deflated", Buffer.alloc(0)]]],
  ["one byte", [["stored", Buffer.from("a")]]],
  ["a stored part that is longer than a block", [["stored", text]]],
  [
    "parts of both kinds, one of them twice",
    [
      ["stored", Buffer.from("[")],
      ["deflated", text],
      ["stored", Buffer.from(",")],
      ["deflated", randomBytes(200_000)],
      ["deflated", text],
      ["stored", Buffer.from("]\n")],
    ],
  ],
];

for (const [what, parts] of rows)
  test(`a member of ${what} contains its parts, with their checksum and length`, async () => {
    const member = new GzipMember();
    const sent = [GzipMember.head];
    for (const [how, bytes] of parts)
      sent.push(how === "stored" ? member.stored(bytes) : member.deflated(await deflatePart(bytes)));
    sent.push(member.end());
    assert.ok(gunzipSync(Buffer.concat(sent)).equals(Buffer.concat(parts.map(([, bytes]) => bytes))));
  });

test("a part is compressed, and keeps no more memory than its bytes", async () => {
  const { bytes, length } = await deflatePart(text);
  assert.equal(length, text.length);
  assert.ok(bytes.length < text.length / 100);
  assert.equal(bytes.buffer.byteLength, bytes.length);
});
