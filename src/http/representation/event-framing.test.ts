import assert from "node:assert/strict";
import { test } from "node:test";
import { type FramedEvent, jsonLines, protobufFrames } from "./event-framing.ts";

const events = (...objects: string[]): FramedEvent[] =>
  objects.map((object) => ({ type: "ERROR", object: Buffer.from(object) }));

test("a line each", () => {
  assert.equal(
    jsonLines.join(events("{}", "1")).toString(),
    '{"type":"ERROR","object":{}}\n{"type":"ERROR","object":1}\n',
  );
});

/**
 * As apimachinery's serializer and framer write `WatchEvent{Type: "ERROR", Object:
 * RawExtension{Raw: …}}`.
 */
const frames: [what: string, events: FramedEvent[], hex: string][] = [
  ["one", events("ab"), "0000000d0a054552524f5212040a026162"],
  ["two", events("a", ""), "0000000c0a054552524f5212030a01610000000b0a054552524f5212020a00"],
  ["lengths of two bytes", events("a".repeat(200)), `000000d50a054552524f5212cb010ac801${"61".repeat(200)}`],
];
for (const [what, given, hex] of frames) {
  test(`messages after their lengths: ${what}`, () =>
    assert.equal(protobufFrames("x/y").join(given).toString("hex"), hex));
}
