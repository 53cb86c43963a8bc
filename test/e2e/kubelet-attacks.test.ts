/**
 * Hostile kubelets, clients and nodes: what each costs is bounded, ends with its own request, and credentials of
 * callers stay here.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { Closers } from "../../src/server/closers.ts";
import { type FakeKubelet, startFakeKubelet } from "../support/fake-kubelet.ts";
import { credentialsOf } from "../support/kubeconfig-fields.ts";
import { kubeletOptions } from "../support/kubelet-options.ts";
import { createObjects, type Send, sendRow, type Target } from "../support/kubelet-table.ts";
import { type Answer, type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { eventually, untilSteady } from "../support/until.ts";

const admission = { enable: [], disable: ["ServiceAccount"] };
const pods = "/api/v1/namespaces/default/pods";
const token = "secret-token";
/** Far above all buffers on the way, far below what an unlimited reader receives. */
const bufferedBytesMax = 64 << 20;

/** Also those of a `before` that fails halfway: what stays open keeps the test from ending. */
const opened = new Closers();
let kubelet: FakeKubelet;
let server: TestServer;
let client: RawClient;

const sendWith =
  (to: RawClient): Send =>
  (line, body, contentType) => {
    const [method = "", path = ""] = line.split(" ");
    return to.send({ method, path, body, headers: { "content-type": contentType } });
  };

before(async () => {
  kubelet = await startFakeKubelet();
  opened.add(() => kubelet.close());
  const { kubelet: options } = kubeletOptions(kubelet);
  const directory = join(options.clientKeyFile as string, "..");
  const tokenAuthFile = join(directory, "tokens.csv");
  writeFileSync(tokenAuthFile, `${token},caller,1,system:masters\n`);
  server = await startTestServer({ kubelet: options, admission, tokenAuthFile });
  opened.add(() => server.close());
  client = rawClient(server.kubeconfig);
  opened.add(() => client.close());
  await createObjects(sendWith(client), { host: "127.0.0.1", port: kubelet.port });
  const spec = { nodeName: "worker", containers: [{ name: "flood", image: "i" }] };
  await client.send({ method: "POST", path: pods, body: { metadata: { name: "flood" }, spec } });
});
after(() => opened.close());

function credentials(kubeconfig: string): { ca: string; cert: string; key: string } {
  return {
    ...credentialsOf(kubeconfig),
  };
}

const target = (): Target => ({ host: "127.0.0.1", port: server.port, ...credentials(server.kubeconfig) });

const isIdle = (): boolean => kubelet.openConnections() === 0;

/** Opens a WebSocket for a command, which sends its messages as `[channel, text]`. */
function open(path: string, protocol = "v5.channel.k8s.io"): { socket: WebSocket; messages: [number, string][] } {
  const { port } = server;
  const socket = new WebSocket(`wss://127.0.0.1:${port}${pods}/${path}`, protocol, credentials(server.kubeconfig));
  const messages: [number, string][] = [];
  socket.on("message", (data: Buffer) => messages.push([data[0] as number, data.subarray(1).toString()]));
  socket.on("error", () => {});
  return { socket, messages };
}

const command = (...words: string[]): string =>
  `one/exec?stdin=true&stdout=true&${words.map((word) => `command=${word}`).join("&")}`;

describe("kubelets that hang, send without end, or are others", () => {
  test("a log that does not come delays no other request, and ends with its client", async () => {
    const request = httpsRequest({ ...target(), path: `${pods}/many/log?container=hang`, agent: false });
    request.on("error", () => {});
    request.end();
    await eventually("the request reaches the kubelet", () =>
      kubelet.requests.some(({ url }) => url.endsWith("/hang")),
    );
    assert.equal((await client.send({ path: `${pods}/one/log` })).status, 200);
    request.destroy();
    await eventually("the kubelet is disconnected", isIdle);
  });

  test("a log without end waits for a client that does not read", async () => {
    const before = kubelet.flooded();
    const request = httpsRequest({ ...target(), path: `${pods}/flood/log`, agent: false });
    request.on("error", () => {});
    request.end();
    const [response] = await once(request, "response");
    response.pause();
    assert.ok((await untilSteady(() => kubelet.flooded() - before)) < bufferedBytesMax);
    request.destroy();
    await eventually("the kubelet is disconnected", isIdle);
  });

  test("output without end waits for a client that does not read", async () => {
    const before = kubelet.flooded();
    const { socket } = open(command("flood"));
    await once(socket, "message");
    socket.pause();
    assert.ok((await untilSteady(() => kubelet.flooded() - before)) < bufferedBytesMax);
    socket.terminate();
    await eventually("the kubelet is disconnected", isIdle);
  });

  for (const what of ["wait", "hang", "hang-early"]) {
    test(`a client that leaves ends the connection to a kubelet (${what})`, async () => {
      const { socket } = open(command(what));
      await once(socket, "message");
      await eventually("the request reaches the kubelet", () => !isIdle());
      socket.terminate();
      await eventually("the kubelet is disconnected", isIdle);
    });
  }

  test("a kubelet with the certificate of another authority is not trusted", async () => {
    const other = await startFakeKubelet();
    await setNode("closed", { addresses: addressesOf("127.0.0.1"), port: other.port });
    const { body } = await client.send({ path: `${pods}/closed/log` });
    assert.match(
      body.message,
      /^Get ".*": tls: failed to verify certificate: x509: certificate signed by unknown authority/,
    );
    const { socket, messages } = open("closed/exec?stdout=true&command=a");
    await once(socket, "close");
    assert.match(messages.at(-1)?.[1] as string, /x509: certificate signed by unknown authority/);
    assert.equal(other.requests.length, 0);
    const skipped = await client.send({ path: `${pods}/closed/log?insecureSkipTLSVerifyBackend=true` });
    assert.equal(skipped.status, 200);
    const { text } = await client.send({ path: "/metrics" });
    assert.match(text, /^kube_apiserver_pod_logs_backend_tls_failure_total 1$/m);
    assert.match(text, /^kube_apiserver_pod_logs_insecure_backend_total\{usage="skip_tls_allowed"\} 1$/m);
    assert.match(text, /^apiserver_stream_translator_requests_total\{code="500"\} \d+$/m);
    await other.close();
  });
});

const addressesOf = (address: string): object[] => [{ type: "InternalIP", address }];

async function setNode(
  name: string,
  { addresses, port }: { addresses: object[]; port: number },
  to = client,
): Promise<Answer> {
  return to.send({
    method: "PATCH",
    path: `/api/v1/nodes/${name}/status`,
    headers: { "content-type": "application/merge-patch+json" },
    body: { status: { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } } },
  });
}

describe("clients that send too much", () => {
  test("input waits for a command that does not read", async () => {
    const { socket } = open(command("wait"));
    await once(socket, "message");
    const message = Buffer.alloc(1 << 20);
    for (let sent = 0; sent < 2 * bufferedBytesMax; sent += message.length) socket.send(message);
    const left = (): number => socket.bufferedAmount;
    await untilSteady(left);
    assert.ok(left() > bufferedBytesMax, "the server must stop reading");
    socket.terminate();
    kubelet.disconnect(); // The server notices its client with a ping (kubelet-limits.test.ts).
  });

  for (const [what, data] of [
    ["a message of 5 MiB", Buffer.alloc(5 << 20)],
    ["the end of an unknown channel", Buffer.from([255, 9])],
    ["the end of no channel", Buffer.from([255])],
  ] as const) {
    test(`${what} ends the connection`, async () => {
      const { socket } = open(command("wait"));
      await once(socket, "message");
      socket.send(data);
      await once(socket, "close");
      await eventually("the kubelet is disconnected", isIdle);
    });
  }

  test("messages for other channels are dropped", async () => {
    const { socket, messages } = open(command("cat"));
    await once(socket, "message");
    for (const bytes of [[], [1, 65], [3, 66], [4, 67], [9, 68], [0, 69], [255, 4], [255, 0], [0, 70]])
      socket.send(Buffer.from(bytes));
    await once(socket, "close");
    assert.deepEqual(messages, [
      [1, ""],
      [1, "E"],
      [3, '{"metadata":{},"status":"Success"}'],
    ]);
  });

  test("sizes of a terminal are passed on, until text that is no size", async () => {
    const { socket, messages } = open(`${command("sizes", "3")}&tty=true`);
    await once(socket, "message");
    const sizes = ['{"Width":80,"Hei', 'ght":24}', '{"height":1, "WIDTH":2}\n{"Width":3,"Height":4}'];
    for (const text of sizes) socket.send(Buffer.concat([Buffer.from([4]), Buffer.from(text)]));
    await once(socket, "close");
    const output = messages.filter(([channel]) => channel === 1).map(([, text]) => text);
    assert.equal(output.join(""), '{"Width":80,"Height":24}\n{"Width":2,"Height":1}\n{"Width":3,"Height":4}\n');
  });
});

const upgrade = { connection: "Upgrade" };
const spdy = { ...upgrade, upgrade: "SPDY/3.1", "x-stream-protocol-version": "v4.channel.k8s.io" };
const webSocket = (protocol: string): Record<string, string> => ({
  ...upgrade,
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  "sec-websocket-protocol": `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString("base64url")}, ${protocol}`,
});

test("credentials of the caller do not reach a kubelet", async () => {
  const secrets = {
    authorization: `Bearer ${token}`,
    "proxy-authorization": "Basic c2VjcmV0",
    "x-remote-user": "secret-user",
    "x-remote-group": "system:masters",
    "x-remote-extra-scopes": "secret-scope",
    "impersonate-user": "secret-impersonated",
    "impersonate-group": "system:masters",
    "impersonate-extra-a": "secret-extra",
  };
  const { authorization: _authorization, ...withoutToken } = secrets;
  const requests: [method: string, path: string, headers: Record<string, string>][] = [
    ["GET", "one/log", secrets],
    ["POST", "one/exec?stdout=true&command=echo", { ...secrets, ...spdy }],
    ["GET", "one/exec?stdout=true&command=echo", { ...withoutToken, ...webSocket("v4.channel.k8s.io") }],
    ["GET", "one/exec?stdout=true&command=echo", { ...withoutToken, ...webSocket("v5.channel.k8s.io") }],
    ["GET", "one/portforward", { ...withoutToken, ...webSocket("SPDY/3.1+portforward.k8s.io") }],
  ];
  const { host, port, ca } = target();
  const first = kubelet.requests.length;
  for (const [method, path, headers] of requests) {
    const { status } = await sendRow({ method, path, headers }, { host, port, ca }, { host, port: kubelet.port });
    assert.ok(status === 200 || status === 101, `${path}: ${status}`);
  }
  const received = kubelet.requests.slice(first);
  assert.equal(received.length, requests.length);
  for (const { url, headers, clientName } of received) {
    assert.equal(clientName, "kubelet-client", url);
    assert.doesNotMatch(JSON.stringify(headers), /secret|masters|impersonate|x-remote|c2VjcmV0|bearer/i, url);
  }
});

test("a kubelet at 127.0.0.1 sends logs, and is not proxied to", async () => {
  const log = await client.send({ path: `${pods}/one/log` });
  const proxied = await client.send({ path: "/api/v1/nodes/worker/proxy/" });
  assert.deepEqual([log.status, proxied.status, proxied.body.message], [200, 400, "address not allowed"]);
});

describe("nodes with addresses that are not allowed, with the check of addresses", () => {
  let strict: TestServer;
  let strictClient: RawClient;
  before(async () => {
    const { kubelet: options } = kubeletOptions(kubelet);
    strict = await startTestServer({ kubelet: { ...options, checksAddresses: true }, admission });
    opened.add(() => strict.close());
    strictClient = rawClient(strict.kubeconfig);
    opened.add(() => strictClient.close());
    await createObjects(sendWith(strictClient), { host: "192.0.2.1", port: kubelet.port });
  });

  for (const address of [
    "127.0.0.1",
    "127.1.2.3",
    "localhost",
    "::1",
    "::ffff:127.0.0.1",
    "0.0.0.0",
    "::",
    "169.254.169.254",
    "fe80::1",
    "224.0.0.1",
    "ff02::1",
    "255.255.255.255",
  ]) {
    test(address, async () => {
      const before = kubelet.requests.length;
      await setNode("worker", { addresses: addressesOf(address), port: kubelet.port }, strictClient);
      const to = { host: "127.0.0.1", port: strict.port, ...credentials(strict.kubeconfig) };
      for (const [method, path, headers] of (
        [
          ["GET", "one/log", {}],
          ["GET", "one/log?insecureSkipTLSVerifyBackend=true", {}],
          ["POST", "one/exec?command=a", spdy],
          ["POST", "one/attach", spdy],
          ["POST", "one/portforward", spdy],
          ["GET", "one/exec?stdout=true&command=a", webSocket("v5.channel.k8s.io")],
          ["GET", "one/portforward", webSocket("SPDY/3.1+portforward.k8s.io")],
        ] as const
      ).slice(0, address === "localhost" ? undefined : 2)) {
        const withoutToken = { ...headers, ...("sec-websocket-protocol" in headers && protocolOf(headers)) };
        const { status, body } = await sendRow({ method, path, headers: withoutToken }, to, {
          host: "192.0.2.9",
          port: 0,
        });
        assert.match(body, /"message":"address not allowed"/, `${path}: ${status} ${body}`);
        assert.ok(status === 400 || status === 101, `${path}: ${status}`);
      }
      assert.equal(kubelet.requests.length, before);
    });
  }
});

const protocolOf = (headers: Record<string, string>): object => ({
  "sec-websocket-protocol": headers["sec-websocket-protocol"]?.split(", ")[1],
});
