import assert from "node:assert/strict";
import { test } from "node:test";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { TextMemo } from "./text-memo.ts";

test("every text is that of its bytes", () => {
  const random = seededRandom(seed);
  const memo = new TextMemo();
  const alphabets = [Buffer.from("ab"), Buffer.from("é\u{1f600}"), Buffer.from([0, 0x7f, 0x80, 0xff])];
  for (let count = 0; count < 50_000; count++) {
    const alphabet = alphabets[random(alphabets.length)] as Buffer;
    const bytes = Buffer.from(
      Array.from({ length: random(random(9) === 0 ? 60 : 6) }, () => alphabet[random(alphabet.length)] as number),
    );
    const start = random(bytes.length + 1);
    assert.equal(memo.read(bytes, start, bytes.length), bytes.toString("utf8", start));
  }
});

test("more texts than are kept do not mix", () => {
  const memo = new TextMemo();
  for (let round = 0; round < 2; round++) {
    for (let number = 0; number < 20_000; number++) {
      const text = `name-${number}`;
      assert.equal(memo.read(Buffer.from(text), 0, text.length), text);
    }
  }
});
