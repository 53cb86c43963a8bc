/** `--goaway-chance` on real connections, which end as RFC 9113, section 6.8 describes. */
import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import { test } from "node:test";
import { field } from "../support/kubeconfig-fields.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";

/** Requests without GOAWAY at a chance of 2% have a probability below 10⁻¹⁷. */
const requestsMax = 2000;

const { server, client: http1 } = await startServerWithClient({ goawayChance: 0.02 });
const authority = field(server.kubeconfig, "certificate-authority-data");

function connect() {
  const session = http2.connect(server.url, {
    ca: authority,
    cert: field(server.kubeconfig, "client-certificate-data"),
    key: field(server.kubeconfig, "client-key-data"),
  });
  const goaways: { code: number; lastStream: number }[] = [];
  session.on("goaway", (code, lastStream) => goaways.push({ code, lastStream }));
  return { session, goaways };
}

/** @returns the status and the identifier of the stream */
async function get(session: http2.ClientHttp2Session): Promise<{ status: number; stream: number }> {
  const stream = session.request({ ":path": "/version" });
  const [headers] = await once(stream, "response");
  stream.resume();
  await once(stream, "end");
  return { status: headers[":status"], stream: stream.id as number };
}

test("a chosen request ends its connection: open streams finish, and a new connection works", async () => {
  const { session, goaways } = connect();
  const closed = once(session, "close");
  const watch = session.request({ ":path": `${configMaps}?watch=1&resourceVersion=0&timeoutSeconds=60` });
  watch.setEncoding("utf8");
  let events = "";
  watch.on("data", (text: string) => {
    events += text;
  });
  const [headers] = await once(watch, "response");
  assert.equal(headers[":status"], 200);
  let last = watch.id as number;
  for (let count = 0; goaways.length === 0; count++) {
    assert.ok(count < requestsMax, "no request was chosen");
    const { status, stream } = await get(session);
    assert.equal(status, 200, "the chosen request is answered, too");
    last = stream;
  }
  assert.deepEqual(goaways, [{ code: http2.constants.NGHTTP2_NO_ERROR, lastStream: last }]);
  await assert.rejects(get(session), { code: "ERR_HTTP2_GOAWAY_SESSION" });

  const next = connect();
  assert.equal((await get(next.session)).status, 200);
  next.session.close();
  const created = await http1.send({ method: "POST", path: configMaps, body: { metadata: { name: "later" } } });
  assert.equal(created.status, 201);
  while (!events.includes('"name":"later"')) await once(watch, "data");
  assert.equal(watch.closed, false);
  assert.equal(session.destroyed, false);
  watch.close();
  await closed;
});

test("connections of HTTP/1.1 stay open", async () => {
  for (let count = 0; count < 200; count++) {
    const { status, headers } = await http1.send({ path: "/version" });
    assert.deepEqual([status, headers.connection ?? "keep-alive"], [200, "keep-alive"]);
  }
});
