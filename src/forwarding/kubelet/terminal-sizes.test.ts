import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { throwingExchange } from "../../../test/support/throwing-exchange.ts";
import { until } from "../../../test/support/until.ts";
import { copySizes } from "./terminal-sizes.ts";

const size = '{"Width":1,"Height":2}';
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("sizes wait for a kubelet that does not read", async () => {
  const [from, to] = [new PassThrough(), new PassThrough()];
  copySizes(from, to, throwingExchange);
  for (let sent = 0; sent < 100; sent++) from.write(size.repeat(1000));
  await settle();
  assert.ok(to.readableLength + to.writableLength < 300_000, "of 2.3 MB");
  let received = 0;
  to.on("data", (piece: Buffer) => {
    received += piece.length;
  });
  await until(() => received >= 100_000 * (size.length + 1));
  assert.equal(from.readableLength, 0);
});

test("text that is no size ends the sizes, and is dropped", async () => {
  const [from, to] = [new PassThrough(), new PassThrough()];
  copySizes(from, to, throwingExchange);
  from.write(size);
  await settle();
  from.write("{no size}");
  await settle();
  from.write(size);
  await settle();
  assert.equal(String(to.read()), `${size}\n`);
  assert.equal(from.readableLength, 0);
});
