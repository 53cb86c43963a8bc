import assert from "node:assert/strict";
import { test } from "node:test";
import { type FramedEvent, jsonLines, protobufFrames } from "./event-framing.ts";
import { webSocketFrames } from "./web-socket-framing.ts";

const text = webSocketFrames(jsonLines);
const binary = webSocketFrames(protobufFrames("x/y"));
const event = (object: string): FramedEvent => ({ type: "ERROR", object: Buffer.from(object) });
/** What `{"type":"ERROR","object":` and `}` with its newline take. */
const around = 27;

test("text, as a line has it", () => {
  assert.equal(text.join([event("{}")]).toString("latin1"), `\x81\x1d{"type":"ERROR","object":{}}\n`);
});

test("binary, without the length that frames of a stream have", () => {
  assert.equal(binary.join([event("ab")]).toString("hex"), "820d0a054552524f5212040a026162");
});

test("a message each", () => {
  const [one, two] = [event("1"), event("23")];
  assert.deepEqual(text.join([one, two]), Buffer.concat([text.join([one]), text.join([two])]));
});

const lengths: [length: number, head: string][] = [
  [125, "817d"],
  [126, "817e007e"],
  [65_535, "817effff"],
  [65_536, "817f0000000000010000"],
];
for (const [length, head] of lengths) {
  test(`a message of ${length} bytes`, () => {
    const bytes = text.join([event("1".repeat(length - around))]);
    assert.deepEqual(
      [bytes.subarray(0, head.length / 2).toString("hex"), bytes.length - head.length / 2],
      [head, length],
    );
  });
}
