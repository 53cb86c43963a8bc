/** What clients see between the signal and the end of a server with `--shutdown-send-retry-after`. */
import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { field } from "../support/kubeconfig-fields.ts";
import { rawClient } from "../support/raw-client.ts";
import { startTestServer } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const body = JSON.stringify({ metadata: { name: "slow" } });
const rejection = "The apiserver is shutting down, please try again later.\n";

const server = await startTestServer({ shutdownSendRetryAfter: true });
const client = rawClient(server.kubeconfig);

function connect(): http2.ClientHttp2Session {
  return http2.connect(server.url, {
    ca: field(server.kubeconfig, "certificate-authority-data"),
    cert: field(server.kubeconfig, "client-certificate-data"),
    key: field(server.kubeconfig, "client-key-data"),
  });
}

async function statusOf(stream: http2.ClientHttp2Stream): Promise<number> {
  const [headers] = await once(stream, "response");
  return headers[":status"];
}

test("while an open request finishes, others get 429, and probes and metrics are served", async () => {
  const session = connect();
  const slow = session.request({ ":method": "POST", ":path": configMaps, "content-type": "application/json" });
  slow.write(body.slice(0, 5));
  const watch = session.request({ ":path": `${configMaps}?watch=1` });
  assert.equal(await statusOf(watch), 200); // The server has the earlier request of the connection, too.
  const closed = server.close();
  await text(watch.resume());

  await until(async () => (await client.send({ path: "/version" })).status === 429);
  const { status, headers, text: sent } = await client.send({ path: configMaps });
  assert.deepEqual([status, sent], [429, rejection]);
  assert.match(headers["audit-id"] as string, /./);
  const shown = ["connection", "retry-after", "content-type", "x-content-type-options", "cache-control"];
  assert.deepEqual(
    shown.map((name) => headers[name]),
    ["close", "5", "text/plain; charset=utf-8", "nosniff", undefined],
  );
  const userAgent = { "user-agent": "kube-apiserver/v1.36.0" };
  const served: [path: string, status: number, headers?: Record<string, string>][] = [
    ["/readyz", 500],
    ["/livez", 200],
    ["/healthz", 200],
    ["/metrics", 200],
    ["/version", 200, userAgent],
    [`${configMaps}?watch=1`, 503, userAgent],
  ];
  for (const [path, expected, own = {}] of served)
    assert.equal((await client.send({ path, headers: own })).status, expected, path);
  const watched = await client.send({ path: `${configMaps}?watch=1`, headers: userAgent });
  assert.deepEqual(
    ["retry-after", "content-type", "x-content-type-options"].map((name) => watched.headers[name]),
    ["1", "application/json", "nosniff"],
  );
  assert.equal(
    watched.text,
    '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"apiserver is shutting down","reason":"ServiceUnavailable","code":503}\n\n',
  );

  const other = connect();
  const gone = once(other, "goaway");
  assert.equal(await statusOf(other.request({ ":path": "/version" })), 429);
  assert.deepEqual((await gone)[0], http2.constants.NGHTTP2_NO_ERROR);

  slow.end(body.slice(5));
  assert.equal(await statusOf(slow), 201);
  for (const one of [session, other]) one.destroy();
  await closed;
  await assert.rejects(client.send({ path: "/livez" }), { code: "ECONNREFUSED" });
  client.close();
});
