/** A proxy between one command and a cluster, which records their session. */
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream";
import { isHopByHop, listedInConnection } from "../../forwarding/proxy/hop-by-hop.ts";
import { backendHeaders } from "../../forwarding/proxy/response-headers.ts";
import { applyPatchCborType, cborSequenceType, cborType } from "../../lib/cbor/media-types.ts";
import { isProtobuf } from "../../lib/protobuf/media-types.ts";
import { yamlType } from "../../lib/yaml/media-type.ts";
import { capture, captureLines } from "./capture.ts";
import { type RecordedBody, type RequestLine, recordedHeaders } from "./format.ts";
import { type Body, recordedBody } from "./read-body.ts";
import type { RedactOptions } from "./redact.ts";
import { requestLine } from "./request-line.ts";
import type { Secrets } from "./secrets.ts";
import type { RecordedExchange, Session } from "./session.ts";
import { readTarget, type Target } from "./target.ts";
import { openTlsEndpoint } from "./tls-endpoint.ts";

/** Sends requests to the cluster with the credentials of a user. */
export interface Forwarder {
  /** @throws Error when there are no credentials */
  start(request: { method: string; path: string; headers: OutgoingHttpHeaders }): Promise<ClientRequest>;
}

export interface RecordingProxyOptions {
  readonly forwarder: Forwarder;
  readonly session: Session;
  readonly keepsLastApplied: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Of one body or event that is recorded; longer ones are forwarded and omitted. */
  readonly bodyBytesMax?: number;
}

/** A running proxy. */
export interface RecordingProxy {
  readonly kubeconfig: string;
  /** Why the session could not be recorded. */
  failure(): Error | undefined;
  close(): Promise<void>;
}

const bodyBytesMaxDefault = 32 << 20;

/** Starts the proxy on a free port of 127.0.0.1. */
export async function openRecordingProxy(options: RecordingProxyOptions): Promise<RecordingProxy> {
  const { server, kubeconfig, close } = await openTlsEndpoint(options.now);
  let failure: Error | undefined;
  /** A session that is not recorded as a whole is of no use, so that the client gets an error. */
  const attempt: Attempt = (work, connection) => {
    try {
      work();
    } catch (error) {
      failure ??= error as Error;
      connection.destroy();
    }
  };
  server.on("request", (request, response) => {
    attempt(() => new Forwarding(request, options, attempt).answer(response), request.socket);
  });
  server.on("upgrade", (request, socket, head) => {
    attempt(() => new Forwarding(request, options, attempt).upgrade(socket, head), socket);
  });
  return { kubeconfig, failure: () => failure, close };
}

/** Does work that records; closes the connection when it fails. */
type Attempt = (work: () => void, connection: { destroy(): unknown }) => void;

/** One request on its path to the cluster. */
class Forwarding {
  readonly #request: IncomingMessage;
  readonly #options: RecordingProxyOptions;
  readonly #attempt: Attempt;
  readonly #target: Target;
  readonly #redaction: RedactOptions;
  readonly #line: RequestLine["request"];
  readonly #exchange: RecordedExchange;

  constructor(request: IncomingMessage, options: RecordingProxyOptions, attempt: Attempt) {
    const { session, keepsLastApplied } = options;
    this.#request = request;
    this.#options = options;
    this.#attempt = attempt;
    this.#target = readTarget(request.url as string, session.secrets);
    this.#redaction = { secrets: session.secrets, confidential: this.#target.confidential, keepsLastApplied };
    this.#line = requestLine(request, this.#target);
    const { authorization, cookie } = request.headers;
    addCredential(session.secrets, authorization?.replace(/^\S+ /, ""));
    addCredential(session.secrets, cookie);
    this.#exchange = session.begin(this.#line);
  }

  answer(response: ServerResponse): void {
    this.#start().then(
      (forwarded) => {
        forwarded.once("response", (message) => this.#attempt(() => this.#receive(message, response), response));
        forwarded.once("error", (error) => this.#fail(response, error));
        response.once("close", () => forwarded.destroy());
        this.#recordRequestBody();
        this.#request.pipe(forwarded);
      },
      (error: Error) => this.#fail(response, error),
    );
  }

  upgrade(client: Duplex, head: Buffer): void {
    client.on("error", () => client.destroy());
    this.#start().then(
      (forwarded) => {
        client.once("close", () => forwarded.destroy());
        forwarded.once("error", () => client.destroy());
        forwarded.once("response", (message) => {
          this.#attempt(() => this.#recordHead(message), client);
          client.write(headOf(message));
          message.pipe(client);
        });
        forwarded.once("upgrade", (message, backend, rest) => {
          this.#attempt(() => this.#recordHead(message), client);
          client.write(headOf(message));
          client.write(rest);
          backend.write(head);
          this.#join(client, backend);
        });
        forwarded.end();
      },
      () => client.destroy(),
    );
  }

  #recordRequestBody(): void {
    const request = this.#request;
    void capture(request, this.#bodyBytesMax()).then((bytes) => {
      this.#attempt(() => {
        const body = this.#body(bytes, request);
        if (body !== undefined) this.#exchange.body(body);
      }, request.socket);
    });
  }

  async #start(): Promise<ClientRequest> {
    const { method = "GET", url = "/", headers } = this.#request;
    const { forwarder, session } = this.#options;
    const forwarded = await forwarder.start({ method, path: url, headers: forwardedHeaders(headers) });
    addCredential(session.secrets, forwarded.getHeader("authorization")?.toString().replace(/^\S+ /, ""));
    return forwarded;
  }

  #receive(message: IncomingMessage, response: ServerResponse): void {
    response.writeHead(message.statusCode as number, Object.fromEntries(backendHeaders(message.rawHeaders)));
    response.flushHeaders();
    if (this.#target.isWatch && message.statusCode === 200) this.#recordEvents(message, response);
    else this.#recordAnswer(message, response);
    pipeline(message, response, () => undefined); // A side that breaks ends the other one.
  }

  #recordAnswer(message: IncomingMessage, response: ServerResponse): void {
    void capture(message, this.#bodyBytesMax()).then((bytes) => {
      this.#attempt(() => {
        const body = this.#body(bytes, message);
        const status = message.statusCode as number;
        this.#exchange.answer({ status, headers: keptHeaders(message), ...(body !== undefined && { body }) });
      }, response);
    });
  }

  #recordEvents(message: IncomingMessage, response: ServerResponse): void {
    this.#exchange.answer({ status: 200, headers: keptHeaders(message), isWatch: true });
    captureLines(message, this.#bodyBytesMax(), (line) => {
      this.#attempt(() => this.#exchange.event(this.#body(line, message) as RecordedBody), response);
    });
    message.once("end", () => this.#attempt(() => this.#exchange.end(), response));
  }

  #recordHead(message: IncomingMessage): void {
    const { upgrade } = message.headers;
    const status = message.statusCode as number;
    this.#exchange.answer({ status, headers: keptHeaders(message), ...(status === 101 && { upgrade: upgrade ?? "" }) });
  }

  #join(client: Duplex, backend: Duplex): void {
    backend.once("close", () => this.#attempt(() => this.#exchange.end(), client));
    pipeline(client, backend, () => undefined);
    pipeline(backend, client, () => undefined);
  }

  #body(bytes: Buffer | undefined, { headers }: IncomingMessage): RecordedBody | undefined {
    if (bytes === undefined) return { omitted: `it did not end, or has more than ${this.#bodyBytesMax()} bytes` };
    const contentEncoding = headers["content-encoding"] ?? "";
    const body: Body = { bytes, contentType: headers["content-type"] ?? "", contentEncoding };
    return recordedBody(body, this.#target, this.#redaction);
  }

  #fail(response: ServerResponse, { message }: Error): void {
    if (response.headersSent) return void response.destroy();
    response.writeHead(502, { "content-type": "text/plain" }).end(`The recording proxy has no answer: ${message}\n`);
  }

  #bodyBytesMax(): number {
    return this.#options.bodyBytesMax ?? bodyBytesMaxDefault;
  }
}

/** @param credential a token, or a user and password in base64 */
function addCredential(secrets: Secrets, credential: string | undefined): void {
  if (credential === undefined || credential === "") return;
  secrets.add(Buffer.from(credential));
  secrets.add(Buffer.from(credential, "base64"));
}

/** Without credentials of the client, which the cluster does not know, and without compression. */
function forwardedHeaders({ accept, ...headers }: IncomingMessage["headers"]): OutgoingHttpHeaders {
  const kept: OutgoingHttpHeaders = {};
  const isUpgrade = headers.upgrade !== undefined;
  const listed = listedInConnection(headers.connection ?? "");
  for (const [name, value] of Object.entries(headers)) {
    if (isHopByHop(name) || listed.has(name) || dropped.has(name)) continue;
    kept[name] = value;
  }
  if (isUpgrade) Object.assign(kept, { connection: "Upgrade", upgrade: headers.upgrade });
  if (headers["transfer-encoding"] !== undefined) kept["transfer-encoding"] = "chunked";
  return { ...kept, "accept-encoding": "identity", ...(accept !== undefined && { accept: acceptJson(accept) }) };
}

const dropped: ReadonlySet<string> = new Set(["accept-encoding", "authorization", "cookie", "host"]);

function keptHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    recordedHeaders.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]];
    }),
  );
}

/** The status line and headers of an answer that is not sent by Node's server. */
function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
}

const others: ReadonlySet<string> = new Set([applyPatchCborType, cborSequenceType, cborType, yamlType]);

/**
 * Replaces protobuf, CBOR and YAML by JSON, which clients accept from every server. The parameters
 * that select a Table or metadata remain.
 */
function acceptJson(header: string): string {
  const clauses = header.split(",").map((clause) => {
    const [type = "", ...parameters] = clause.split(";");
    const name = type.trim().toLowerCase();
    return isProtobuf(name) || others.has(name) ? ["application/json", ...parameters].join(";") : clause.trim();
  });
  return [...new Set(clauses)].join(",");
}
