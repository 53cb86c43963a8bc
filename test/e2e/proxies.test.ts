/**
 * Proxies to pods and services with hostile pods, backends, callers and requests. Guarantees: the caller's credentials
 * and addresses that are not allowed are never reached; a request holds nothing after its end; one client cannot affect
 * the requests of another.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http, { type IncomingMessage } from "node:http";
import http2 from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { defaultAuditOptions } from "../../src/audit/options.ts";
import { Closers } from "../../src/server/closers.ts";
import { credentialsOf, field } from "../support/kubeconfig-fields.ts";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { skipWithout } from "../support/needs.ts";
import { rawClient } from "../support/raw-client.ts";
import { rawSocket } from "../support/raw-socket.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";

const pods = "/api/v1/namespaces/default/pods";
/** Also those of a `before` that fails halfway: what stays open keeps the test from ending. */
const opened = new Closers();
let server: TestServer;
/** Without the option that allows loopback addresses. */
let strict: TestServer;
/** What a pod does with a request. */
let serve: http.RequestListener = (_request, response) => response.end("ok");
const backend = http.createServer((request, response) => serve(request, response));
const upgraded = new Set<Socket>();
backend.on("upgrade", (request: IncomingMessage, socket: Socket) => {
  upgraded.add(socket);
  socket.on("error", () => socket.destroy());
  socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
  socket.write(JSON.stringify(request.headers));
});
let port: number;
const directory = mkdtempSync(join(tmpdir(), "coxswain-proxies-"));
const auditLog = join(directory, "audit.log");

before(async () => {
  opened.add(() => rmSync(directory, { recursive: true }));
  opened.add(() => {
    for (const socket of upgraded) socket.destroy();
    backend.closeAllConnections();
    backend.close();
  });
  backend.listen(0, "127.0.0.1");
  await once(backend, "listening");
  port = (backend.address() as AddressInfo).port;
  const policyFile = join(directory, "policy.yaml");
  writeFileSync(policyFile, "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}");
  const audit = { ...defaultAuditOptions, policyFile, log: { ...defaultAuditOptions.log, path: auditLog } };
  server = await startTestServer({ proxiedAddresses: { allowLoopback: true }, audit });
  opened.add(() => server.close());
  writeFileSync(join(directory, "ca.pem"), field(server.kubeconfig, "certificate-authority-data"));
  writeFileSync(join(directory, "user.pem"), field(server.kubeconfig, "client-certificate-data"));
  writeFileSync(join(directory, "key.pem"), field(server.kubeconfig, "client-key-data"));
  strict = await startTestServer();
  opened.add(() => strict.close());
  for (const { kubeconfig } of [server, strict]) {
    const client = rawClient(kubeconfig);
    await client.send({
      method: "POST",
      path: "/api/v1/namespaces/default/serviceaccounts",
      body: { metadata: { name: "default" } },
    });
    await createPod(client, "web", "127.0.0.1");
    client.close();
  }
});
after(() => opened.close());

async function createPod(client: ReturnType<typeof rawClient>, name: string, ip: string): Promise<number> {
  const spec = { containers: [{ name: "c", image: "i", ports: [{ containerPort: port }] }] };
  await client.send({ method: "POST", path: pods, body: { metadata: { name }, spec } });
  const { status } = await client.send({
    method: "PATCH",
    path: `${pods}/${name}/status`,
    headers: { "content-type": "application/merge-patch+json" },
    body: { status: { podIP: ip, podIPs: [{ ip }] } },
  });
  return status;
}

test("reaches no address that is not allowed, however a pod's status spells it", async () => {
  const client = rawClient(strict.kubeconfig);
  const addresses = [
    "127.0.0.1",
    "127.9.9.9",
    "::1",
    "0:0:0:0:0:0:0:1",
    "::ffff:127.0.0.1",
    "127.000.000.001",
    "0.0.0.0",
    "::",
    "169.254.169.254",
    "::ffff:169.254.169.254",
    "fe80::1",
    "224.0.0.1",
    "ff02::1",
    "255.255.255.255",
  ];
  for (const [index, ip] of addresses.entries()) {
    await createPod(client, `pod-${index}`, ip);
    const { status, body } = await client.send({ path: `${pods}/pod-${index}:${port}/proxy/x` });
    assert.deepEqual([ip, status, body.message], [ip, 400, "address not allowed"]);
    const { socket, all } = await rawSocket(strict.kubeconfig);
    socket.write(
      `GET ${pods}/pod-${index}:${port}/proxy/x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n`,
    );
    assert.match(await all(), /^HTTP\/1.1 400 .*address not allowed/s);
    socket.destroy();
  }
  client.close();
});

describe("the caller's credentials", () => {
  const secret = "c2VjcmV0";
  const headers = {
    authorization: "Bearer secret",
    "x-remote-user": "secret",
    "x-remote-group": "secret",
    "x-remote-uid": "secret",
    "x-remote-extra-a": "secret",
    "proxy-authorization": "Basic secret",
    "impersonate-user": "system:serviceaccount:secret:secret",
    "impersonate-extra-a": "secret",
    "sec-websocket-protocol": `base64url.bearer.authorization.k8s.io.${secret}`,
  };
  const isSecret = (text: string): boolean => text.includes("secret") || text.includes(secret);

  test("do not reach a pod by a request", async () => {
    let seen = "";
    serve = (request, response) => {
      seen = JSON.stringify(request.headers);
      response.end();
    };
    const { "impersonate-user": _user, "impersonate-extra-a": _extra, ...plain } = headers;
    const client = rawClient(server.kubeconfig);
    assert.equal((await client.send({ path: `${pods}/web/proxy/x`, headers: plain })).status, 200);
    assert.ok(seen.includes("x-forwarded-for") && !isSecret(seen), seen);
    client.close();
  });

  test("do not reach a pod by an impersonated request", async () => {
    const group = { "impersonate-user": "secret", "impersonate-group": "system:masters" };
    const client = rawClient(server.kubeconfig);
    let seen = "";
    serve = (request, response) => {
      seen = JSON.stringify(request.headers);
      response.end();
    };
    assert.equal((await client.send({ path: `${pods}/web/proxy/x`, headers: group })).status, 200);
    assert.ok(!/secret|impersonate/.test(seen), seen);
    client.close();
  });

  test("do not reach a pod by an upgrade", async () => {
    const { "impersonate-user": _user, "impersonate-extra-a": _extra, ...plain } = headers;
    const lines = Object.entries(plain).map(([name, value]) => `${name}: ${value}\r\n`);
    const { socket, until: received } = await rawSocket(server.kubeconfig);
    socket.write(
      `GET ${pods}/web/proxy/x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n${lines.join("")}\r\n`,
    );
    const text = await received(/\}$/);
    assert.match(text, /^HTTP\/1.1 101 /);
    assert.ok(!isSecret(text), text);
    socket.destroy();
  });
});

describe("rights", () => {
  const rows: [verbs: string[], names: string[] | undefined, request: string, status: number][] = [
    [["get"], undefined, "GET web", 200],
    [["get"], undefined, "HEAD web", 200],
    [["get"], undefined, "POST web", 403],
    [["get"], undefined, "PUT web", 403],
    [["get"], undefined, "DELETE web", 403],
    [["get"], undefined, "PATCH web", 403],
    [["get"], undefined, "OPTIONS web", 403],
    [["create"], undefined, "POST web", 200],
    [["create"], undefined, "GET web", 403],
    [["*"], undefined, "OPTIONS web", 200],
    [["get"], ["web"], "GET web", 200],
    // As upstream: the name of the right is the text in the path.
    [["get"], ["web"], "GET http:web:", 403],
    [["get"], ["http:web:"], "GET http:web:", 200],
    [["get"], ["other"], "GET web", 403],
    [["get"], ["other"], "GET other/proxy/../../web", 404],
  ];
  for (const [index, [verbs, resourceNames, request, status]] of rows.entries())
    test(`${verbs} of ${resourceNames ?? "all"}: ${request}`, async () => {
      serve = (_request, response) => response.end("ok");
      const admin = rawClient(server.kubeconfig);
      const group = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
      const name = `user-${index}`;
      const rules = [{ apiGroups: [""], resources: ["pods/proxy"], verbs, ...(resourceNames && { resourceNames }) }];
      await admin.send({ method: "POST", path: `${group}/roles`, body: { metadata: { name }, rules } });
      await admin.send({
        method: "POST",
        path: `${group}/rolebindings`,
        body: {
          metadata: { name },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
          subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name }],
        },
      });
      const user = rawClient((await server.as(name)).kubeconfig);
      const [method = "", target = ""] = request.split(" ");
      const path = target.includes("/") ? `${pods}/${target}/x` : `${pods}/${target}/proxy/x`;
      assert.equal((await user.send({ method, path })).status, status);
      admin.close();
      user.close();
    });
});

test("requests and upgrades are audited and counted", async () => {
  serve = (_request, response) => response.end();
  const client = rawClient(server.kubeconfig);
  await client.send({ path: `${pods}/web/proxy/x`, headers: { "audit-id": "plain" } });
  const { socket, until: received } = await rawSocket(server.kubeconfig);
  socket.write(
    `GET ${pods}/web/proxy/x HTTP/1.1\r\nHost: x\r\nAudit-Id: upgrade\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`,
  );
  await received(/\}$/);
  socket.destroy();
  const stagesOf = (id: string): string[] =>
    readFileSync(auditLog, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .filter(({ auditID }) => auditID === id)
      .map(({ stage, verb, responseStatus }) => `${stage} ${verb} ${responseStatus?.code}`);
  await until(() => stagesOf("upgrade").length >= 3);
  const stages = (code: number): string[] => [
    "RequestReceived get undefined",
    `ResponseStarted get ${code}`,
    `ResponseComplete get ${code}`,
  ];
  assert.deepEqual([stagesOf("plain"), stagesOf("upgrade")], [stages(200), stages(101)]);
  const { text } = await client.send({ path: "/metrics" });
  const counted = text.split("\n").filter((line) => /^apiserver_request_total\{verb="CONNECT",.*"proxy"/.test(line));
  assert.deepEqual(counted.map((line) => /code="\d+"/.exec(line)?.[0]).sort(), [
    'code="0"',
    'code="200"',
    'code="404"',
  ]);
  client.close();
});

describe("hostile requests", () => {
  const target = `${pods}/web/proxy/x`;
  const rows: [what: string, request: string, expected: RegExp][] = [
    [
      "a length and chunks",
      `POST ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n`,
      /^HTTP\/1.1 400 /,
    ],
    [
      "two lengths",
      `POST ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
      /^HTTP\/1.1 400 /,
    ],
    [
      "an unknown transfer encoding",
      `POST ${target} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\nContent-Length: 3\r\n\r\nabc`,
      /^HTTP\/1.1 400 /,
    ],
    [
      "a line feed in a header",
      `GET ${target} HTTP/1.1\r\nHost: x\r\nX-A: a\nX-Smuggled: b\r\nConnection: close\r\n\r\n`,
      /^HTTP\/1.1 400 /,
    ],
    [
      "a folded header",
      `GET ${target} HTTP/1.1\r\nHost: x\r\nX-A: a\r\n X-Smuggled: b\r\nConnection: close\r\n\r\n`,
      /^HTTP\/1.1 (?:400|200) /,
    ],
    ["a space in the path", `GET ${target} /smuggled HTTP/1.1\r\nHost: x\r\n\r\n`, /^HTTP\/1.1 400 /],
  ];
  for (const [what, request, expected] of rows)
    test(`${what} smuggle nothing`, async () => {
      const seen: string[] = [];
      serve = (received, response) => {
        seen.push(received.url ?? "", ...Object.keys(received.headers));
        received.resume();
        response.end("ok");
      };
      const { socket, all } = await rawSocket(server.kubeconfig);
      socket.write(request);
      const text = await all();
      socket.destroy();
      assert.match(text, expected);
      assert.ok(!seen.some((one) => one.includes("smuggled")), seen.join(" "));
    });

  for (const path of [
    "a%0d%0aX-Smuggled:%20b",
    "a%20HTTP/1.1%0d%0aX-Smuggled:%20b%0d%0a",
    "%00",
    "?a%0d%0ab",
    "%252e%252e/x",
  ])
    test(`the path ${path} is one path at the pod`, async () => {
      let seen: IncomingMessage | undefined;
      serve = (received, response) => {
        seen = received;
        response.end("ok");
      };
      const client = rawClient(server.kubeconfig);
      assert.equal((await client.send({ path: `${pods}/web/proxy/${path}` })).status, 200);
      assert.equal(seen?.headers["x-smuggled"], undefined);
      assert.equal(decodeURIComponent(seen?.url ?? ""), decodeURIComponent(`/${path}`));
      client.close();
    });

  test("bytes behind a failed upgrade are not a request", async () => {
    let requests = 0;
    serve = (_request, response) => {
      requests++;
      response.end("ok");
    };
    const { socket, all } = await rawSocket(server.kubeconfig);
    const smuggled = `GET ${pods} HTTP/1.1\r\nHost: x\r\n\r\n`;
    backend.removeAllListeners("upgrade");
    socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n${smuggled}`);
    const text = await all();
    assert.match(text, /^HTTP\/1.1 500 .*invalid upgrade response: status code 200/s);
    assert.equal(text.match(/HTTP\/1.1/g)?.length, 1);
    assert.equal(requests, 1);
    socket.destroy();
  });
});

describe("load", () => {
  /** Requests to this server while something else is happening. */
  async function checkOthers(): Promise<void> {
    const client = rawClient(server.kubeconfig);
    assert.equal((await client.send({ path: "/api/v1/namespaces/default" })).status, 200);
    client.close();
  }

  const size = 1 << 30;
  test("1 GB in both directions is never kept", { skip: skipWithout("full"), timeout: 280_000 }, async () => {
    const piece = Buffer.alloc(1 << 16, "x");
    serve = async (request, response) => {
      if (request.method === "PUT") {
        let received = 0;
        for await (const one of request) received += (one as Buffer).length;
        return void response.end(String(received));
      }
      for (let sent = 0; sent < size; sent += piece.length) if (!response.write(piece)) await once(response, "drain");
      response.end();
    };
    const before = process.memoryUsage.rss();
    let peak = before;
    // own wait: samples the memory of the process
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss());
    }, 20);
    const curl = (...args: string[]): Promise<string> =>
      run("curl", [...curlArgs(), ...args, `${server.url}${pods}/web/proxy/x`]);
    for (const version of ["--http1.1", "--http2"]) {
      assert.equal(await curl(version, "-o", "/dev/null", "-w", "%{size_download}"), String(size));
      const source = `head -c ${size} /dev/zero | `;
      const line = [`${source}curl`, ...curlArgs(), version, "-T", "-", `'${server.url}${pods}/web/proxy/x'`];
      assert.equal(await run("sh", ["-c", line.join(" ")]), String(size));
    }
    clearInterval(timer);
    const grown = (peak - before) >> 20;
    assert.ok(grown < 200, `memory has grown by ${grown} MB`); // Garbage of both sides, which V8 collects at 64 MB.
  });

  test("backends that hang, drip or die, and clients that do not read, cost only their requests", async () => {
    const stalled = new Set<Socket>();
    let requests = 0;
    serve = (request, response) => {
      stalled.add(request.socket);
      request.socket.once("close", () => stalled.delete(request.socket));
      const kind = requests++ % 4;
      if (kind === 0) return; // Hangs.
      if (kind === 1) return void request.socket.write("HTTP/1.1 200 OK\r\nContent-Le"); // Hangs in its headers.
      response.writeHead(200, { "content-length": 1 << 30 });
      if (kind === 2) return void response.write("x", () => request.socket.destroy()); // Dies.
      const fill = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(1 << 16)));
        if (!response.destroyed) response.once("drain", fill);
      };
      fill(); // More than the client reads.
    };
    const sockets = await Promise.all(Array.from({ length: 40 }, () => rawSocket(server.kubeconfig)));
    for (const { socket } of sockets) {
      socket.pause();
      socket.write(`GET ${pods}/web/proxy/x HTTP/1.1\r\nHost: x\r\n\r\n`);
    }
    await until(() => requests >= 40 && stalled.size <= 30);
    await checkOthers();
    for (const { socket } of sockets) socket.destroy();
    await until(() => stalled.size === 0);
  });

  test("HTTP/2 clients that reset streams end the connections to the pod", async () => {
    const open = new Set<Socket>();
    serve = (request, response) => {
      open.add(request.socket);
      request.socket.once("close", () => open.delete(request.socket));
      response.write("x");
    };
    const session = http2.connect(server.url, {
      ...credentialsOf(server.kubeconfig),
    });
    const streams = Array.from({ length: 20 }, () => session.request({ ":path": `${pods}/web/proxy/x` }));
    await Promise.all(streams.map((stream) => once(stream, "data")));
    assert.equal(open.size, 20);
    for (const stream of streams) stream.on("error", () => undefined).close(http2.constants.NGHTTP2_CANCEL);
    await until(() => open.size === 0);
    await checkOthers();
    session.destroy();
  });
});

for (const kubectl of kubectls())
  test(`${kubectl.split("/").at(-1)}: get --raw, proxy, cluster-info`, async () => {
    serve = (request, response) => response.end(`${request.method} ${request.url}`);
    const options = { kubeconfigPath: server.kubeconfigPath, directory: server.directory };
    const raw = await runKubectl(kubectl, ["get", "--raw", `${pods}/http:web:${port}/proxy/a?b=c`], options);
    assert.deepEqual(raw, { code: 0, output: "GET /a?b=c" });
    const child = spawn(kubectl, ["--kubeconfig", server.kubeconfigPath, "proxy", "--port=0"]);
    let output = "";
    for await (const piece of child.stdout) {
      output += piece;
      if (output.includes("\n")) break;
    }
    const address = /127\.0\.0\.1:\d+/.exec(output)?.[0];
    const answer = await fetch(`http://${address}${pods}/web/proxy/a/`, { method: "POST", body: "x" });
    assert.equal(await answer.text(), "POST /a/");
    child.kill();
    await once(child, "close");
    const info = await runKubectl(kubectl, ["cluster-info"], options);
    assert.equal(info.code, 0, info.output);
  });

function curlArgs(): string[] {
  return ["-s", "--cacert", `${directory}/ca.pem`, "--cert", `${directory}/user.pem`, "--key", `${directory}/key.pem`];
}

function run(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args);
    let out = "";
    child.stdout.on("data", (piece: Buffer) => {
      out += piece.toString();
    });
    child.on("error", reject);
    child.on("close", () => resolve(out));
  });
}
