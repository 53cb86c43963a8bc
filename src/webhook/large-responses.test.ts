/** Responses of megabytes arrive completely, and take turns with other events. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { startWebhookServer } from "../../test/support/webhook-server.ts";
import { webhookClient } from "./client.ts";
import { Connections } from "./connections.ts";
import { WebhookError } from "./contract.ts";
import type { Deadline } from "./deadline.ts";

test("receives large responses at the same time", async () => {
  const server = await startWebhookServer(({ path }) => ({ path, text: "x".repeat(3 << 20) }));
  const client = webhookClient({ url: `${server.url}/large`, ca: server.ca });
  const answers = await Promise.all([1, 2, 3].map(() => client.post("{}", { timeoutMs: 30_000 })));
  for (const { body } of answers) assert.equal(JSON.parse(body.toString()).text, "x".repeat(3 << 20));
  client.close();
  await server.close();
});

test("resumes one response in each turn of the event loop", async () => {
  const connections = new Connections({ origin: "https://127.0.0.1", open: () => assert.fail(), connectionsMax: 1 });
  const order: string[] = [];
  for (const name of ["first", "second", "third"]) connections.resumeLater(() => order.push(name));
  for (const resumed of [1, 2, 3]) {
    await nextTurn();
    assert.equal(order.length, resumed);
  }
  assert.deepEqual(order, ["first", "second", "third"]);
});

test("after a fault, reads large responses slowly and opens connections one by one", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setImmediate"] });
  const opened: number[] = [];
  let now = 0;
  const open = (): never => {
    opened.push(now);
    throw new WebhookError("connect", "refused");
  };
  const connections = new Connections({ origin: "https://127.0.0.1", open, connectionsMax: 10 });
  const deadline = { onEnd() {} } as unknown as Deadline;
  const resumed: number[] = [];
  const start = (): Promise<unknown> => {
    for (let pieces = 0; pieces < 3; pieces++) connections.resumeLater(() => resumed.push(now));
    return Promise.allSettled([1, 2, 3].map(() => connections.acquire(deadline)));
  };
  const run = async (work: Promise<unknown>): Promise<void> => {
    for (let ms = 0; ms < 70; ms++) {
      for (let turns = 0; turns < 10; turns++) await Promise.resolve();
      now++;
      t.mock.timers.tick(1);
    }
    await work;
  };
  await import("undici/lib/dispatcher/client.js"); // Later imports resolve at once.
  await run(start());
  assert.deepEqual({ opened, resumed }, { opened: [0, 0, 0], resumed: [1, 1, 1] });
  connections.reportFault();
  await run(start());
  assert.deepEqual(
    [opened.slice(3), resumed.slice(3)],
    [
      [90, 110, 130],
      [74, 78, 82],
    ],
  );
});
