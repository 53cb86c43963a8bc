/** `--disable-http2-serving`, `--http2-max-streams-per-connection` and `--permit-port-sharing`. */
import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import { test } from "node:test";
import tls from "node:tls";
import { field } from "../support/kubeconfig-fields.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

async function protocolOf(server: TestServer, offered: string[]): Promise<string | false | null> {
  const ca = field(server.kubeconfig, "certificate-authority-data");
  const socket = tls.connect({ host: "127.0.0.1", port: server.port, ca, ALPNProtocols: offered });
  await once(socket, "secureConnect");
  socket.destroy();
  return socket.alpnProtocol;
}

test("without HTTP/2, HTTP/1.1 is the only protocol, and a client that offers only HTTP/2 cannot connect", async () => {
  const server = await startTestServer({ disableHttp2Serving: true });
  assert.equal(await protocolOf(server, ["h2", "http/1.1"]), "http/1.1");
  await assert.rejects(protocolOf(server, ["h2"]), { code: "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL" });
  await server.close();
});

const limits: [http2MaxStreamsPerConnection: number, announced: number][] = [
  [0, 1000],
  [7, 7],
];

for (const [http2MaxStreamsPerConnection, announced] of limits)
  test(`with a limit of ${http2MaxStreamsPerConnection}, clients may send ${announced} requests at once`, async () => {
    const server = await startTestServer({ http2MaxStreamsPerConnection });
    const session = http2.connect(server.url, { ca: field(server.kubeconfig, "certificate-authority-data") });
    const [settings] = await once(session, "remoteSettings");
    assert.equal(settings.maxConcurrentStreams, announced);
    session.close();
    await server.close();
  });

test("two servers that permit it listen on one port", async () => {
  const one = await startTestServer({ permitPortSharing: true });
  await assert.rejects(startTestServer({ securePort: one.port }), { code: "EADDRINUSE" });
  const other = await startTestServer({ permitPortSharing: true, securePort: one.port });
  assert.equal(other.port, one.port);
  await Promise.all([one.close(), other.close()]);
});
