/**
 * Fetches documents of issuers over TLS, with limits and the error messages of Go's http.Client.
 */

import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import https from "node:https";
import type { Duplex } from "node:stream";
import tls from "node:tls";
import { BytePieces } from "../../lib/byte-pieces/byte-pieces.ts";
import { quoteGo } from "../../lib/json/quote.ts";

/** Opens a connection to a host, before TLS. */
export type Dial = (host: string, port: number) => Promise<Duplex>;

interface DocumentClientOptions {
  /** A PEM bundle. Empty for the authorities of the system. */
  readonly certificateAuthority: string;
  /** Undefined for direct connections. */
  readonly dial?: Dial | undefined;
  readonly timeoutMs?: number;
}

/** A complete response. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Fetches documents. */
export interface DocumentClient {
  /**
   * Follows redirects.
   *
   * @param url an https URL
   * @param headers sent to the origin of `url` only
   * @throws DocumentError when the request fails or the response exceeds a limit
   */
  get(url: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  close(): void;
}

/** The request to the issuer failed, or its response is invalid. */
export class DocumentError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DocumentError";
  }
}

const timeoutMsDefault = 30_000;
const bodyBytesMax = 4 * 2 ** 20;
const redirectsMax = 10;
const socketsMax = 8;

/** @returns a client with its own connections */
export function documentClient({
  certificateAuthority,
  dial,
  timeoutMs = timeoutMsDefault,
}: DocumentClientOptions): DocumentClient {
  const agent = new https.Agent({
    keepAlive: true,
    maxSockets: socketsMax,
    ca: certificateAuthority === "" ? systemAuthorities() : certificateAuthority,
  });
  const closing = new AbortController();
  const newDeadline = (): AbortSignal => AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]);
  if (dial !== undefined) dialThrough(agent, dial, newDeadline);
  return {
    async get(url, headers = {}) {
      const signal = newDeadline();
      const first = parseUrl(url);
      let at = first;
      for (let redirects = 0; redirects <= redirectsMax; redirects++) {
        const sent = at.origin === first.origin ? headers : {}; // Other origins must not receive the token.
        const answer = await sendRequest(at, sent, agent, signal);
        const location = answer.headers.location;
        if (answer.status < 300 || answer.status > 308 || location === undefined) return answer;
        at = parseUrl(location, at);
      }
      throw new DocumentError(`Get ${quoteGo(url)}: stopped after ${redirectsMax} redirects`);
    },
    close() {
      closing.abort();
      agent.destroy();
    },
  };
}

/** @throws DocumentError for invalid URLs and for schemes other than https */
function parseUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base);
  if (url === null) throw new DocumentError(`parse ${quoteGo(text)}: invalid URL`);
  if (url.protocol !== "https:")
    throw new DocumentError(`Get ${quoteGo(text)}: unsupported protocol scheme ${quoteGo(url.protocol.slice(0, -1))}`);
  return url;
}

/** Falls back to Node's bundled authorities, because some container images have none. */
function systemAuthorities(): string[] {
  const system = tls.getCACertificates("system");
  return system.length > 0 ? system : tls.getCACertificates("default");
}

type Connected = (error: Error | null, socket: Duplex) => void;

/** @param newDeadline ends a handshake, also when its request has ended before */
function dialThrough(agent: https.Agent, dial: Dial, newDeadline: () => AbortSignal): void {
  Object.assign(agent, {
    createConnection(
      { host = "", port = 443, servername, ca }: https.RequestOptions & { servername?: string },
      connected: Connected,
    ): void {
      const fail = (error: Error): void => connected(error, undefined as never);
      const deadline = newDeadline();
      dial(host ?? "", Number(port)).then((socket) => {
        const secure = tls.connect({
          socket,
          ALPNProtocols: ["http/1.1"],
          ...(servername !== undefined && { servername }),
          ...(ca !== undefined && { ca }),
          host: host ?? "",
        });
        const end = (): void => void secure.destroy(deadline.reason);
        if (deadline.aborted) end();
        deadline.addEventListener("abort", end, { once: true });
        socket.on("error", (error) => secure.destroy(error));
        secure.once("error", fail);
        secure.once("close", () => deadline.removeEventListener("abort", end));
        secure.once("secureConnect", () => {
          deadline.removeEventListener("abort", end);
          secure.off("error", fail);
          connected(null, secure);
        });
      }, fail);
    },
  });
}

function sendRequest(
  url: URL,
  headers: Readonly<Record<string, string>>,
  agent: https.Agent,
  signal: AbortSignal,
): Promise<Answer> {
  const fail = (problem: string, cause?: unknown): DocumentError =>
    new DocumentError(`Get ${quoteGo(url.href)}: ${problem}`, { cause });
  return new Promise((resolve, reject) => {
    const failed = (error: unknown): void =>
      reject(error instanceof DocumentError ? error : fail(reasonOf(error, signal), error));
    const request = https.get(url, { agent, headers, signal }, (response) => {
      readBody(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        failed,
      );
    });
    request.on("error", failed);
  });
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted)
    return (signal.reason as Error).name === "TimeoutError"
      ? "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
      : "context canceled";
  return error instanceof Error ? error.message : String(error);
}

async function readBody(response: IncomingMessage): Promise<Buffer> {
  const pieces = new BytePieces();
  for await (const piece of response as AsyncIterable<Buffer>) {
    pieces.add(piece);
    if (pieces.length > bodyBytesMax)
      throw new DocumentError(`unable to read response body: more than ${bodyBytesMax} bytes`);
  }
  return pieces.join();
}
