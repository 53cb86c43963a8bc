import assert from "node:assert/strict";
import { test } from "node:test";
import { writeWhole } from "./write-whole.ts";

const failure = (code: string): Error => Object.assign(new Error(code), { code });

test("writes all bytes to a pipe that accepts a part at a time, or none for the moment", () => {
  const text = "x".repeat(100_000).concat("end");
  const written: Buffer[] = [];
  let calls = 0;
  writeWhole(1, Buffer.from(text), (_, bytes, start) => {
    if (calls++ % 3 === 1) throw failure("EAGAIN");
    const part = bytes.subarray(start, start + 30_000);
    written.push(part);
    return part.length;
  });
  assert.equal(Buffer.concat(written).toString(), text);
});

test("throws when no process reads the pipe", () => {
  const write = (): number => {
    throw failure("EPIPE");
  };
  assert.throws(() => writeWhole(1, Buffer.from("x"), write), /EPIPE/);
});
