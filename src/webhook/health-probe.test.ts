/** Results of probing /healthz, with the messages of upstream's prober. */
import assert from "node:assert/strict";
import net from "node:net";
import { test } from "node:test";
import { startWebhookServer, type WebhookReply } from "../../test/support/webhook-server.ts";
import { type ProbeResult, probeHealth } from "./health-probe.ts";

const host = "127.0.0.1";
type Responder = Extract<WebhookReply, (response: never) => void>;
const answer =
  (status: number, body: string, headers: Record<string, string> = {}): Responder =>
  (response) =>
    response.writeHead(status, headers).end(body);

/** `URL` in an expected message is the probed address. */
const rows: [what: string, reply: Responder, want: ProbeResult][] = [
  ["success", answer(200, "ok"), { status: "True", message: "ok" }],
  ["success without a body", answer(204, ""), { status: "True" }],
  ["a body of more than 10 KiB", answer(200, "a".repeat(20_000)), { status: "True", message: "a".repeat(10_240) }],
  ["status 500", answer(500, "secret"), { status: "False", message: "HTTP probe failed with statuscode: 500" }],
  ["status 403", answer(403, "secret"), { status: "False", message: "HTTP probe failed with statuscode: 403" }],
  [
    "a redirect",
    answer(302, "there", { location: "/x" }),
    { status: "Unknown", message: "Probe terminated redirects, Response body: there" },
  ],
  [
    "no response",
    () => {},
    {
      status: "False",
      message: 'Get "URL": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    },
  ],
  [
    "an incomplete body",
    (response) => void response.write("o"),
    { status: "Unknown", error: "context deadline exceeded" },
  ],
  ["a closed connection", (response) => void response.destroy(), { status: "False", message: 'Get "URL": EOF' }],
];

for (const [what, reply, want] of rows) {
  test(`a probe reports ${what}`, async () => {
    const server = await startWebhookServer(({ path, headers }) => {
      assert.equal(path, "/healthz");
      assert.equal(headers["user-agent"], "kube-probe/1.36");
      return reply;
    });
    const { message, ...rest } = await probeHealth({ host, port: server.port }, { timeoutMs: 500 });
    const shown = message?.replace(`https://${host}:${server.port}/healthz`, "URL");
    assert.deepEqual({ ...rest, ...(shown !== undefined && { message: shown }) }, want);
    await server.close();
  });
}

/** @returns the port of a server that was closed */
async function closedPort(): Promise<number> {
  const server = net.createServer().listen(0, host);
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("a probe reports a port where no server listens", async () => {
  const port = await closedPort();
  assert.deepEqual(await probeHealth({ host, port }), {
    status: "False",
    message: `Get "https://${host}:${port}/healthz": dial tcp ${host}:${port}: connect: connection refused`,
  });
});

test("a probe reports a server that does not speak TLS, and one that sends nothing", async () => {
  const plain = net
    .createServer((socket) =>
      socket
        .on("error", () => {})
        .resume()
        .end("HTTP/1.1 400 Bad Request\r\n\r\n"),
    )
    .listen(0, host);
  const silent = net.createServer((socket) => socket.on("error", () => {}).resume()).listen(0, host);
  await Promise.all([plain, silent].map((server) => new Promise((resolve) => server.once("listening", resolve))));
  const messages = await Promise.all(
    [plain, silent].map(async (server) => {
      const { port } = server.address() as net.AddressInfo;
      const { status, message = "" } = await probeHealth({ host, port }, { timeoutMs: 500 });
      return `${status} ${message.replace(/^.*healthz": /, "")}`;
    }),
  );
  assert.deepEqual(messages, [
    "False http: server gave HTTP response to HTTPS client",
    "False context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
  ]);
  for (const server of [plain, silent]) server.close();
});
