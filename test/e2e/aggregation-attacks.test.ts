/**
 * Other servers that misbehave, and clients that do, affect nothing but their own requests.
 *
 * - A server that sends nothing, or no end, does not delay other requests or use more memory.
 * - A server that breaks off breaks the response off.
 * - A deleted or unavailable APIService has no requests.
 * - Users cannot name themselves to a server.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { after, before, beforeEach, test } from "node:test";
import { Closers } from "../../src/server/closers.ts";
import { createAuthority, issueCertificate } from "../../src/server/serving/x509.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { rawSocket } from "../support/raw-socket.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";

const group = "hostile.example.com";
const base = `/apis/${group}/v1`;
const things = `${base}/namespaces/default/things`;
const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices";
const requestTimeoutMs = 300;

/** Also those of a `before` that fails halfway: what stays open keeps the test from ending. */
const opened = new Closers();
let backend: https.Server;
let server: TestServer;
let client: RawClient;
/** Handles the requests of tests; probes and documents are answered. */
let reply: (request: IncomingMessage, response: ServerResponse) => void;

before(async () => {
  const life = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 3_600_000 };
  const authority = await createAuthority({ subject: { commonName: "backends" }, ...life });
  const subject = { commonName: "api" };
  // Without names: the APIService accepts any certificate.
  const pair = await issueCertificate(authority, { subject, usage: "server", names: [], ...life });
  backend = https.createServer({ ...pair, maxHeaderSize: 4 << 20 }, (request, response) => {
    const isOwn = /^system:(?:kube-)?aggregator$/.test(String(request.headers["x-remote-user"]));
    if (isOwn) response.end("{}");
    else reply(request, response);
  });
  opened.add(() => {
    backend.closeAllConnections();
    backend.close();
  });
  backend.listen(0, "127.0.0.1");
  await once(backend, "listening");
  const { port } = backend.address() as AddressInfo;
  server = await startTestServer({ requestTimeoutMs, serviceResolver: () => ({ host: "127.0.0.1", port }) });
  opened.add(() => server.close());
  client = rawClient(server.kubeconfig);
  opened.add(() => client.close());
  const spec = { type: "ExternalName", externalName: "localhost" };
  await client.send({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: "hostile" } } });
  await client.send({
    method: "POST",
    path: "/api/v1/namespaces/hostile/services",
    body: { metadata: { name: "api" }, spec },
  });
});

beforeEach(async () => {
  await client.send({ method: "POST", path: apiServices, body: apiService() });
  await until(async () => {
    const { body } = await client.send({ path: `${apiServices}/v1.${group}` });
    return body.status?.conditions?.[0]?.status === "True";
  });
});

after(() => opened.close());

function apiService() {
  const service = { namespace: "hostile", name: "api", port: 443 };
  const spec = { group, version: "v1", groupPriorityMinimum: 100, versionPriority: 10, insecureSkipTLSVerify: true };
  return { metadata: { name: `v1.${group}` }, spec: { ...spec, service } };
}

test("a request that the server does not answer ends at its limit, and others are answered meanwhile", async () => {
  const open = new Set<unknown>();
  reply = ({ socket }) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  };
  const hanging = Array.from({ length: 20 }, () => client.send({ path: things }));
  assert.equal((await client.send({ path: "/api/v1/namespaces" })).status, 200);
  for (const { status, text } of await Promise.all(hanging)) {
    assert.equal(status, 504);
    assert.match(text, /"message":"Timeout: request did not complete within the allotted timeout"/);
  }
  await until(async () => open.size === 0);
});

test("a response without an end is sent at the pace of the client, and cut off at the limit", async () => {
  let sentBytes = 0;
  let closed = false;
  reply = (request, response) => {
    response.writeHead(200, { "content-type": "text/plain" });
    const piece = Buffer.alloc(65_536, "x");
    const send = (): void => {
      while (!request.socket.destroyed) {
        sentBytes += piece.length;
        if (!response.write(piece)) return void response.once("drain", send);
      }
    };
    request.socket.once("close", () => {
      closed = true;
    });
    send();
  };
  const { socket } = await rawSocket(server.kubeconfig);
  socket.pause(); // The client reads nothing.
  socket.write(`GET ${things} HTTP/1.1\r\nHost: a\r\n\r\n`);
  await until(async () => closed);
  assert.ok(sentBytes < 64 << 20, `the server has taken ${sentBytes} bytes`);
  socket.destroy();
});

test("each request to a server whose certificate has no names is counted", async () => {
  reply = (_request, response) => void response.end("{}");
  const counted = async (): Promise<number> => {
    const { text } = await client.send({ path: "/metrics" });
    return Number(/^apiserver_kube_aggregator_x509_missing_san_total (\d+)$/m.exec(text)?.[1]);
  };
  const before = await counted();
  for (const _ of [1, 2]) assert.equal((await client.send({ path: things })).status, 200);
  assert.equal(await counted(), before + 2);
  assert.match(
    (await client.send({ path: "/metrics" })).text,
    /^apiserver_kube_aggregator_x509_insecure_sha1_total 0$/m,
  );
});

test("a response that breaks off is broken off for the client", async () => {
  reply = (_request, response) => {
    response.writeHead(200, { "content-type": "text/plain" });
    response.write("first", () => response.destroy());
  };
  await assert.rejects(client.send({ path: things }));
});

test("headers above the limit are an error", async () => {
  reply = (_request, response) => {
    response.writeHead(200, { "x-large": "x".repeat(2 << 20) }).end();
  };
  const { status, text } = await client.send({ path: things });
  assert.equal(status, 503);
  assert.match(text, /server response headers exceeded 1048576 bytes; aborted/);
});

test("an upgraded connection carries any bytes, and ends with the client", async () => {
  let seen: IncomingMessage | undefined;
  const upgraded = new Promise<Duplex>((resolve) =>
    backend.once("upgrade", (request: IncomingMessage, socket: Duplex) => {
      seen = request;
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
      socket.pipe(socket);
      resolve(socket);
    }),
  );
  const { socket, until: received } = await rawSocket(server.kubeconfig);
  const lines = ["Host: a", "Connection: Upgrade", "Upgrade: echo", "X-Remote-User: forged"];
  socket.write(`GET ${things}/x/connect?b=1&a=2 HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
  await received(/101 Switching Protocols.*\r\n\r\n/s);
  socket.write("\0any bytes\xff", "latin1");
  await received(/\0any bytes\xff/);
  assert.deepEqual(
    [seen?.url, seen?.headers["x-remote-user"], seen?.headers["x-remote-group"]],
    [`${things}/x/connect?a=2&b=1`, "kubernetes-admin", "system:masters, system:authenticated"],
  );
  const other = await upgraded;
  socket.end();
  await until(async () => other.destroyed);
});

test("a user without rights reaches no server", async () => {
  let requests = 0;
  reply = (_request, response) => {
    requests++;
    response.end("{}");
  };
  const { kubeconfig } = await server.as("mallory");
  const mallory = rawClient(kubeconfig);
  const headers = { "x-remote-user": "admin", "x-remote-group": "system:masters" };
  assert.equal((await mallory.send({ path: things, headers })).status, 403);
  assert.equal((await mallory.send({ method: "POST", path: things, headers, body: {} })).status, 403);
  assert.equal((await mallory.send({ path: base, headers })).status, 200); // Users may read discovery documents.
  assert.equal((await mallory.send({ path: base, headers, anonymous: true })).status, 403);
  mallory.close();
  assert.equal(requests, 1);
});

test("requests end at once with the APIService, and watches go on", async () => {
  let watching: ServerResponse | undefined;
  reply = (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write("{}\n");
    watching = response;
  };
  const watch = client.send({ path: `${things}?watch=1` });
  await until(async () => watching !== undefined);
  await client.send({ method: "DELETE", path: `${apiServices}/v1.${group}` });
  assert.equal((await client.send({ path: things })).status, 404);
  watching?.end("{}\n");
  assert.equal((await watch).text, "{}\n{}\n");
});

test("an APIService of a built-in group version has its requests, except for apiregistration.k8s.io", async () => {
  const path = `${apiServices}/v1.apps`;
  const { body } = await client.send({ path });
  const { service } = apiService().spec;
  await client.send({
    method: "PUT",
    path,
    body: { ...body, spec: { ...body.spec, service, insecureSkipTLSVerify: true } },
  });
  reply = (_request, response) => response.end('{"hijacked":true}');
  await until(async () => (await client.send({ path: "/apis/apps/v1/deployments" })).text === '{"hijacked":true}');
  const { body: remote } = await client.send({ path });
  await client.send({ method: "PUT", path, body: { ...remote, spec: body.spec } });
  assert.equal((await client.send({ path: "/apis/apps/v1/deployments" })).status, 200);
  const own = apiService();
  await client.send({
    method: "POST",
    path: apiServices,
    body: {
      metadata: { name: "v1.apiregistration.k8s.io" },
      spec: { ...own.spec, group: "apiregistration.k8s.io" },
    },
  });
  await client.send({ method: "POST", path: apiServices, body: own }); // The server follows APIServices in order.
  await until(async () => (await client.send({ path: things })).text === '{"hijacked":true}');
  assert.equal((await client.send({ path: `${apiServices}/v1.apiregistration.k8s.io` })).status, 200);
});
