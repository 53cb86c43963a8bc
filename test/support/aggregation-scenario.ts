/**
 * A server behind an API server, and requests through the API server. The answers of kube-apiserver
 * are recorded by tools/golden/server/aggregation.ts.
 */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import type tls from "node:tls";
import { gzipSync } from "node:zlib";
import { createAuthority, issueCertificate } from "../../src/server/serving/x509.ts";
import type { RawClient, RawRequest } from "./raw-client.ts";
import { eventually } from "./until.ts";

const group = "wardle.example.com";
const version = "v1alpha1";
const base = `/apis/${group}/${version}`;
const namespace = "wardle";
const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices";
const hour = 3_600_000;
const life = { notBefore: Date.now() - hour, notAfter: Date.now() + hour };

export interface AggregatedBackend {
  readonly port: number;
  /** Base64 of the PEM of its authority. */
  readonly caBundle: string;
  close(): void;
}

type Behavior = (request: IncomingMessage, response: ServerResponse) => void;

const echoed = [
  "accept",
  "audit-id",
  "authorization",
  "content-length",
  "content-type",
  "cookie",
  "host",
  "te",
  "transfer-encoding",
  "traceparent",
  "user-agent",
  "x-custom",
];

/** By the last segment of the path; others are echoed. */
const behaviors: Readonly<Record<string, Behavior>> = {
  status: (_request, response) => {
    response.writeHead(418, { "content-type": "text/plain", "x-answer": ["a", "b"], "cache-control": "max-age=1" });
    response.end("short and stout");
  },
  empty: (_request, response) => void response.writeHead(204).end(),
  "not-modified": (_request, response) => void response.writeHead(304, { etag: '"1"' }).end(),
  redirect: (_request, response) => void response.writeHead(302, { location: "https://127.0.0.1:1/elsewhere" }).end(),
  "redirect-within": (_request, response) => void response.writeHead(307, { location: "/apis/other" }).end("gone"),
  origins: (_request, response) => {
    const headers = { "access-control-allow-origin": "*", "access-control-allow-headers": "x", vary: "Origin" };
    response.writeHead(200, { ...headers, "content-type": "text/plain" }).end("cors");
  },
  gzip: (_request, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
    response.end(gzipSync('{"zipped":true}'));
  },
  "close-before": ({ socket }) => void socket.destroy(),
  "close-within": (_request, response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-length": "100" });
    response.write("the first half", () => response.destroy());
  },
  malformed: ({ socket }) => void socket.end("nonsense\r\n\r\n"),
  switching: ({ socket }) =>
    void socket.end("HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\nConnection: Upgrade\r\n\r\n"),
  unauthorized: (_request, response) => {
    response.writeHead(401, { "content-type": "application/json", "www-authenticate": "Basic" }).end("{}");
  },
};

/** @param name in its certificate, `service.namespace.svc` */
export async function startAggregatedBackend(name = `api.${namespace}.svc`): Promise<AggregatedBackend> {
  const authority = await createAuthority({ subject: { commonName: "backends" }, ...life });
  const subject = { commonName: "api" };
  const pair = await issueCertificate(authority, { subject, usage: "server", names: [name], ...life });
  const server = https.createServer({ ...pair, requestCert: true, rejectUnauthorized: false });
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url ?? "", "https://backend");
    const segments = pathname.split("/");
    const broken = brokenGroups[segments[2]?.split(".")[0] ?? ""];
    (broken ?? behaviors[segments.at(-1) ?? ""] ?? echo)(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    caBundle: Buffer.from(authority.cert).toString("base64"),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function echo(request: IncomingMessage, response: ServerResponse): void {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const { method, url, headers } = request;
    const names = Object.keys(headers).filter(
      (name) => name.startsWith("x-remote-") || name.startsWith("x-forwarded-"),
    );
    const shown = Object.fromEntries([...echoed, ...names].map((header) => [header, request.headersDistinct[header]]));
    const certificate = (request.socket as tls.TLSSocket).getPeerCertificate().subject?.CN;
    const sorted = Object.fromEntries(Object.entries(shown).sort(([a], [b]) => (a < b ? -1 : 1)));
    const body = Buffer.concat(pieces).toString();
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ method, url, headers: sorted, body, certificate }));
  });
}

const escaped = "/namespaces/a%2Fb/flunders/x%20y%C3%BC+%3F";

/** Requests of an administrator to an available server. */
export const proxiedRequests: readonly RawRequest[] = [
  { path: `${base}` },
  { path: `${base}/` },
  { path: `${base}/flunders` },
  { path: `${base}/flunders/` },
  { path: `${base}/flunders?watch&b=2&a=1&a=0&x=%zz&y=a;b&z=a+b%20c&limit=500` },
  { path: `${base}${escaped}` },
  { path: `${base}/namespaces/default/flunders/x?fieldManager=kubectl%2Fcreate` },
  { method: "HEAD", path: `${base}/flunders` },
  { method: "OPTIONS", path: `${base}/flunders` },
  { method: "POST", path: `${base}/namespaces/default/flunders`, body: { kind: "Flunder" } },
  { method: "POST", path: `${base}/namespaces/default/flunders` },
  {
    method: "PUT",
    path: `${base}/namespaces/default/flunders/x`,
    body: "any text",
    headers: { "content-type": "text/x" },
  },
  { method: "PATCH", path: `${base}/namespaces/default/flunders/x`, body: "[]" },
  { method: "DELETE", path: `${base}/namespaces/default/flunders/x` },
  { method: "DELETE", path: `${base}/namespaces/default/flunders/x`, body: { gracePeriodSeconds: 0 } },
  {
    method: "POST",
    path: `${base}/namespaces/default/flunders`,
    body: "in pieces",
    headers: { "transfer-encoding": "chunked" },
  },
  {
    path: `${base}/flunders`,
    headers: {
      "x-remote-user": "mallory",
      "x-remote-uid": "1",
      "x-remote-group": ["system:masters", "b"],
      "x-remote-extra-scopes": "all",
      "x-forwarded-for": "10.9.9.9",
      "x-forwarded-host": "forged.example",
      "x-forwarded-proto": "http",
      "x-forwarded-uri": "/forged",
      cookie: "a=b",
      te: "trailers, deflate",
      "x-custom": ["1", "2"],
      "user-agent": "tester/1",
      accept: "application/vnd.kubernetes.protobuf,*/*",
      "audit-id": "given-by-the-client",
      connection: "keep-alive, x-hop",
      "x-hop": "1",
    },
  },
  {
    path: `${base}/flunders`,
    headers: {
      "impersonate-user": "ann",
      "impersonate-uid": "u-1",
      "impersonate-group": ["one", "system:masters"],
      "impersonate-extra-example.com%2fscopes": "a",
      "impersonate-extra-plain": ["b", "c"],
    },
  },
  ...Object.keys(behaviors).map((behavior) => ({
    path: `${base}/namespaces/default/flunders/${behavior}`,
    headers: { "accept-encoding": "gzip" },
  })),
  { path: "/apis/wardle.example.com/v1alpha2/flunders" },
];

/** An APIService of the group `{name}.example.com` that does not become available. */
interface BrokenService {
  readonly name: string;
  readonly spec?: Readonly<Record<string, unknown>>;
  /** The Service; by default the one of the backend. */
  readonly service?: { readonly name: string; readonly port?: number };
}

/** The server treats the requests for some groups differently, see {@link brokenGroups}. */
export const brokenServices: readonly BrokenService[] = [
  { name: "missing", service: { name: "none" } },
  { name: "no-pem", spec: { caBundle: Buffer.from("nothing").toString("base64") } },
  { name: "no-authority", spec: { caBundle: undefined } },
  { name: "other-name", service: { name: "other" } },
  { name: "no-server", service: { name: "api", port: 1 } },
  { name: "no-endpoints", service: { name: "empty", port: 443 } },
  { name: "other-port", service: { name: "empty", port: 444 } },
  { name: "headless", service: { name: "headless", port: 443 } },
  { name: "forbidden" },
  { name: "moved" },
  { name: "closing" },
  { name: "hanging" },
];

const brokenGroups: Readonly<Record<string, Behavior>> = {
  forbidden: (_request, response) => void response.writeHead(403).end(),
  moved: (_request, response) => void response.writeHead(302, { location: "/apis" }).end(),
  closing: ({ socket }) => void socket.destroy(),
  hanging: () => {},
};

export interface ProxiedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Creates the namespace, the Services and the APIService, and waits until it is available. */
export async function registerBackend({ send }: RawClient, { port, caBundle }: AggregatedBackend): Promise<void> {
  await send({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: namespace } } });
  const elsewhere = { type: "ExternalName", externalName: "localhost" };
  const ports = [{ name: "https", port: 443, protocol: "TCP" }];
  const services = { api: elsewhere, other: elsewhere, empty: { ports }, headless: { clusterIP: "None", ports } };
  for (const [name, spec] of Object.entries(services))
    await send({
      method: "POST",
      path: `/api/v1/namespaces/${namespace}/services`,
      body: { metadata: { name }, spec },
    });
  const spec = {
    group,
    version,
    groupPriorityMinimum: 2000,
    versionPriority: 200,
    service: { namespace, name: "api", port },
    caBundle,
  };
  const metadata = { name: `${version}.${group}` };
  await send({ method: "POST", path: apiServices, body: { metadata, spec } });
  await eventually(
    "the APIService has its condition",
    async () => (await conditionOf({ send }, metadata.name))?.status === "True",
  );
}

async function conditionOf(
  { send }: Pick<RawClient, "send">,
  name: string,
): Promise<Record<string, string> | undefined> {
  const { body } = await send({ path: `${apiServices}/${name}` });
  return body.status?.conditions?.[0];
}

/** Sends a request and returns the answer without what differs between two runs. */
export async function proxiedAnswer({ send }: RawClient, request: RawRequest, port: number): Promise<ProxiedAnswer> {
  const answer = await send(request).catch(() => ({ status: 0, headers: {}, text: "the connection was closed" }));
  const varying = /^(?:date|connection|keep-alive|x-kubernetes-pf-.*)$/;
  const headers = Object.entries(answer.headers).filter(([name]) => !varying.test(name));
  const sorted = Object.fromEntries(headers.sort(([a], [b]) => (a < b ? -1 : 1)));
  const stable = JSON.stringify({ status: answer.status, headers: sorted, text: answer.text })
    .replaceAll(String(port), "PORT")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UUID")
    .replaceAll(/X509SHA256=[0-9a-f]+/g, "X509SHA256=HASH")
    .replaceAll("kubernetes-admin", "admin")
    .replaceAll(/"content-length":"\d+"/g, '"content-length":"N"');
  return JSON.parse(stable);
}

/** The condition of an APIService and the answer to a request for it. */
export interface BrokenAnswer {
  readonly condition: Readonly<Record<string, string>> | undefined;
  readonly answer: ProxiedAnswer;
}

/** Creates an APIService, waits for its condition unless there is none, and sends a request. */
export async function brokenAnswer(
  client: RawClient,
  { name, spec, service }: BrokenService,
  { port, caBundle }: AggregatedBackend,
): Promise<BrokenAnswer> {
  const brokenGroup = `${name}.example.com`;
  const objectName = `v1.${brokenGroup}`;
  const whole = {
    ...{ group: brokenGroup, version: "v1", groupPriorityMinimum: 2000, versionPriority: 200, caBundle, ...spec },
    service: { namespace, name: service?.name ?? "api", port: service?.port ?? port },
  };
  await client.send({ method: "POST", path: apiServices, body: { metadata: { name: objectName }, spec: whole } });
  const find = () => conditionOf(client, objectName);
  // The authorities are read before the first check, whose failure is not reported.
  if (name !== "no-pem") await eventually("the APIService has its condition", async () => (await find()) !== undefined);
  const { lastTransitionTime: _time, ...condition } = (await find()) ?? {};
  const answer = await proxiedAnswer(client, { path: `/apis/${brokenGroup}/v1/things` }, port);
  await client.send({ method: "DELETE", path: `${apiServices}/${objectName}` });
  const message = condition.message
    ?.replaceAll(String(port), "PORT")
    .replace("net/http: request canceled (Client", "context deadline exceeded (Client"); // Go reports either.
  return { condition: message === undefined ? undefined : { ...condition, message }, answer };
}
