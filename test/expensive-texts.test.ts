/**
 * Texts that once took seconds to hours. COXSWAIN_TEST_FULL=1 compares the time of the processor with
 * the limit; otherwise they are read once, which takes minutes where the time is not linear.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ExpensiveText, expensiveTexts } from "./support/expensive-texts.ts";
import { leastOf } from "./support/measure-growth.ts";

const isFull = process.env.COXSWAIN_TEST_FULL === "1";

for (const row of expensiveTexts)
  test(`reads ${row.name} in linear time`, async () => {
    if (!isFull) return readOnce(row);
    const ms = await leastOf(() => readOnce(row));
    const limitMs = 5 + (row.msPer100KB * row.text.length) / 100_000;
    assert.ok(ms <= limitMs, `${ms} ms, the limit is ${limitMs}`);
  });

/** Errors that say that the text is wrong are as good as a value. */
async function readOnce({ read, text }: ExpensiveText): Promise<void> {
  try {
    await read(text);
  } catch (error) {
    if (!(error instanceof Error) || error instanceof RangeError || error instanceof TypeError) throw error;
  }
}
