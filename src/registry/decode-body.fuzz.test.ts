/** Damaged bodies in every encoding; `npm run fuzz` runs millions. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { decoderFuzzer, decoderNames } from "../../test/support/decoder-fuzz.ts";
import { seed } from "../../test/support/seed.ts";

const inputs = process.env.COXSWAIN_TEST_FULL === "1" ? 100_000 : 1000;

for (const name of decoderNames) {
  test(`decodes any bytes to an object or a 400: ${name}`, () => {
    const feed = decoderFuzzer(name);
    let read = 0;
    for (let input = 0; input < inputs; input++) {
      try {
        if (feed(seed + input)) read++;
      } catch (error) {
        throw new Error(`SEED=${seed + input} npm run fuzz -- --decoder ${name} --inputs 1`, { cause: error });
      }
    }
    assert.ok(read > inputs / 100, "some of them are still objects");
  });
}
