/** Calls over TLS on the loopback interface. Error messages equal those of Go's client. */
import assert from "node:assert/strict";
import http, { type IncomingHttpHeaders, type ServerResponse } from "node:http";
import net, { type AddressInfo } from "node:net";
import { before, test } from "node:test";
import { until } from "../../test/support/until.ts";
import {
  startWebhookServer,
  type WebhookReply,
  type WebhookServer,
  type WebhookServerOptions,
} from "../../test/support/webhook-server.ts";
import { untilAborted } from "../request/lifetime.ts";
import { createAuthority } from "../server/serving/x509.ts";
import { checkAnswer, decodeAnswer } from "./answer.ts";
import { type ClientOptions, webhookClient } from "./client.ts";
import { type CallObserver, type WebhookEndpoint, WebhookError, type WebhookErrorKind } from "./contract.ts";

const review = { kind: "ConversionReview", apiVersion: "apiextensions.k8s.io/v1" };
const authorityNamed = async (commonName: string): Promise<string> => {
  const now = Date.now();
  return (await createAuthority({ subject: { commonName }, notBefore: now - 1000, notAfter: now + 3_600_000 })).cert;
};
let other = "";
/** Has the name of the authority that has signed the certificate of the server. */
let namesake = "";
before(async () => {
  other = await authorityNamed("other");
  namesake = await authorityNamed("webhooks");
});

interface Row {
  readonly server?: WebhookServerOptions;
  readonly endpoint?: (server: WebhookServer) => Partial<WebhookEndpoint>;
  readonly options?: ClientOptions;
  readonly timeoutMs?: number;
  readonly reply?: WebhookReply;
}

async function attempt({
  server: serverOptions = {},
  endpoint,
  options,
  timeoutMs = 30_000,
  reply = review,
}: Row): Promise<string> {
  const server = await startWebhookServer(() => reply, serverOptions);
  const target = { url: `${server.url}/c`, ca: server.ca, ...endpoint?.(server) };
  try {
    const client = webhookClient(target, options);
    try {
      const answer = await client.post("{}", { timeoutMs });
      return JSON.stringify(decodeAnswer(answer, review).value);
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      return `${error.kind}: ${error.message.replaceAll(target.url, "URL").replaceAll(String(server.port), "PORT")}`;
    } finally {
      client.close();
    }
  } finally {
    await server.close();
  }
}

const status = (
  code: number,
  text: string,
  headers: Record<string, string> = { "content-type": "text/plain" },
): WebhookReply => {
  return (response) => response.writeHead(code, headers).end(text);
};
const json = (value: object | string, code = 200): WebhookReply =>
  status(code, typeof value === "string" ? value : JSON.stringify(value), { "content-type": "application/json" });
const failure = { kind: "Status", apiVersion: "v1", status: "Failure", message: "no way", reason: "Forbidden" };
const cannotUnmarshal = (what: string): string =>
  `malformed: couldn't get version/kind; json parse error: json: cannot unmarshal ${what} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`.replaceAll(
    "\\\\",
    "\\",
  );
const never = (_response: ServerResponse): void => {};

const rows: [what: string, row: Row, want: string | RegExp][] = [
  ["a valid response", {}, JSON.stringify(review)],
  [
    "YAML",
    { reply: status(200, "kind: ConversionReview\n", { "content-type": "application/yaml" }) },
    '{"kind":"ConversionReview"}',
  ],
  [
    "an unknown authority",
    { endpoint: () => ({ ca: other }) },
    'tls: Post "URL?timeout=30s": tls: failed to verify certificate: x509: certificate signed by unknown authority',
  ],
  [
    "another authority with the same name",
    { endpoint: () => ({ ca: other + namesake }) },
    'tls: Post "URL?timeout=30s": tls: failed to verify certificate: x509: certificate signed by unknown authority (possibly because of "x509: ECDSA verification failure" while trying to verify candidate authority certificate "webhooks")',
  ],
  [
    "without a CA, which uses the authorities of the system",
    { endpoint: () => ({ ca: undefined as unknown as string }) },
    'tls: Post "URL?timeout=30s": tls: failed to verify certificate: x509: certificate signed by unknown authority',
  ],
  [
    "an unknown authority with insecureSkipTlsVerify",
    { endpoint: () => ({ ca: other, insecureSkipTlsVerify: true }) },
    JSON.stringify(review),
  ],
  [
    "a pinned certificate with other names, of an unknown authority",
    { server: { names: ["foo.example"] }, endpoint: ({ certificate }) => ({ ca: other, pinned: () => [certificate] }) },
    JSON.stringify(review),
  ],
  [
    "a certificate that is replaced during the handshake",
    {
      endpoint({ certificate }) {
        const lists = [[certificate], []];
        return { pinned: () => lists.shift() ?? assert.fail() };
      },
    },
    JSON.stringify(review),
  ],
  [
    "a valid certificate that is not pinned",
    { endpoint: ({ authority }) => ({ pinned: () => [Buffer.from(authority.cert)] }) },
    'tls: Post "URL?timeout=30s": tls: failed to verify certificate: x509: certificate signed by unknown authority',
  ],
  [
    "a certificate for other names",
    {
      server: { names: ["foo.example", "bar.example"] },
      endpoint: ({ port }) => ({ url: `https://localhost:${port}/c` }),
    },
    'tls: Post "URL?timeout=30s": tls: failed to verify certificate: x509: certificate is valid for foo.example, bar.example, not localhost',
  ],
  [
    "a certificate for the configured serverName",
    { server: { names: ["foo.example"] }, endpoint: () => ({ serverName: "foo.example" }) },
    JSON.stringify(review),
  ],
  [
    "a certificate without addresses",
    { server: { names: ["foo.example"] } },
    'tls: Post "URL?timeout=30s": tls: failed to verify certificate: x509: cannot validate certificate for 127.0.0.1 because it doesn\'t contain any IP SANs',
  ],
  [
    "a certificate for another address",
    { server: { names: ["127.0.0.2"] } },
    'tls: Post "URL?timeout=30s": tls: failed to verify certificate: x509: certificate is valid for 127.0.0.2, not 127.0.0.1',
  ],
  [
    "a certificate without names",
    { server: { names: [] }, endpoint: ({ port }) => ({ url: `https://localhost:${port}/c` }) },
    'tls: Post "URL?timeout=30s": tls: failed to verify certificate: x509: certificate is not valid for any names, but wanted to match localhost',
  ],
  [
    "a certificate without names whose common name is that of the server",
    { server: { names: [] }, endpoint: () => ({ serverName: "webhook" }) },
    'tls: Post "URL?timeout=30s": tls: failed to verify certificate: x509: certificate relies on legacy Common Name field, use SANs instead',
  ],
  [
    "an expired certificate",
    { server: { notBefore: Date.now() - 7_200_000, notAfter: Date.now() - 3_600_000 } },
    /^tls: Post "URL\?timeout=30s": tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time \S{20} is after \S{20}$/,
  ],
  [
    "a resolved address",
    {
      server: { names: ["a.b.svc"] },
      endpoint: ({ port }) => ({ url: "https://a.b.svc:443/c", resolve: () => ({ host: "127.0.0.1", port }) }),
    },
    JSON.stringify(review),
  ],
  [
    "a resolver error",
    {
      endpoint: () => ({
        url: "https://a.b.svc:443/c",
        resolve() {
          throw new Error('service "a" not found');
        },
      }),
    },
    'resolve: Post "URL?timeout=30s": service "a" not found',
  ],
  [
    "a port without a listener",
    { endpoint: () => ({ url: "https://127.0.0.1:1/c" }) },
    'connect: Post "URL?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused',
  ],
  [
    "an unknown host name",
    { endpoint: () => ({ url: "https://no-such-host.invalid/c" }) },
    /^connect: Post "URL\?timeout=30s": dial tcp: lookup no-such-host.invalid: (?:no such host|server misbehaving)$/,
  ],
  ["no response", { timeoutMs: 100, reply: never }, 'timeout: Post "URL?timeout=100ms": context deadline exceeded'],
  [
    "an incomplete response",
    { timeoutMs: 100, reply: (response) => void response.write("{") },
    "timeout: unexpected error when reading response body. Please retry. Original error: context deadline exceeded",
  ],
  [
    "closed without a response",
    { reply: (response) => void response.socket?.end() },
    'closed: Post "URL?timeout=30s": EOF',
  ],
  [
    "closed within a response",
    {
      reply: (response) =>
        void response.writeHead(200, { "content-length": "100" }).write("{", () => response.socket?.end()),
    },
    "closed: unexpected error when reading response body. Please retry. Original error: unexpected EOF",
  ],
  [
    "a response above the limit",
    { options: { answerBytesMax: 1000 }, reply: json({ text: "x".repeat(1000) }) },
    "tooLarge: the response of the webhook is larger than 1000 bytes",
  ],
  [
    "an announced length above the limit, before the body",
    {
      options: { answerBytesMax: 1000 },
      reply: (response) => response.writeHead(200, { "content-length": "1001" }).flushHeaders(),
    },
    "tooLarge: the response of the webhook is larger than 1000 bytes",
  ],
  [
    "a response that is not HTTP",
    { reply: (response) => void response.socket?.end("hello\r\n\r\n") },
    /^malformed: Post "URL\?timeout=30s": net\/http: HTTP\/1.x transport connection broken: /,
  ],
  [
    "a redirect without a location",
    { reply: status(302, "") },
    "status: the server responded with the status code 302 but did not return more information",
  ],
  [
    "a redirect to a port without a listener",
    { reply: status(302, "", { location: "https://127.0.0.1:1/" }) },
    'connect: Post "https://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused',
  ],
  [
    "a redirect to another scheme",
    { reply: status(308, "", { location: "file:///etc/passwd" }) },
    'redirect: Post "file:///etc/passwd": unsupported protocol scheme "file"',
  ],
  [
    "a redirect to an invalid URL",
    { reply: status(302, "", { location: "http://[::1" }) },
    'redirect: Post "URL?timeout=30s": failed to parse Location header "http://[::1": parse "http://[::1": invalid URL',
  ],
  [
    "a redirect to itself",
    { reply: status(307, "", { location: "/c" }) },
    'redirect: Post "/c": stopped after 10 redirects',
  ],
  ["400", { reply: status(400, "some text") }, "status: the server rejected our request for an unknown reason"],
  ["403", { reply: status(403, " some text\n") }, "status: some text"],
  ["403 in JSON", { reply: json('{"a":1}', 403) }, "status: unknown"],
  ["404", { reply: status(404, "some text") }, "status: the server could not find the requested resource"],
  [
    "406 in JSON",
    { reply: json('{"a":1}', 406) },
    "status: the server was unable to respond with a content type that the client supports",
  ],
  ["406", { reply: status(406, "some text") }, "status: some text"],
  [
    "500",
    { reply: status(500, "some text") },
    'status: an error on the server ("some text") has prevented the request from succeeding',
  ],
  [
    "500 in JSON",
    { reply: json(review, 500) },
    'status: an error on the server ("unknown") has prevented the request from succeeding',
  ],
  ["503", { reply: status(503, "") }, "status: the server is currently unable to handle the request"],
  ["a Status", { reply: json(failure, 400) }, "status: no way"],
  [
    "a Status of success with code 400",
    { reply: json({ ...failure, status: "Success" }, 400) },
    "status: the server rejected our request for an unknown reason",
  ],
  [
    "JSON nested too deeply",
    { reply: json(`{"a":${"[".repeat(1000)}${"]".repeat(1000)}}`) },
    "malformed: couldn't get version/kind; json parse error: exceeded max depth",
  ],
  [
    "an error response nested too deeply",
    { reply: json(`{"a":${"[".repeat(9000)}${"]".repeat(9000)}}`, 404) },
    "status: the server could not find the requested resource",
  ],
  [
    "an empty body",
    { reply: json("") },
    "malformed: 0-length response with status code: 200 and content type: application/json",
  ],
  [
    "an empty body with code 204",
    { reply: status(204, "") },
    "malformed: 0-length response with status code: 204 and content type: text/plain",
  ],
  ["garbage", { reply: json("garbage") }, cannotUnmarshal("string")],
  [
    "a large body that is not JSON",
    { reply: json("<html>".repeat(20_000)) },
    "malformed: couldn't get version/kind; json parse error: invalid character '<' looking for beginning of value",
  ],
  ["a list", { reply: json("[]") }, cannotUnmarshal("array")],
  [
    "JSON with trailing data",
    { reply: json(`${JSON.stringify(review)} x`) },
    "malformed: couldn't get version/kind; json parse error: invalid character 'x' after top-level value",
  ],
];

for (const [what, row, want] of rows) {
  test(`a webhook: ${what}`, async () => {
    const result = await attempt(row);
    if (typeof want === "string") assert.equal(result, want);
    else assert.match(result, want);
  });
}

/** The behavior of a server without TLS on a connection. */
const rawRows: [what: string, accept: (socket: net.Socket) => void, kind: WebhookErrorKind, message: string][] = [
  [
    "responds with HTTP",
    (socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"),
    "tls",
    "http: server gave HTTP response to HTTPS client",
  ],
  ["closes the connection", (socket) => socket.destroy(), "closed", "EOF"],
  ["sends nothing", () => {}, "timeout", "context deadline exceeded"],
];

for (const [what, accept, kind, message] of rawRows) {
  test(`a server that ${what}`, async () => {
    const sockets = new Set<net.Socket>();
    const server = net.createServer((socket) => {
      sockets.add(socket.on("error", () => {}));
      accept(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/c`;
    const client = webhookClient({ url, insecureSkipTlsVerify: true });
    await assert.rejects(client.post("{}", { timeoutMs: kind === "timeout" ? 100 : 30_000 }), (error: WebhookError) => {
      const timeout = kind === "timeout" ? "100ms" : "30s";
      assert.deepEqual([error.kind, error.message], [kind, `Post "${url}?timeout=${timeout}": ${message}`]);
      return true;
    });
    client.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}

test("sends the headers, credentials and timeout of the endpoint", async () => {
  const server = await startWebhookServer(() => review);
  const endpoint = { url: `${server.url}/conv`, ca: server.ca };
  const withToken = webhookClient({ ...endpoint, token: "t" });
  await withToken.post('{"a":1}', { timeoutMs: 1500 });
  const withPassword = webhookClient({ ...endpoint, basic: { username: "u", password: "p" } });
  await withPassword.post(new TextEncoder().encode("{}"), { timeoutMs: 30_000 });
  const [first, second] = server.requests;
  assert.equal(first?.path, "/conv?timeout=1.5s");
  assert.deepEqual(
    ["host", "accept", "content-type", "content-length", "user-agent", "authorization"].map(
      (name) => first?.headers[name],
    ),
    [
      `127.0.0.1:${server.port}`,
      "application/json, */*",
      "application/json",
      "7",
      "kube-apiserver-admission",
      "Bearer t",
    ],
  );
  assert.deepEqual([second?.headers.authorization, second?.text], ["Basic dTpw", "{}"]);
  withToken.close();
  withPassword.close();
  await server.close();
});

test("rejects a token with invalid header characters without repeating it", async () => {
  const server = await startWebhookServer(() => review);
  for (const token of ["secret\nx: y", "secret\0", "secret \u{1f511}"]) {
    const client = webhookClient({ url: server.url, ca: server.ca, token });
    const message = `Post "${server.url}/?timeout=30s": net/http: invalid header field value for "Authorization"`;
    await assert.rejects(client.post("{}", { timeoutMs: 30_000 }), { name: "WebhookError", kind: "request", message });
    client.close();
  }
  assert.equal(server.requests.length, 0);
  await server.close();
});

test("reuses connections and replaces a closed one", async () => {
  const server = await startWebhookServer(() => review);
  const client = webhookClient({ url: server.url, ca: server.ca });
  for (let calls = 0; calls < 3; calls++) checkAnswer(await client.post("{}", { timeoutMs: 30_000 }));
  assert.equal(server.connections(), 1);
  await Promise.all([1, 2, 3].map(() => client.post("{}", { timeoutMs: 30_000 })));
  const before = server.connections();
  assert.ok(before > 1);
  server.drop();
  checkAnswer(await client.post("{}", { timeoutMs: 30_000 }));
  assert.equal(server.connections(), before + 1);
  client.close();
  await server.close();
});

test("retries a response with Retry-After and notifies the observer", async () => {
  let calls = 0;
  const server = await startWebhookServer(() => {
    calls++;
    return calls < 3 ? status(503, "", { "retry-after": "0" }) : review;
  });
  const observed: unknown[] = [];
  const observer: CallObserver = {
    sent: (host, { bytes, attempt, status }) => observed.push([host, bytes, attempt, status]),
    ended: (host, { answerBytes }) => observed.push([host, answerBytes]),
    missingSan: () => assert.fail(),
    insecureSha1: () => assert.fail(),
  };
  const client = webhookClient({ url: server.url, ca: server.ca }, { calls: observer });
  checkAnswer(await client.post("{}", { timeoutMs: 30_000 }));
  assert.equal(calls, 3);
  const host = `127.0.0.1:${server.port}`;
  const answered = Buffer.byteLength(JSON.stringify(review));
  assert.deepEqual(observed, [
    [host, 2, 1, 503],
    [host, 2, 2, 503],
    [host, 2, 3, 200],
    [host, answered],
  ]);
  await server.close();
  await assert.rejects(client.post("{}", { timeoutMs: 30_000 }));
  assert.deepEqual(observed.slice(4), [
    [host, 2, 1, undefined],
    [host, undefined],
  ]);
  client.close();
});

test("reports a certificate without names with each response, and with each rejection for its common name", async () => {
  const server = await startWebhookServer(() => review, { names: [] });
  let reported = 0;
  const calls: CallObserver = {
    sent() {},
    ended() {},
    missingSan: () => reported++,
    insecureSha1: () => assert.fail(),
  };
  const post = async (endpoint: Partial<WebhookEndpoint>, count: number): Promise<number> => {
    const client = webhookClient({ url: server.url, ca: server.ca, ...endpoint }, { calls });
    const before = reported;
    for (let call = 0; call < count; call++) await client.post("{}", { timeoutMs: 30_000 }).catch(() => {});
    client.close();
    return reported - before;
  };
  assert.equal(await post({ insecureSkipTlsVerify: true }, 3), 3);
  assert.equal(server.connections(), 1);
  assert.equal(await post({ serverName: "webhook" }, 2), 2);
  assert.equal(await post({ serverName: "other" }, 1), 0);
  await server.close();
});

test("ends the wait for Retry-After at the timeout", async () => {
  assert.match(
    await attempt({ timeoutMs: 100, reply: status(429, "", { "retry-after": "10" }) }),
    /^timeout: Post "URL\?timeout=100ms": context deadline exceeded$/,
  );
});

test("cancels a call", async () => {
  const controller = new AbortController();
  const server = await startWebhookServer(() => {
    controller.abort();
    return never;
  });
  const client = webhookClient({ url: server.url, ca: server.ca });
  await assert.rejects(client.post("{}", { timeoutMs: 30_000, lifetime: untilAborted(controller.signal) }), {
    kind: "canceled",
  });
  client.close();
  await server.close();
});

/** The headers and the body that a redirect preserves. */
const redirectRows: [code: number, method: string, contentType: string | undefined, text: string][] = [
  [301, "GET", undefined, ""],
  [302, "GET", undefined, ""],
  [303, "GET", undefined, ""],
  [307, "POST", "application/json", "{}"],
  [308, "POST", "application/json", "{}"],
];

for (const [code, method, contentType, text] of redirectRows) {
  test(`follows a redirect ${code} on the same connection with credentials`, async () => {
    const server = await startWebhookServer(({ path }) =>
      path.startsWith("/c") ? status(code, "", { location: "/other?a=b" }) : review,
    );
    const client = webhookClient({ url: `${server.url}/c`, ca: server.ca, token: "t" });
    checkAnswer(await client.post("{}", { timeoutMs: 30_000 }));
    const second = server.requests[1];
    const { authorization, referer, host, "content-type": type } = second?.headers ?? {};
    assert.deepEqual(
      [second?.method, second?.path, second?.text, type, authorization, referer, host],
      [method, "/other?a=b", text, contentType, "Bearer t", `${server.url}/c?timeout=30s`, `127.0.0.1:${server.port}`],
    );
    assert.equal(server.connections(), 1);
    client.close();
    await server.close();
  });
}

test("sends no credentials to another origin, nor back", async () => {
  const certificates: boolean[] = [];
  const tls = { requestCert: true, rejectUnauthorized: false };
  const seen = (server: WebhookServer) => server.requests.map(({ headers }) => headers.authorization);
  const second = await startWebhookServer(() => status(307, "", { location: `${first.url}/end` }), { tls });
  const first = await startWebhookServer(
    ({ path }) => (path === "/end" ? review : status(307, "", { location: `${second.url}/x` })),
    { tls },
  );
  for (const server of [first, second])
    server.onConnection((socket) => certificates.push(socket.getPeerCertificate().raw !== undefined));
  const client = webhookClient({ url: first.url, ca: first.ca + second.ca, token: "t", ...first.authority });
  checkAnswer(await client.post("{}", { timeoutMs: 30_000 }));
  assert.deepEqual([seen(first), seen(second)], [["Bearer t", undefined], [undefined]]);
  assert.deepEqual(certificates, [true, false, false]);
  client.close();
  await first.close();
  await second.close();
});

test("follows a redirect to a server without TLS without credentials and Referer", async () => {
  let received: IncomingHttpHeaders = {};
  const plain = http.createServer((request, response) => {
    received = request.headers;
    response.end(JSON.stringify(review));
  });
  await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
  const location = `http://127.0.0.1:${(plain.address() as AddressInfo).port}/x`;
  const server = await startWebhookServer(() => status(307, "", { location }));
  const client = webhookClient({ url: server.url, ca: server.ca, token: "t" });
  checkAnswer(await client.post("{}", { timeoutMs: 30_000 }));
  assert.deepEqual([received.authorization, received.referer], [undefined, undefined]);
  client.close();
  await server.close();
  plain.closeAllConnections();
  plain.close();
});

test("verifies the certificate of a redirect with the authorities of the endpoint", async () => {
  const second = await startWebhookServer(() => review);
  const first = await startWebhookServer(() => status(307, "", { location: second.url }));
  const client = webhookClient({ url: first.url, ca: first.ca });
  await assert.rejects(client.post("{}", { timeoutMs: 30_000 }), { kind: "tls" });
  assert.equal(second.requests.length, 0);
  client.close();
  await first.close();
  await second.close();
});

test("waits for a connection when all are in use, until the timeout", async () => {
  const held: ServerResponse[] = [];
  const server = await startWebhookServer(() => (response) => void held.push(response));
  const client = webhookClient({ url: server.url, ca: server.ca }, { connectionsMax: 1 });
  const first = client.post("{}", { timeoutMs: 30_000 });
  await until(() => held.length === 1);
  const late = client.post("{}", { timeoutMs: 50 });
  const next = client.post("{}", { timeoutMs: 30_000 });
  await assert.rejects(late, { kind: "timeout" });
  assert.equal(server.requests.length, 1);
  held[0]?.end("{}");
  checkAnswer(await first);
  await until(() => held.length >= 2);
  held[1]?.end("{}");
  checkAnswer(await next);
  assert.equal(server.connections(), 1);
  client.close();
  await server.close();
});

test("calls fail when the client is closed", async () => {
  const server = await startWebhookServer(() => never);
  const client = webhookClient({ url: server.url, ca: server.ca }, { connectionsMax: 1 });
  const calls = [1, 2].map(() => assert.rejects(client.post("{}", { timeoutMs: 30_000 }), { kind: "closed" }));
  await until(() => server.requests.length > 0);
  client.close();
  await Promise.all(calls);
  await assert.rejects(client.post("{}", { timeoutMs: 30_000 }), { kind: "closed" });
  await server.close();
});

test("rejects an invalid CA bundle when the client is created", () => {
  const message = "unable to load root certificates: unable to parse bytes as PEM block";
  assert.throws(() => webhookClient({ url: "https://127.0.0.1", ca: "x" }), { message });
});
