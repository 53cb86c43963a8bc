/** Calls over TLS on the loopback interface. Error messages equal those of Go's client. */
import assert from "node:assert/strict";
import net, { type AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import {
  startWebhookServer,
  type WebhookReply,
  type WebhookServer,
  type WebhookServerOptions,
} from "../../../test/support/webhook-server.ts";
import { createAuthority, issueCertificate } from "../../server/serving/x509.ts";
import { WebhookError } from "../../webhook/contract.ts";
import { openBackends } from "./backends.ts";
import type { RemoteApiService } from "./contract.ts";
import { Transports } from "./transports.ts";

const user = { name: "system:kube-aggregator", groups: ["system:masters"] };
const path = "/apis/example.com/v1";
const names = ["server.space.svc"];

function remoteOf(spec: Partial<RemoteApiService> = {}): RemoteApiService {
  return {
    name: "v1.example.com",
    group: "example.com",
    version: "v1",
    uid: "",
    resourceVersion: "1",
    service: { namespace: "space", name: "server", port: 443 },
    caBundle: "",
    insecureSkipTlsVerify: false,
    groupPriorityMinimum: 1,
    versionPriority: 1,
    isAvailable: false,
    ...spec,
  };
}

interface Row {
  readonly spec?: (server: WebhookServer) => Partial<RemoteApiService>;
  readonly server?: WebhookServerOptions;
  readonly reply?: WebhookReply;
  readonly timeoutMs?: number;
  readonly answerBytesMax?: number;
}

const endless: WebhookReply = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const write = (): void => {
    while (response.write(Buffer.alloc(65_536, " ")));
    response.once("drain", write);
  };
  write();
};
const dying: WebhookReply = (response) => {
  response.writeHead(200, { "content-length": "100" });
  response.write("{");
  setImmediate(() => response.destroy());
};

const rows: [title: string, row: Row, getResult: string, statusResult: string][] = [
  ["a response", {}, '200 {"a":1}', "200"],
  ["no verification", { spec: () => ({ insecureSkipTlsVerify: true }), server: { names: [] } }, '200 {"a":1}', "200"],
  [
    "a certificate for another name",
    { server: { names: ["other.space.svc"] } },
    `tls: Get "URL": tls: failed to verify certificate: x509: certificate is valid for other.space.svc, not server.space.svc`,
    "",
  ],
  [
    "an unknown authority",
    { spec: () => ({ caBundle: "" }) },
    `tls: Get "URL": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
    "",
  ],
  [
    "authorities that are no PEM",
    { spec: () => ({ caBundle: "nothing" }) },
    "Error: unable to load root certificates: unable to parse bytes as PEM block",
    "",
  ],
  [
    "a malformed authority",
    { spec: () => ({ caBundle: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" }) },
    "Error: unable to load root certificates: failed to parse certificate: x509: malformed certificate",
    "",
  ],
  [
    "a redirect",
    { reply: (response) => response.writeHead(302, { location: "https://127.0.0.1:1/" }).end() },
    "302 ",
    "302",
  ],
  [
    "a server that sends nothing",
    { reply: () => {}, timeoutMs: 50 },
    `timeout: Get "URL": context deadline exceeded`,
    "",
  ],
  [
    "a response above the limit",
    { reply: endless, answerBytesMax: 100_000 },
    `tooLarge: Get "URL": the response of the webhook is larger than 100000 bytes`,
    "200",
  ],
  ["a server that dies in the middle", { reply: dying }, "closed: unexpected EOF", "200"],
];

for (const [title, row, getResult, statusResult] of rows) {
  test(`${title}: ${getResult}`, async (t) => {
    assert.equal(await attempt(t, "get", row), getResult);
    assert.equal(await attempt(t, "status", row), statusResult === "" ? getResult : statusResult);
  });
}

async function attempt(t: TestContext, how: "get" | "status", row: Row): Promise<string> {
  const { spec, server: options, reply = { a: 1 }, timeoutMs = 30_000, answerBytesMax = 1_000_000 } = row;
  const server = await startWebhookServer(() => reply, { names, ...options });
  const backends = openBackends({
    resolve: () => ({ host: "127.0.0.1", port: server.port }),
    transports: new Transports(() => undefined),
  });
  t.after(() => server.close());
  t.after(() => backends.close());
  const remote = remoteOf({ caBundle: server.ca, ...spec?.(server) });
  const request = { path, user, timeoutMs, answerBytesMax };
  try {
    if (how === "status") return String(await backends.status(remote, request));
    const { status, body } = await backends.get(remote, request);
    return `${status} ${body}`;
  } catch (error) {
    const { message } = error as Error;
    const kind = error instanceof WebhookError ? error.kind : "Error";
    return `${kind}: ${message.replace(`${server.url}${path}`, "URL")}`;
  }
}

test("reports a failed connection with the address of the Service", async () => {
  const closed = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => closed.once("listening", resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const backends = openBackends({
    resolve: () => ({ host: "127.0.0.1", port }),
    transports: new Transports(() => undefined),
  });
  await assert.rejects(backends.get(remoteOf(), { path, user, timeoutMs: 30_000, answerBytesMax: 1 }), {
    message: `Get "https://127.0.0.1:${port}${path}": dial tcp 127.0.0.1:${port}: connect: connection refused`,
  });
});

test("sends the identity of the caller, and the current client certificate", async (t) => {
  const now = Date.now();
  const life = { notBefore: now - 1000, notAfter: now + 3_600_000 };
  const authority = await createAuthority({ subject: { commonName: "front" }, ...life });
  const issue = (commonName: string) =>
    issueCertificate(authority, { subject: { commonName }, usage: "client", names: [], ...life });
  const seen: (string | undefined)[] = [];
  const server = await startWebhookServer(() => ({}), { names, tls: { requestCert: true, rejectUnauthorized: false } });
  server.onConnection((socket) => seen.push(socket.getPeerCertificate().subject?.CN as string | undefined));
  let current: Awaited<ReturnType<typeof issue>> | undefined;
  const backends = openBackends({
    resolve: () => ({ host: "127.0.0.1", port: server.port }),
    transports: new Transports(() => current),
  });
  t.after(() => server.close());
  t.after(() => backends.close());
  const remote = remoteOf({ caBundle: server.ca });
  const request = { path, user, headers: { accept: "application/json" }, timeoutMs: 30_000, answerBytesMax: 1000 };
  for (const commonName of [undefined, "first", "second"]) {
    current = commonName === undefined ? undefined : await issue(commonName);
    await backends.get(remote, request);
    await backends.status(remote, request); // On the same connection.
  }
  assert.deepEqual(seen, [undefined, "first", "second"]);
  const { "x-remote-user": name, "x-remote-group": group, accept, host } = server.requests[0]?.headers ?? {};
  assert.deepEqual(
    { name, group, accept, host },
    { name: user.name, group: user.groups[0], accept: "application/json", host: `127.0.0.1:${server.port}` },
  );
});

test("replaces a connection that the server has closed", async (t) => {
  const server = await startWebhookServer(() => ({}), { names });
  const backends = openBackends({
    resolve: () => ({ host: "127.0.0.1", port: server.port }),
    transports: new Transports(() => undefined),
  });
  t.after(() => server.close());
  t.after(() => backends.close());
  const remote = remoteOf({ caBundle: server.ca });
  const request = { path, user, timeoutMs: 30_000, answerBytesMax: 1000 };
  await backends.get(remote, request);
  server.drop();
  assert.equal(await backends.status(remote, request), 200);
});
