/**
 * Answers of webhooks, kubelets and aggregated servers that few clients expect, with the objects that
 * lead requests to them: recorded from kube-apiserver by tools/golden/server/odd-answers.ts, and
 * replayed by test/e2e/odd-answers.test.ts.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import http2 from "node:http2";
import https from "node:https";
import type { AddressInfo, Socket } from "node:net";
import tls from "node:tls";
import { createAuthority, issueCertificate } from "../../src/server/serving/x509.ts";

/** A request, and how the backend answers it. */
export interface OddRow {
  readonly protocol: "HTTP/1.1" | "HTTP/2";
  readonly backend: "webhook" | "kubelet" | "aggregated";
  /** Names the answer, see {@link answerOf}. */
  readonly answer: string;
}

/** What the client receives. */
export interface OddResult {
  /** 0: the connection or the stream was broken before the response. */
  readonly status: number;
  /** Without those that differ between requests. */
  readonly headers: Readonly<Record<string, string>>;
  /** Without addresses. */
  readonly body: string;
  /** The response was broken off. */
  readonly isBroken?: true;
}

const codes = ["0", "99", "100", "101", "199", "204", "304", "399", "599", "600", "999", "1000", "-1"];
const numbers = ["2147483647", "2147483648", "1.5", '"400"'];
const statuses = ["000", "099", "102", "199", "204", "205", "304", "399", "599", "600", "999", "1000", "-01", ""];
const retries = ["0", "-1", "2147483647"];
const heads: Readonly<Record<string, string>> = {
  "two-types": "Content-Type: text/plain\r\nContent-Type: text/html\r\n",
  "two-etags": 'ETag: "a"\r\nETag: "b"\r\n',
  "http2-settings": "HTTP2-Settings: AAMAAABkAAQAAP__\r\n",
  "obs-text": "X-Odd: caf\xc3\xa9\r\n",
  control: "X-Odd: a\x01b\r\n",
  "bad-name": "X Odd: a\r\n",
  long: `X-Odd: ${"x".repeat(70_000)}\r\n`,
  "empty-value": "X-Odd:\r\n",
  pseudo: ":status: 201\r\n",
  "bad-length": "Content-Length: x\r\n",
  "two-lengths": "Content-Length: 1\r\nContent-Length: 2\r\n",
  upgrade: "Upgrade: h2c\r\nConnection: Upgrade\r\n",
  te: "TE: gzip\r\n",
};

const protocols = ["HTTP/1.1", "HTTP/2"] as const;

/** All rows. */
export const oddRows: readonly OddRow[] = protocols.flatMap((protocol) => [
  ...[...codes, ...numbers, "none"].map((code) => ({ protocol, backend: "webhook" as const, answer: `code:${code}` })),
  ...retries.map((seconds) => ({ protocol, backend: "webhook" as const, answer: `retry:${seconds}` })),
  ...statuses.map((status) => ({ protocol, backend: "webhook" as const, answer: `status:${status}` })),
  ...(["kubelet", "aggregated"] as const).flatMap((backend) => [
    ...statuses.map((status) => ({ protocol, backend, answer: `status:${status}` })),
    ...Object.keys(heads).map((name) => ({ protocol, backend, answer: `head:${name}` })),
    { protocol, backend, answer: "cut:" },
  ]),
]);

/** The bytes of an answer. @param uid of the review, for webhooks */
function answerOf(name: string, uid: string): string {
  const colon = name.indexOf(":");
  const [kind, value] = [name.slice(0, colon), name.slice(colon + 1)];
  const whole = (status: string, body: string, more = "Content-Type: application/json\r\n"): string => {
    const length = /Content-Length/.test(more) ? "" : `Content-Length: ${body.length}\r\n`;
    return `HTTP/1.1 ${status}\r\n${more}${length}Connection: close\r\n\r\n${body}`;
  };
  const denial = (status: string): string =>
    whole(
      "200 OK",
      `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"${uid}","allowed":false,"status":${status}}}`,
    );
  if (kind === "code") return denial(value === "none" ? `{"message":"no"}` : `{"message":"no","code":${value}}`);
  if (kind === "retry") return denial(`{"message":"no","code":429,"details":{"retryAfterSeconds":${value}}}`);
  if (kind === "status")
    return whole(value === "" ? "" : `${value} Odd`, value === "204" || value === "304" ? "" : "odd");
  if (kind === "head") return whole("200 OK", "odd", heads[value]);
  return whole("200 OK", "odd").slice(0, -2);
}

/** A server that answers as the path requests, with PEM of its authority. */
export interface OddBackend {
  readonly port: number;
  readonly ca: string;
  close(): void;
}

const hour = 3_600_000;

/** @param host an address at which the API server connects to it */
export async function startOddBackend(host: string): Promise<OddBackend> {
  const validity = { notBefore: Date.now() - hour, notAfter: Date.now() + 24 * hour };
  const authority = await createAuthority({ subject: { commonName: "odd backends" }, ...validity });
  const subject = { commonName: "odd backend" };
  const names = [host, "localhost"];
  const serving = await issueCertificate(authority, { subject, usage: "server", names, ...validity });
  const sockets = new Set<Socket>();
  const server = tls.createServer({ ...serving, ALPNProtocols: ["http/1.1"] }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
    let text = "";
    socket.on("data", (piece: Buffer) => {
      text += piece.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/^content-length: (\d+)/im.exec(text.slice(0, end))?.[1] ?? "0");
      if (text.length < end + 4 + length) return;
      const [, path = ""] = text.split(" ", 2);
      const uid = /"uid":"([^"]*)"/.exec(text.slice(end))?.[1] ?? "";
      text = "";
      const name = /\/odd-([0-9a-f]+)/.exec(path)?.[1];
      const bytes = name === undefined ? emptyDocument : answerOf(Buffer.from(name, "hex").toString(), uid);
      socket.end(Buffer.from(bytes, "latin1"));
    });
  });
  server.listen(0, "0.0.0.0");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    ca: authority.cert,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const emptyDocument =
  "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";

const nameOf = (answer: string): string => `odd-${Buffer.from(answer).toString("hex")}`;
const group = "odd.example.com";

type Send = (line: string, body: object, contentType: string) => Promise<unknown>;

/** Creates the node, the pods, the webhooks and the APIService of the rows. */
export async function createObjects(send: Send, host: string, { port, ca }: OddBackend): Promise<void> {
  const json = "application/json";
  const create = (path: string, body: object): Promise<unknown> => send(`POST ${path}`, body, json);
  await create("/api/v1/namespaces", { metadata: { name: "odd" } });
  await create("/api/v1/namespaces/odd/serviceaccounts", { metadata: { name: "default" } });
  await create("/api/v1/nodes", { metadata: { name: "odd" } });
  const addresses = [{ type: "InternalIP", address: host }];
  await send(
    "PATCH /api/v1/nodes/odd/status",
    { status: { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } } },
    "application/merge-patch+json",
  );
  const ofBackend = (backend: OddRow["backend"]): string[] => [
    ...new Set(oddRows.filter((row) => row.backend === backend).map(({ answer }) => nameOf(answer))),
  ];
  await create("/api/v1/namespaces/odd/pods", {
    metadata: { name: "odd" },
    spec: {
      nodeName: "odd",
      containers: ofBackend("kubelet").map((name) => ({ name, image: "i" })),
      automountServiceAccountToken: false,
    },
  });
  const caBundle = Buffer.from(ca).toString("base64");
  await create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
    metadata: { name: "odd" },
    webhooks: ofBackend("webhook").map((name) => ({
      name: `${name}.${group}`,
      clientConfig: { url: `https://${host}:${port}/${name}`, caBundle },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
      matchConditions: [{ name: "mine", expression: `object.metadata.name == '${name}'` }],
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      timeoutSeconds: 30,
    })),
  });
  const service = { namespace: "odd", name: "odd", port };
  const external = { type: "ExternalName", externalName: "localhost" };
  await create("/api/v1/namespaces/odd/services", { metadata: { name: "odd" }, spec: external });
  await create("/apis/apiregistration.k8s.io/v1/apiservices", {
    metadata: { name: `v1.${group}` },
    spec: { group, version: "v1", groupPriorityMinimum: 1, versionPriority: 1, insecureSkipTLSVerify: true, service },
  });
}

/** The server of the rows, with the certificate of an administrator. */
export interface OddTarget {
  readonly url: string;
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
}

/** Sends the request of a row. */
export async function sendRow(row: OddRow, target: OddTarget, { port }: OddBackend): Promise<OddResult> {
  const sent = row.protocol === "HTTP/2" ? await sendOverHttp2(row, target) : await sendOverHttp1(row, target);
  const headers = Object.entries(sent.headers).filter(([name]) => kept.has(name));
  return {
    status: sent.status,
    headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value).slice(0, textMax)])),
    body: sent.body.replaceAll(new RegExp(`([\\d.]+|localhost):${port}`, "g"), "BACKEND").slice(0, textMax),
    ...(sent.isBroken && { isBroken: true }),
  };
}

const kept: ReadonlySet<string> = new Set(["content-type", "retry-after", "etag", "http2-settings", "x-odd", "te"]);
const textMax = 500;

interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly isBroken: boolean;
}

function requestOf({ backend, answer }: OddRow): { method: string; path: string; body?: string } {
  const name = nameOf(answer);
  if (backend === "aggregated") return { method: "GET", path: `/apis/${group}/v1/namespaces/odd/things/${name}` };
  if (backend === "kubelet")
    return {
      method: "GET",
      path: `/api/v1/namespaces/odd/pods/odd/log?container=${name}&insecureSkipTLSVerifyBackend=true`,
    };
  return { method: "POST", path: "/api/v1/namespaces/odd/configmaps", body: JSON.stringify({ metadata: { name } }) };
}

async function sendOverHttp2(row: OddRow, { url, ...credentials }: OddTarget): Promise<Received> {
  const { method, path, body } = requestOf(row);
  const session = http2.connect(url, { ...credentials, maxHeaderListPairs: 1000 });
  session.on("error", () => {}); // The stream reports it.
  const stream = session.request(
    { ":method": method, ":path": path, "content-type": "application/json" },
    { endStream: body === undefined },
  );
  const pieces: Buffer[] = [];
  let status = 0;
  let headers: Record<string, unknown> = {};
  let isBroken = false;
  stream.on("response", (answered) => {
    status = answered[":status"] as number;
    headers = answered;
  });
  stream.on("data", (piece: Buffer) => pieces.push(piece));
  stream.on("error", () => {
    isBroken = true;
  });
  if (body !== undefined) stream.end(body);
  await new Promise<void>((resolve) => stream.once("close", resolve));
  session.destroy();
  return { status, headers, body: Buffer.concat(pieces).toString(), isBroken: isBroken || stream.rstCode !== 0 };
}

function sendOverHttp1(row: OddRow, { url, ...credentials }: OddTarget): Promise<Received> {
  const { method, path, body } = requestOf(row);
  return new Promise((resolve) => {
    let answered: IncomingMessage | undefined;
    const pieces: Buffer[] = [];
    const finish = (isBroken: boolean): void => {
      const { statusCode: status = 0, headers = {} } = answered ?? {};
      resolve({ status, headers, body: Buffer.concat(pieces).toString(), isBroken });
    };
    const options = { method, agent: false, headers: { "content-type": "application/json" }, maxHeaderSize: 1 << 20 };
    const request = https.request(
      new URL(path, url),
      { ...credentials, ...options, insecureHTTPParser: true },
      (message) => {
        answered = message;
        message.on("data", (piece: Buffer) => pieces.push(piece));
        message.on("error", () => {});
        message.once("close", () => finish(!message.complete));
      },
    );
    request.once("error", () => answered ?? finish(true));
    request.end(body);
  });
}
