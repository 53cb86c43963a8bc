import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "../../watch-cache/contract.ts";
import { MessageCache } from "./message-cache.ts";

test("a message is made once, until too many others were", () => {
  const cache = new MessageCache({ halfBytesMax: 100 });
  const made: string[] = [];
  const entries = new Map(["a", "b", "c", "d"].map((key) => [key, { key, json: Buffer.alloc(30) } as unknown as Entry]));
  const read = (keys: string): string => {
    made.length = 0;
    for (const key of keys) {
      cache.get(entries.get(key) as Entry, () => {
        made.push(key);
        return Buffer.alloc(10);
      });
    }
    return made.join("");
  };
  assert.equal(read("aabab"), "ab");
  assert.equal(read("cd"), "cd", "which makes a and b the older half");
  assert.equal(read("a"), "", "taken over from there; c and d are the older half now");
  assert.deepEqual(
    ["a", "b", "c"].map((key) => cache.peek(entries.get(key) as Entry) !== undefined),
    [true, false, true],
    "looked at without being kept",
  );
  assert.equal(read("cab"), "b", "b was not asked for in time");
});
