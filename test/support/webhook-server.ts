/** A webhook over TLS on loopback, for tests of components that call webhooks. */
import { X509Certificate } from "node:crypto";
import https from "node:https";
import type { AddressInfo } from "node:net";
import type tls from "node:tls";
import { createAuthority, issueCertificate, type KeyPair } from "../../src/server/serving/x509.ts";

export interface WebhookRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
  readonly body: any;
}

/** An object is sent as JSON with status 200; a function writes the response itself. */
export type WebhookReply = object | string | ((response: import("node:http").ServerResponse) => void);

export interface WebhookServer {
  /** `https://127.0.0.1:port` */
  readonly url: string;
  readonly port: number;
  /** PEM of the certificate authority. */
  readonly ca: string;
  readonly authority: KeyPair;
  /** The certificate of the server, as DER. */
  readonly certificate: Buffer;
  readonly requests: WebhookRequest[];
  /** Number of accepted connections. */
  readonly connections: () => number;
  /** Called with each further connection. */
  onConnection(opened: (socket: tls.TLSSocket) => void): void;
  /** Closes all open connections. */
  drop(): void;
  close(): Promise<void>;
}

export interface WebhookServerOptions {
  /** The names in the certificate. */
  readonly names?: readonly string[];
  readonly notBefore?: number;
  readonly notAfter?: number;
  /** Without a port, any free one. */
  readonly port?: number;
  readonly tls?: tls.TlsOptions;
}

const hour = 3_600_000;

export async function startWebhookServer(
  reply: (request: WebhookRequest) => WebhookReply | Promise<WebhookReply>,
  {
    names = ["127.0.0.1", "localhost"],
    notBefore = Date.now() - hour,
    notAfter = Date.now() + hour,
    port: desiredPort = 0,
    tls: more,
  }: WebhookServerOptions = {},
): Promise<WebhookServer> {
  const authority = await createAuthority({
    subject: { commonName: "webhooks" },
    notBefore: notBefore - hour,
    notAfter: Date.now() + hour,
  });
  const pair = await issueCertificate(authority, {
    subject: { commonName: "webhook" },
    usage: "server",
    names,
    notBefore,
    notAfter,
  });
  const requests: WebhookRequest[] = [];
  let connections = 0;
  const server = https.createServer({ ...pair, ...more }, (request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", async () => {
      const text = Buffer.concat(pieces).toString();
      const received = {
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        text,
        body: text.startsWith("{") ? JSON.parse(text) : undefined,
      };
      requests.push(received);
      const answer = await reply(received);
      if (typeof answer === "function") return answer(response);
      response.setHeader("content-type", "application/json");
      response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
    });
  });
  server.on("secureConnection", () => connections++);
  await new Promise<void>((resolve) => server.listen(desiredPort, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    ca: authority.cert,
    authority,
    certificate: new X509Certificate(pair.cert).raw,
    requests,
    connections: () => connections,
    onConnection: (opened) => void server.on("secureConnection", opened),
    drop: () => server.closeAllConnections(),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
