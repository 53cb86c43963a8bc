// own process: measures time, of which collections of garbage would be a part that grows faster than the text
// node flags: --min-semi-space-size=256 --max-semi-space-size=512
/**
 * The time of every parser of outside text is linear: four times the text takes less than six times
 * the time of the processor. Without COXSWAIN_TEST_FULL=1, each parser reads long texts once; where
 * the time is not linear, that takes minutes.
 */
import { test } from "node:test";
import { measureGrowth } from "./support/measure-growth.ts";
import { type PublicParser, publicParsers, type Shape, textOf } from "./support/public-parsers.ts";

const isFull = process.env.COXSWAIN_TEST_FULL === "1";
const growthMax = 6;
/** In characters; four times as many are about as long as a request can be. Longer texts measure the collector of garbage. */
const lengthMax = 1 << 18;
/** Other processes disturb single measurements. */
const attempts = 3;
const shortLength = 10_000;

for (const parser of await publicParsers())
  test(`${parser.name} takes linear time`, async () => {
    for (const shape of parser.shapes) {
      if (isFull) await checkGrowth(parser, shape);
      else await read(parser, textOf(shape, shortLength));
    }
  });

async function checkGrowth(parser: PublicParser, shape: Shape): Promise<void> {
  let growth = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts && growth >= growthMax; attempt++)
    growth = await measureGrowth((length) => {
      const text = textOf(shape, length);
      return () => read(parser, text);
    }, lengthMax);
  if (growth < growthMax) return;
  throw new Error(`${JSON.stringify(shape)}: four times the text takes ${growth.toFixed(1)} times the time`);
}

/** Errors that say that the text is wrong are as good as a value. */
async function read({ parse }: PublicParser, text: string): Promise<void> {
  try {
    await parse(text);
  } catch (error) {
    if (!(error instanceof Error) || error instanceof RangeError || error instanceof TypeError) throw error;
  }
}
