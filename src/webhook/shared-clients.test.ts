/** When shared clients open and close connections. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { noLoopback } from "../../test/support/loopback-credentials.ts";
import { startWebhookServer } from "../../test/support/webhook-server.ts";
import { InvalidClientConfig, sharedClients } from "./shared-clients.ts";

const called = Promise.withResolvers<() => void>();
const server = await startWebhookServer(({ path }) => {
  if (!path.startsWith("/slow")) return {};
  return (response) => called.resolve(() => response.end("{}"));
});
after(() => server.close());
const options = { timeoutMs: 10_000 };
const config = { url: `${server.url}/fast`, caBundle: Buffer.from(server.ca).toString("base64") };
const clients = sharedClients({
  resolve: () => ({ host: "127.0.0.1", port: server.port }),
  loopback: noLoopback,
  findCredentials: async () => ({ token: "t" }),
});
after(() => clients.close());

test("uses with the same configuration share a connection, with credentials, until the last one is released", async () => {
  const [first, second] = [clients.use(config), clients.use({ ...config })];
  await first.post(Buffer.from("{}"), options);
  first.release();
  const before = server.connections();
  await second.post(Buffer.from("{}"), options);
  assert.equal(server.connections(), before);
  assert.equal(server.requests.at(-1)?.headers.authorization, "Bearer t");
  second.release();
  const third = clients.use(config);
  await third.post(Buffer.from("{}"), options);
  assert.equal(server.connections(), before + 1);
  third.release();
});

test("a call in progress ends before the connection is closed", async () => {
  const use = clients.use({ ...config, url: `${server.url}/slow` });
  const calling = use.post(Buffer.from("{}"), options);
  const answer = await called.promise;
  use.release();
  answer();
  assert.equal((await calling).status, 200);
});

test("a configuration without address or with an invalid bundle is reported by each call", async () => {
  for (const [wrong, message] of [
    [{}, "webhook configuration must have either service or URL"],
    [
      { ...config, caBundle: Buffer.from("no PEM").toString("base64") },
      "unable to load root certificates: unable to parse bytes as PEM block",
    ],
  ] as const) {
    const use = clients.use(wrong);
    for (let call = 0; call < 2; call++)
      await assert.rejects(use.post(Buffer.from("{}"), options), new InvalidClientConfig(message));
    use.release();
  }
});

test("the Service kubernetes gets the server's own token instead of other credentials, but no other server does", async () => {
  const kubernetes = { service: { namespace: "default", name: "kubernetes" }, caBundle: config.caBundle };
  const before = server.requests.length;
  const withoutPin = clients.use(kubernetes); // noLoopback pins no certificate.
  await assert.rejects(
    withoutPin.post(Buffer.from("{}"), options),
    /tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
  );
  withoutPin.release();
  assert.equal(server.requests.length, before);
  const served = server.certificate;
  const loopback = { ...noLoopback, pinned: () => [served] };
  const resolve = () => ({ host: "127.0.0.1", port: server.port });
  const trusting = sharedClients({ resolve, loopback, findCredentials: () => assert.fail() });
  const use = trusting.use(kubernetes);
  await use.post(Buffer.from("{}"), options);
  trusting.close();
  const { authorization, "user-agent": agent, host } = server.requests.at(-1)?.headers ?? {};
  assert.deepEqual([authorization, agent, host], ["Bearer loopback", "loopback", "kubernetes.default.svc:443"]);
});
