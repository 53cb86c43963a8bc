/**
 * Random and damaged responses: each call ends with a response or a WebhookError, and a damaged
 * response leaves nothing for the next call.
 */
import assert from "node:assert/strict";
import net, { type AddressInfo } from "node:net";
import { after, test } from "node:test";
import { seed } from "../../test/support/seed.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { webhookClient } from "./client.ts";
import { WebhookError } from "./contract.ts";

const rounds = process.env.COXSWAIN_TEST_FULL === "1" ? 60 : 6;
const random = seededRandom(seed);
const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;

const good = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
const responses: readonly string[] = [
  good,
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n{\r\n",
  "HTTP/1.1 100 Continue\r\n\r\n",
  "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n",
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
  "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
  "HTTP/1.1 304 Not Modified\r\n\r\n",
  "HTTP/1.0 200 OK\r\n\r\n{}",
  "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
  "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}",
  `HTTP/1.1 200 OK\r\nX: ${"x".repeat(40_000)}\r\n\r\n`,
  "HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n",
  "\r\n",
  "\0\u0001\u0002",
];

/** One to three responses, with damaged, repeated or missing bytes. */
function damaged(): Buffer {
  const bytes = Buffer.from(Array.from({ length: 1 + random(3) }, () => pick(responses)).join(""));
  for (let left = random(4); left > 0; left--) bytes[random(bytes.length)] = random(256);
  return random(10) < 3 ? bytes.subarray(0, random(bytes.length)) : bytes;
}

/** Answers each request with what `reply` returns, in pieces; null closes the connection. */
async function startServer(reply: () => Buffer): Promise<{ readonly url: string; readonly close: () => void }> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.on("data", () => {
      const bytes = reply();
      const at = random(bytes.length);
      socket.write(bytes.subarray(0, at));
      setImmediate(() => socket.write(bytes.subarray(at)));
      const end = random(10);
      if (end < 2) setImmediate(() => socket.end());
      else if (end < 4) setImmediate(() => socket.resetAndDestroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/c`,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

test(`each call with a damaged response ends, SEED=${seed}`, async () => {
  let requests = 0;
  const server = await startServer(() => {
    requests++;
    return damaged();
  });
  after(server.close);
  const client = webhookClient({ url: server.url }, { connectionsMax: 8, answerBytesMax: 1000 });
  after(() => client.close());
  const call = async (): Promise<void> => {
    try {
      await client.post("{}", { timeoutMs: 50 });
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
    }
  };
  for (let round = 0; round < rounds; round++) await Promise.all(Array.from({ length: 10 }, call));
  assert.ok(requests > rounds, String(requests));
});

test("bytes after a response are not the response to the next call", async () => {
  const server = await startServer(() => Buffer.from(`${good}${good.replace("{}", "[]")}`));
  after(server.close);
  const client = webhookClient({ url: server.url });
  after(() => client.close());
  for (let calls = 0; calls < 100; calls++) {
    const text = await client.post("{}", { timeoutMs: 30_000 }).then(
      ({ body }) => body.toString(),
      (error: unknown) => {
        if (!(error instanceof WebhookError)) throw error;
        return "{}";
      },
    );
    assert.equal(text, "{}");
  }
});
