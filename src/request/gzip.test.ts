import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import type { Exchange } from "./exchange.ts";
import { acceptsGzip, gzipHeaders, respondGzipped } from "./gzip.ts";

/** Bytes that no compression makes fewer. */
const piece = randomBytes(1 << 20);

test("does not answer a request twice", async () => {
  let answers = 0;
  const exchange = { answered: false, closed: false, respond: () => answers++ };
  respondGzipped(exchange as unknown as Exchange, 200, {}, piece);
  exchange.answered = true;
  await new Promise<void>((resolve) => {
    const last = { answered: false, closed: false, respond: () => resolve() };
    respondGzipped(last as unknown as Exchange, 200, {}, piece);
  });
  assert.equal(answers, 0);
});

const offers: [header: string | undefined, accepted: boolean][] = [
  ["gzip", true],
  ["br,gzip", true],
  ["deflate, \tgzip ", true],
  [undefined, false],
  ["", false],
  ["gzip;q=0.5", false],
  ["x-gzip", false],
  ["*", false],
];
for (const [header, accepted] of offers)
  test(`Accept-Encoding: ${header}`, () => assert.equal(acceptsGzip(header), accepted));

test("adds Accept-Encoding to an existing Vary header", () => {
  assert.deepEqual(gzipHeaders({ vary: "Accept", etag: "x" }), {
    vary: ["Accept", "Accept-Encoding"],
    etag: "x",
    "content-encoding": "gzip",
  });
  assert.deepEqual(gzipHeaders({}), { vary: ["Accept-Encoding"], "content-encoding": "gzip" });
});
