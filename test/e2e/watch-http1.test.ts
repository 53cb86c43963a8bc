/**
 * Watches over HTTP/1.1 on raw sockets: chunks, reused connections, pipelined requests, clients
 * that disconnect.
 */
import assert from "node:assert/strict";
import { before, describe, type TestContext, test } from "node:test";
import { type RawSocket, rawSocket } from "../support/raw-socket.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { until } from "../support/until.ts";
import { configMaps, watchedConfigMaps } from "../support/watched-config-maps.ts";

const first = `${configMaps}/first`;

const { server, client } = await startServerWithClient();
const { create, openWatches } = watchedConfigMaps(client);
before(() => create("first"));

const request = (path: string, version = "1.1"): string => `GET ${path} HTTP/${version}\r\nHost: x\r\n\r\n`;

async function send(context: TestContext, ...pieces: string[]): Promise<RawSocket> {
  const raw = await rawSocket(server.kubeconfig);
  context.after(() => raw.socket.destroy());
  for (const piece of pieces) raw.socket.write(piece);
  return raw;
}

/** @returns the status lines and last chunks, in their order */
const outline = (answer: string): string[] =>
  [...answer.matchAll(/HTTP\/1\.[01] \d+|\r\n0\r\n\r\n/g)].map(([match]) => match.trim().replace("\r\n", ""));

describe("a watch that times out", { concurrency: true }, () => {
  test("sends chunks with whole events, and keeps the connection after the last one", async (context) => {
    const raw = await send(context, request(`${first}?watch=1&timeoutSeconds=1`));
    const answer = await raw.until(/\r\n0\r\n\r\n$/);
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(answer, /\r\nTransfer-Encoding: chunked\r\n/);
    const [size = "", chunk = ""] = (answer.split("\r\n\r\n")[1] as string).split("\r\n");
    assert.equal(Number.parseInt(size, 16), chunk.length);
    assert.deepEqual(JSON.parse(chunk).type, "ADDED");
    raw.socket.write(request(first));
    assert.deepEqual(outline(await raw.until(/\}\n$/)), ["HTTP/1.1 200", "0", "HTTP/1.1 200"]);
    raw.socket.write(request(`${first}?watch=1`));
    await raw.until(/HTTP.+"ADDED".+HTTP.+HTTP.+"ADDED"/s);
  });

  test("sends no chunks over HTTP/1.0, and closes the connection", async (context) => {
    const raw = await send(context, request(`${first}?watch=1&timeoutSeconds=1`, "1.0"));
    const answer = await raw.all();
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    assert.match(head, /^HTTP\/1\.1 200 OK\r\n/);
    assert.doesNotMatch(head, /chunked/i);
    assert.equal(JSON.parse(body).type, "ADDED");
  });

  test("answers pipelined requests in order, after the watch", async (context) => {
    const missing = request(`${configMaps}/missing`);
    const raw = await send(
      context,
      request(first) + request(`${first}?watch=1&timeoutSeconds=1`) + missing,
      missing + request(first),
    );
    const answer = await raw.until(/ 404 .+ 404 .+ 200 .+\}\n$/s);
    assert.deepEqual(outline(answer), [
      "HTTP/1.1 200",
      "HTTP/1.1 200",
      "0",
      "HTTP/1.1 404",
      "HTTP/1.1 404",
      "HTTP/1.1 200",
    ]);
  });

  test("answers two pipelined watches one after the other", async (context) => {
    const raw = await send(context, request(`${first}?watch=1&timeoutSeconds=1`).repeat(2));
    const answer = await raw.until(/\r\n0\r\n\r\n.+\r\n0\r\n\r\n$/s);
    assert.deepEqual(outline(answer), ["HTTP/1.1 200", "0", "HTTP/1.1 200", "0"]);
  });
});

const disconnects: [what: string, disconnect: (raw: RawSocket) => void][] = [
  ["closes its side", (raw) => void raw.socket.end()],
  ["breaks the connection", (raw) => void raw.socket.destroy()],
  ["sends an invalid request", (raw) => void raw.socket.write("nonsense\r\n\r\n")],
];
for (const [what, disconnect] of disconnects) {
  test(`ends the watch of a client that ${what}`, async (context) => {
    await until(async () => (await openWatches()) <= 0);
    const raw = await send(context, request(`${configMaps}?watch=1`));
    await raw.until(/"ADDED"/);
    assert.equal(await openWatches(), 1);
    disconnect(raw);
    await until(async () => (await openWatches()) <= 0);
    await raw.all();
  });
}

test("ends the watch of a client that closes its side together with the request", async (context) => {
  for (const path of [first, configMaps, `${configMaps}?watch=1`]) {
    const raw = await send(context);
    raw.socket.end(request(path));
    await raw.all();
  }
  await until(async () => (await openWatches()) <= 0);
});

test("a client that does not read delays no other client, and resumes where it stopped", async (context) => {
  const raw = await send(context, request(`${configMaps}?watch=1&resourceVersion=${await create("before")}`));
  await raw.until(/\r\n\r\n/);
  raw.socket.pause();
  const reader = await send(context, request(`${configMaps}?watch=1&fieldSelector=metadata.name%3Dlast`));
  for (let index = 0; index < 20; index++) await create(`big-${index}`, { text: "x".repeat(500_000) });
  await create("last");
  await reader.until(/"name":"last"/);
  assert.doesNotMatch(raw.received(), /"name":"big-19"/);
  raw.socket.resume();
  // Searching all received text each time would be slow.
  await until(() => raw.received().slice(-1000).includes('"name":"last"'));
  const names = [...raw.received().matchAll(/"metadata":\{"name":"([^"]+)"/g)].map(([, name]) => name);
  assert.deepEqual(names, [...Array.from({ length: 20 }, (_, index) => `big-${index}`), "last"]);
});
