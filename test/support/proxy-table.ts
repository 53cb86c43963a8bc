/**
 * Requests through the proxies to pods, services and nodes, with the objects that they need: recorded from
 * kube-apiserver by tools/golden/server/proxy, and replayed by src/forwarding/proxy/requests.golden.test.ts. Both use the servers
 * of proxy-backend.ts.
 */
import { request as httpsRequest, type RequestOptions } from "node:https";
import type { ProxyBackend } from "./proxy-backend.ts";

/** A request. `HTTP`, `HTTPS` and `CLOSED` are ports, `ADDRESS` is the address of the backends. */
export interface ProxyRow {
  /** Method and path; paths that do not start with a slash are in the namespace `default`. */
  readonly line: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ProxyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** JSON is parsed. */
  readonly body: unknown;
}

/** With a name, because upstream sends its own name otherwise. */
const upgrade = { connection: "Upgrade", upgrade: "SPDY/3.1", "user-agent": "a" };
const text = { "content-type": "text/plain" };

const paths: readonly string[] = [
  "pods/web/proxy",
  "pods/web/proxy?a=b",
  "pods/web:HTTP/proxy/x",
  "pods/http:web:HTTP/proxy/x",
  "pods/https:web:HTTPS/proxy/x",
  "pods/http:web:/proxy/x",
  "pods/:web:/proxy/x",
  "pods/:web:HTTP/proxy/x",
  "pods/ftp:web:HTTP/proxy/x",
  "pods/web:1:2:3/proxy/x",
  "pods/:/proxy/x",
  "pods/web:99999/proxy/x",
  "pods/web:CLOSED/proxy/x",
  "pods/none/proxy/x",
  "pods/no-address/proxy/x",
  "pods/link-local/proxy/x",
  "pods/unspecified/proxy/x",
  "pods/multicast/proxy/x",
  "pods/broadcast/proxy/x",
  "pods/web/proxy/a%2fb%20%25/../c%3fd/./e//f%C3%BC",
  "pods/web/proxy/..",
  "pods/web/proxy/../../x/",
  "pods/web/proxy//",
  "pods/web/proxy/%2e%2e/%2e%2e/y",
  "pods/web/proxy/a%252fb",
  "pods/web/proxy/a%0d%0aX:y",
  "pods/web/proxy/a%0d%0aX:y/../b",
  "pods/web%2fproxy/x",
  "pods/web/proxy/!$&'()*+,;=:@-._~[]",
  "pods/web/proxy/x?a=%zz&b;c",
  "pods/web/proxy/x?path=/other",
  "pods/web/proxy/x?watch=true",
  "pods/web/proxy/x?dryRun=All",
  "pods/web/proxy/location?/a/b",
  "pods/web/proxy/location?/a//b/../c/?q%23f",
  "pods/web/proxy/location?http://ADDRESS:HTTP/absolute",
  "pods/web/proxy/location?http://other/x",
  "pods/web/proxy/location?relative",
  "pods/web/proxy/location?//ADDRESS:HTTP/q",
  "pods/web/proxy/location?http://h%5bx",
  "pods/web/proxy/location?/api/v1/namespaces/default/pods/web/proxy/z",
  "pods/web/proxy/headers",
  "pods/web/proxy/garbage",
  "pods/web/proxy/no-answer",
  "pods/web/proxy/upgraded",
  "pods/web/proxy/no-content",
  "pods/web/proxy/unchanged",
  "pods/web/proxy/failed",
  "pods/web/proxy/chunked",
  "services/web/proxy/x",
  "services/web:http/proxy/x",
  "services/web:http/proxy",
  "services/web:80/proxy/x",
  "services/http:web:80/proxy/x",
  "services/https:web:443/proxy/x",
  "services/https:web:https/proxy/x",
  "services/web:closed/proxy/x",
  "services/web:9999/proxy/x",
  "services/web:99999999999999999999/proxy/x",
  "services/web:nope/proxy/x",
  "services/web:+80/proxy/x",
  "services/unnamed/proxy/x",
  "services/unnamed:80/proxy/x",
  "services/unnamed:/proxy/x",
  "services/no-pods/proxy/x",
  "services/other-pods/proxy/x",
  "services/no-endpoints/proxy/x",
  "services/empty/proxy/x",
  "services/not-ready/proxy/x",
  "services/none/proxy/x",
  "services/none:80/proxy/x",
  "services/ftp:web:1/proxy/x",
  "/api/v1/proxy/namespaces/default/pods/web/x",
  "/api/v1/namespaces/none/pods/web/proxy/x",
  "/api/v1/nodes/node/proxy/x",
  "/api/v1/nodes/node/proxy",
  "/api/v1/nodes/node:HTTPS/proxy/x",
  "/api/v1/nodes/http:node:HTTPS/proxy/x",
  "/api/v1/nodes/https:node:HTTPS/proxy/x",
  "/api/v1/nodes/node:HTTP/proxy/x",
  "/api/v1/nodes/http:node:HTTP/proxy/location?/a",
  "/api/v1/nodes/node:CLOSED/proxy/x",
  "/api/v1/nodes/ftp:node:1/proxy/x",
  "/api/v1/nodes/loopback/proxy/x",
  "/api/v1/nodes/loopback:HTTP/proxy/x",
  "/api/v1/nodes/link-local/proxy/x",
  "/api/v1/nodes/local-name/proxy/x",
  "/api/v1/nodes/local-name:HTTP/proxy/x",
  "/api/v1/nodes/no-address/proxy/x",
  "/api/v1/nodes/none/proxy/x",
];

/** All rows. */
export const proxyRows: readonly ProxyRow[] = [
  ...paths.map((path) => ({ line: `GET ${path}` })),
  { line: "POST pods/web/proxy" },
  { line: "PUT pods/web/proxy", headers: text, body: "hello" },
  {
    line: "GET pods/web/proxy/?a=b&c=%20d",
    headers: {
      "x-a": "1",
      te: "trailers",
      "keep-alive": "1",
      cookie: "c=d",
      authorization: "Bearer x",
      "x-remote-user": "u",
      "x-remote-group": "g",
      "x-remote-extra-scope": "s",
      "x-forwarded-for": "1.2.3.4",
      "x-forwarded-host": "h",
      forwarded: "for=x",
      "proxy-authorization": "x",
      "proxy-connection": "x",
      "accept-encoding": "identity",
      "user-agent": "a",
    },
  },
  { line: "GET pods/web/proxy/x", headers: { connection: "close, X-Listed", "x-listed": "1" } },
  { line: "GET pods/none/proxy/x", headers: { accept: "text/html" } },
  { line: "GET pods/web/proxy/x/", headers: { accept: "text/html" } },
  { line: "GET pods/web/proxy/html?ADDRESS:HTTP" },
  { line: "GET pods/web/proxy/html?page:1", headers: { host: "page:1" } },
  { line: "HEAD pods/web/proxy/x" },
  { line: "HEAD pods/web/proxy" },
  { line: "OPTIONS pods/web/proxy/x" },
  { line: "DELETE pods/web/proxy/x" },
  { line: "TRACE pods/web/proxy/x" },
  { line: "PATCH pods/web/proxy/x", headers: text, body: "hello" },
  { line: "POST pods/web/proxy/x", headers: { ...text, "transfer-encoding": "chunked" }, body: "hello" },
  { line: "GET pods/web/proxy/x", headers: { ...text, "content-length": "5" }, body: "hello" },
  { line: "GET pods/web/proxy/switch?a=b", headers: { ...upgrade, "x-forwarded-for": "1.2.3.4" } },
  { line: "POST pods/web/proxy/switch/", headers: { ...upgrade, "content-length": "0" } },
  ...["x", "failed", "no-answer", "garbage"].map((path) => ({ line: `GET pods/web/proxy/${path}`, headers: upgrade })),
  { line: "GET pods/web:CLOSED/proxy/x", headers: upgrade },
  { line: "GET pods/none/proxy/x", headers: upgrade },
  { line: "GET services/web:http/proxy/switch", headers: upgrade },
  { line: "POST /api/v1/nodes/node/proxy/switch", headers: { ...upgrade, "content-length": "0" } },
  { line: "GET /api/v1/nodes/node:HTTP/proxy/switch", headers: upgrade },
];

type Send = (line: string, body: object, contentType: string) => Promise<unknown>;

/** Creates the pods, services, endpoints and nodes of the rows. */
export async function createObjects(send: Send, backend: Pick<ProxyBackend, "host" | "ports">): Promise<void> {
  const { host, ports } = backend;
  const json = "application/json";
  const under = "/api/v1/namespaces/default";
  const create = (resource: string, body: object): Promise<unknown> => send(`POST ${under}/${resource}`, body, json);
  await create("serviceaccounts", { metadata: { name: "default" } });
  const addresses: Readonly<Record<string, string>> = {
    web: host,
    "no-address": "",
    "link-local": "169.254.169.254",
    unspecified: "0.0.0.0",
    multicast: "224.0.0.1",
    broadcast: "255.255.255.255",
  };
  for (const [name, ip] of Object.entries(addresses)) {
    const containers = [
      { name: "portless", image: "i" },
      { name: "c", image: "i", ports: [{ containerPort: ports.http }, { containerPort: ports.https }] },
    ];
    await create("pods", { metadata: { name }, spec: { containers, automountServiceAccountToken: false } });
    const status = { podIP: ip, podIPs: [{ ip }] };
    if (ip !== "") await send(`PATCH ${under}/pods/${name}/status`, { status }, "application/merge-patch+json");
  }
  const pod = (name: string, namespace = "default"): object => ({
    ip: host,
    targetRef: { kind: "Pod", name, namespace },
  });
  const unnamed = { servicePorts: [{ port: 80 }], ports: [{ port: ports.http }] };
  const subset = (addressList: readonly object[]): object[] => [{ addresses: addressList, ports: unnamed.ports }];
  const services: Readonly<Record<string, { readonly ports: object[]; readonly subsets?: object[] }>> = {
    web: {
      ports: [
        { name: "http", port: 80 },
        { name: "https", port: 443 },
        { name: "closed", port: 81 },
      ],
      subsets: [
        {
          addresses: [pod("web")],
          ports: Object.entries(ports).map(([name, port]) => ({ name, port })),
        },
      ],
    },
    unnamed: { ports: unnamed.servicePorts, subsets: subset([{ ip: host }, pod("web")]) },
    "no-pods": { ports: unnamed.servicePorts, subsets: subset([{ ip: host }]) },
    "other-pods": {
      ports: unnamed.servicePorts,
      subsets: subset([pod("none"), { ...pod("no-address") }, { ...pod("web", "other"), ip: "192.0.2.9" }]),
    },
    "no-endpoints": { ports: unnamed.servicePorts },
    empty: { ports: unnamed.servicePorts, subsets: [] },
    "not-ready": {
      ports: unnamed.servicePorts,
      subsets: [{ notReadyAddresses: [pod("web")], ports: unnamed.ports }],
    },
  };
  for (const [name, { ports: servicePorts, subsets }] of Object.entries(services)) {
    await create("services", { metadata: { name }, spec: { ports: servicePorts } });
    if (subsets !== undefined) await create("endpoints", { metadata: { name }, subsets });
  }
  await createNodes(send, backend);
}

async function createNodes(send: Send, { host, ports }: Pick<ProxyBackend, "host" | "ports">): Promise<void> {
  const nodes: Readonly<Record<string, object[]>> = {
    node: [{ type: "InternalIP", address: host }],
    loopback: [{ type: "InternalIP", address: "127.0.0.1" }],
    "link-local": [{ type: "InternalIP", address: "169.254.169.254" }],
    "local-name": [{ type: "Hostname", address: "localhost" }],
    "no-address": [],
  };
  for (const [name, nodeAddresses] of Object.entries(nodes)) {
    await send("POST /api/v1/nodes", { metadata: { name } }, "application/json");
    const status = { addresses: nodeAddresses, daemonEndpoints: { kubeletEndpoint: { Port: ports.https } } };
    await send(`PATCH /api/v1/nodes/${name}/status`, { status }, "application/merge-patch+json");
  }
}

/** Headers of responses that are recorded. */
const recordedHeaders: ReadonlySet<string> = new Set([
  "access-control-allow-origin",
  "cache-control",
  "connection",
  "content-type",
  "etag",
  "location",
  "set-cookie",
  "upgrade",
  "x-a",
  "x-listed",
]);

/** Sends a request of the table, on its own connection. The answer has the placeholders of the rows. */
export function sendRow(
  { line, headers = {}, body }: ProxyRow,
  target: RequestOptions,
  backend: Pick<ProxyBackend, "host" | "ports">,
): Promise<ProxyAnswer> {
  const { host, ports } = backend;
  const [method, path = ""] = line.split(" ");
  const filled = path
    .replaceAll("ADDRESS", host)
    .replace(/\bHTTP\b/g, String(ports.http))
    .replace(/\bHTTPS\b/g, String(ports.https))
    .replace(/\bCLOSED\b/g, String(ports.closed));
  const named = (value: string): string =>
    value
      .replaceAll(`${target.host}:${target.port}`, "SERVER")
      .replaceAll(`:${ports.http}`, ":HTTP")
      .replaceAll(`:${ports.https}`, ":HTTPS")
      .replaceAll(`:${ports.closed}`, ":CLOSED")
      .replaceAll(`${host}:`, "ADDRESS:");
  return new Promise((resolve, reject) => {
    const sent = httpsRequest({
      ...target,
      method,
      path: filled.startsWith("/") ? filled : `/api/v1/namespaces/default/${filled}`,
      headers: { accept: "*/*", connection: "close", ...headers },
      servername: "", // Otherwise it would be that of the header.
      agent: false,
    });
    const finish = (response: { statusCode?: number; headers: Record<string, unknown> }, content: string): void => {
      const kept = Object.entries(response.headers).filter(
        ([name, value]) => recordedHeaders.has(name) && !(name === "connection" && value === "close"),
      );
      const all = JSON.parse(named(JSON.stringify(Object.fromEntries(kept)))) as ProxyAnswer["headers"];
      resolve({ status: response.statusCode ?? 0, headers: all, body: parsed(named(content)) });
    };
    sent.on("response", async (response) => {
      const pieces = await response.toArray().catch(reject);
      finish(response, Buffer.concat(pieces ?? []).toString());
    });
    sent.on("upgrade", async (response, socket, head) => {
      const pieces = await socket.toArray().catch(reject);
      finish(response, Buffer.concat([head, ...(pieces ?? [])]).toString());
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}
