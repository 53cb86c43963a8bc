/** Watches over HTTP/2 on one connection: timeouts, resets, and streams that are not read. */
import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import { after, before, test } from "node:test";
import { credentialsOf } from "../support/kubeconfig-fields.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { until } from "../support/until.ts";
import { configMaps, watchedConfigMaps } from "../support/watched-config-maps.ts";

const first = `${configMaps}?watch=1&fieldSelector=metadata.name%3Dfirst`;

const { server, client } = await startServerWithClient();
const { create, openWatches } = watchedConfigMaps(client);
let session: http2.ClientHttp2Session;
before(async () => {
  session = http2.connect(server.url, {
    ...credentialsOf(server.kubeconfig),
  });
  await create("first");
});
after(() => session.destroy());

interface WatchStream {
  readonly stream: http2.ClientHttp2Stream;
  readonly names: string[];
  readonly closed: Promise<unknown>;
}

function watch(
  path: string,
  headers: http2.OutgoingHttpHeaders = {},
  options: http2.ClientSessionRequestOptions = {},
): WatchStream {
  const stream = session.request({ ":path": path, ...headers }, options);
  const names: string[] = [];
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (piece: string) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) names.push(JSON.parse(line).object.metadata.name);
  });
  return { stream, names, closed: once(stream, "close") };
}

test("a watch that times out ends its stream, not the connection", async () => {
  const watching = watch(`${first}&timeoutSeconds=1`);
  await watching.closed;
  assert.deepEqual(
    [watching.names, watching.stream.rstCode, session.closed],
    [["first"], http2.constants.NGHTTP2_NO_ERROR, false],
  );
});

test("rejects extended CONNECT: WebSockets need HTTP/1.1", async () => {
  const stream = session.request({ ":method": "CONNECT", ":authority": "x" });
  const [headers] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
  assert.ok(Number(headers[":status"]) >= 400);
  assert.equal(session.remoteSettings.enableConnectProtocol, false);
  stream.close();
});

test("a reset stream ends its watch, not the connection", async () => {
  await until(async () => (await openWatches()) <= 0);
  const watching = watch(first);
  await until(() => watching.names.length > 0);
  watching.stream.close(http2.constants.NGHTTP2_CANCEL);
  await until(async () => (await openWatches()) <= 0);
  assert.equal(session.closed, false);
});

test("a stream that is not read delays no other stream, and resumes where it stopped", async () => {
  const from = await create("before");
  const stalled = watch(`${configMaps}?watch=1&resourceVersion=${from}`);
  const reader = watch(`${configMaps}?watch=1&resourceVersion=${from}`);
  await once(stalled.stream, "response");
  stalled.stream.pause();
  const names = Array.from({ length: 20 }, (_, index) => `big-${index}`);
  for (const name of names) await create(name, { text: "x".repeat(500_000) });
  await until(() => reader.names.length >= names.length);
  assert.deepEqual(reader.names, names);
  assert.deepEqual(stalled.names, []);
  stalled.stream.resume();
  await until(() => stalled.names.length >= names.length);
  assert.deepEqual(stalled.names, names);
  for (const { stream } of [stalled, reader]) stream.close(http2.constants.NGHTTP2_CANCEL);
});
