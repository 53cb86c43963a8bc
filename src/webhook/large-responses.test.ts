/** Responses of megabytes arrive completely, and take turns with other events. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { startWebhookServer } from "../../test/support/webhook-server.ts";
import { webhookClient } from "./client.ts";
import { Connections } from "./connections.ts";

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
