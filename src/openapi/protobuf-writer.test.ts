import assert from "node:assert/strict";
import { test } from "node:test";
import { ProtobufWriter } from "./protobuf-writer.ts";

/** Fields are written from last to first. */
const rows: [what: string, write: (writer: ProtobufWriter) => void, hex: string][] = [
  ["a small number", (writer) => writer.varint(1), "01"],
  ["a number of two bytes", (writer) => writer.varint(300), "ac02"],
  ["a number beyond 32 bits", (writer) => writer.varint(2 ** 40), "808080808020"],
  ["a boolean", (writer) => writer.boolean(4, true), "2001"],
  ["a double", (writer) => writer.double(1, 1), "09000000000000f03f"],
  ["text that is longer than the buffer", (writer) => writer.text("é".repeat(3)), "c3a9c3a9c3a9"],
  [
    "a field around text",
    (writer) => {
      writer.text("ab");
      writer.lengthDelimited(2, writer.length);
    },
    "12026162",
  ],
];
for (const [what, write, hex] of rows) {
  test(what, () => {
    const writer = new ProtobufWriter(1);
    write(writer);
    assert.equal(writer.finish().toString("hex"), hex);
  });
}
