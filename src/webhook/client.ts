/**
 * Calls webhooks over HTTP/1.1 with persistent connections.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/webhook/webhook.go.
 */
import type { Agent, IncomingMessage, RequestOptions } from "node:http";
import https from "node:https";
import type net from "node:net";
import { createSecureContext } from "node:tls";
import type { Clock } from "../apimachinery/clock.ts";
import { systemClock } from "../apimachinery/clock.ts";
import { readBoundedFile } from "../lib/bounded-file/bounded-file.ts";
import { formatDuration } from "../lib/duration/duration.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { retryAfterSeconds } from "./answer.ts";
import { connect, streamError } from "./connect.ts";
import {
  type Address,
  type CallObserver,
  type PostOptions,
  type WebhookAnswer,
  type WebhookClient,
  type WebhookEndpoint,
  WebhookError,
} from "./contract.ts";

/** The options of {@link webhookClient}. */
export interface ClientOptions {
  /** The maximum size of a response body. Upstream has no limit. */
  readonly answerBytesMax?: number;
  /** The maximum number of connections; further calls wait until their timeout. */
  readonly connectionsMax?: number;
  readonly userAgent?: string;
  readonly clock?: Clock;
  /** Notified of each request and response. */
  readonly calls?: CallObserver | undefined;
}

/**
 * Not imported, because an import evaluates all exports, and WebSocket loads undici: 15 ms at
 * startup.
 */
const http = process.getBuiltinModule("node:http");
const noObserver: CallObserver = { sent() {}, ended() {} };
const defaults = {
  answerBytesMax: 64 << 20,
  connectionsMax: 64,
  userAgent: "kube-apiserver-admission",
  clock: systemClock,
};
/** Idle connections are closed after this time. */
const idleMs = 90_000;
const retriesMax = 10;

/**
 * Creates a client of one endpoint.
 *
 * @throws Error when the endpoint's certificates cannot be read: `unable to load root certificates:
 *   unable to parse bytes as PEM block`, `tls: failed to find any PEM data in certificate input`
 */
export function webhookClient(endpoint: WebhookEndpoint, options: ClientOptions = {}): WebhookClient {
  const settings = { ...defaults, ...options };
  const url = new URL(endpoint.url);
  const target = targetOf(endpoint.url);
  const requested = requestOptions(url);
  const agent = agentFor(endpoint, url, settings.connectionsMax);
  const token = tokenReader(endpoint, settings.clock);
  const { calls = noObserver } = settings;
  const { authority: host } = target;
  return {
    async post(body, postOptions) {
      const startedAt = performance.now();
      let answerBytes: number | undefined;
      const deadline = withDeadline(postOptions);
      const query = timeoutQuery(postOptions.timeoutMs);
      const authorization = await authorizationOf(endpoint, token);
      const bytes = Buffer.byteLength(body);
      const headers = {
        accept: "application/json, */*",
        "content-type": "application/json",
        "user-agent": settings.userAgent,
        ...endpoint.headers,
        ...(authorization !== undefined && { authorization }),
        ...postOptions.headers,
        host,
        "content-length": String(bytes),
      };
      const call: Call = {
        url: `${target.origin}${target.path}${query}`,
        options: { ...requested, path: `${requested.path}${query}`, agent },
        headers,
        body,
        answerBytesMax: settings.answerBytesMax,
        signal: deadline.signal,
      };
      try {
        checkHeaders(headers);
        const notify = (attempt: number, status: number | undefined): void =>
          calls.sent(host, { bytes, attempt, status });
        const answer = await sendWithRetries(call, settings.clock, notify);
        answerBytes = answer.body.length;
        return answer;
      } catch (error) {
        throw toWebhookError(error, call);
      } finally {
        deadline.clear();
        calls.ended(host, { seconds: (performance.now() - startedAt) / 1000, answerBytes });
      }
    },
    close: () => agent.destroy(),
  };
}

/**
 * A token file can contain any bytes.
 *
 * @throws WebhookError of kind `request`, without the value of the header
 */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw new WebhookError("request", `net/http: invalid header field value for ${quoteGo(goName(name))}`);
  }
}

/** Formats a header name as Go does: `Content-Type`. */
function goName(header: string): string {
  return header.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

function timeoutQuery(timeoutMs: number): string {
  return `?timeout=${formatDuration(BigInt(Math.round(timeoutMs)) * 1_000_000n)}`;
}

/** The options of requests, because Node would parse the URL for each. */
function requestOptions(url: URL): { readonly host: string; readonly port: string; readonly path: string } {
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port: url.port, path: url.pathname };
}

/** A URL as Go formats it: the path is never empty, and an explicit default port remains. */
interface Target {
  /** `https://example.com:443` */
  readonly origin: string;
  readonly authority: string;
  readonly path: string;
}

function targetOf(text: string): Target {
  const [, scheme = "", authority = "", path = ""] = /^(https?:\/\/)([^/?#]*)([^?#]*)/.exec(text) ?? [];
  return { origin: scheme + authority, authority, path: path === "" ? "/" : path };
}

interface Deadline {
  readonly signal: AbortSignal;
  clear(): void;
}

/** Its signal aborts with a WebhookError of kind `timeout` or `canceled`. */
function withDeadline({ timeoutMs, signal }: PostOptions): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new WebhookError("timeout", "context deadline exceeded")), timeoutMs);
  const cancel = (): void => controller.abort(new WebhookError("canceled", "context canceled"));
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    },
  };
}

interface Call {
  /** For error messages. */
  readonly url: string;
  readonly options: RequestOptions;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly answerBytesMax: number;
  readonly signal: AbortSignal;
}

/**
 * Repeats a call while responses have a Retry-After header.
 * Source: k8s.io/client-go@v0.36.0/rest/with_retry.go.
 */
async function sendWithRetries(
  call: Call,
  clock: Clock,
  notify: (attempt: number, status: number | undefined) => void,
): Promise<WebhookAnswer> {
  for (let retries = 0; ; retries++) {
    const answer = await sendOnce(call).catch((error: unknown) => {
      notify(retries + 1, undefined);
      throw error;
    });
    notify(retries + 1, answer.status);
    const seconds = answer.status === 429 || answer.status >= 500 ? retryAfterSeconds(answer) : undefined;
    if (seconds === undefined || retries === retriesMax) return answer;
    await pause(seconds * 1000, call.signal, clock);
  }
}

function pause(ms: number, signal: AbortSignal, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener("abort", abort);
      resolve();
    });
    signal.addEventListener("abort", abort, { once: true });
  });
}

/**
 * Sends a request. When the server has closed a reused connection, tries again until a new
 * connection is used.
 */
async function sendOnce(call: Call): Promise<WebhookAnswer> {
  for (;;) {
    try {
      return await exchange(call);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error; // Ends, because each attempt removes a reused connection.
      call.signal.throwIfAborted();
    }
  }
}

class StaleConnection extends Error {}

function exchange({ url, options, headers, body, answerBytesMax, signal }: Call): Promise<WebhookAnswer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const send = url.startsWith("http:") ? http.request : https.request;
    const request = send({ ...options, method: "POST", headers });
    let answered = false;
    const abort = (): void => {
      request.destroy(signal.reason);
      reject(answered ? new UnfinishedAnswer("the call was aborted", { cause: signal.reason }) : signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    request.on("error", (error) => {
      const stale = request.reusedSocket && !answered && (error as NodeJS.ErrnoException).code !== undefined;
      reject(stale ? new StaleConnection("the reused connection is closed", { cause: error }) : error);
    });
    request.on("close", () => signal.removeEventListener("abort", abort));
    request.on("response", (response) => {
      answered = true;
      readBody(response, answerBytesMax).then((read) => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: read });
      }, reject);
    });
    request.end(body);
  });
}

function readBody(response: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    const endEarly = (cause?: Error): void =>
      reject(new UnfinishedAnswer("the response ended early", { cause: cause ?? closedEarly }));
    response.on("data", (piece: Buffer) => {
      bytes += piece.length;
      pieces.push(piece);
      if (bytes <= bytesMax) return;
      reject(new WebhookError("tooLarge", `the response of the webhook is larger than ${bytesMax} bytes`));
      response.destroy();
    });
    response.on("end", () => (response.complete ? resolve(Buffer.concat(pieces)) : endEarly()));
    response.on("error", endEarly);
    response.on("close", () => endEarly()); // Without effect after the end.
  });
}

const closedEarly = Object.assign(new Error("aborted"), { code: "ECONNRESET" });

class UnfinishedAnswer extends Error {}

/** Converts failures to WebhookErrors with Go's messages. Internal errors remain unchanged. */
function toWebhookError(error: unknown, { url, signal }: Call): unknown {
  if (error instanceof UnfinishedAnswer) {
    const cause = signal.aborted ? signal.reason : error.cause;
    const { kind, message } =
      cause instanceof WebhookError
        ? cause
        : (streamError(cause as NodeJS.ErrnoException) ?? new WebhookError("closed", "unexpected EOF"));
    const text = message === "EOF" ? "unexpected EOF" : message;
    return new WebhookError(kind, `unexpected error when reading response body. Please retry. Original error: ${text}`);
  }
  const reason = signal.aborted ? signal.reason : error;
  const failure = reason instanceof WebhookError ? reason : streamError(reason as NodeJS.ErrnoException);
  if (failure === undefined) return error;
  return failure.kind === "tooLarge"
    ? failure
    : new WebhookError(failure.kind, `Post ${quoteGo(url)}: ${failure.message}`);
}

/** Creates an agent that opens connections with `connect`. */
function agentFor(endpoint: WebhookEndpoint, url: URL, connectionsMax: number): Agent {
  const settings = { keepAlive: true, maxSockets: connectionsMax, maxFreeSockets: connectionsMax, timeout: idleMs };
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port || (url.protocol === "http:" ? 80 : 443));
  const overTls =
    url.protocol === "http:"
      ? undefined
      : {
          context: secureContext(endpoint),
          ca: endpoint.ca,
          serverName: endpoint.serverName ?? host,
          insecureSkipTlsVerify: endpoint.insecureSkipTlsVerify ?? false,
        };
  const open = async (): Promise<net.Socket> => {
    const address = endpoint.resolve === undefined ? { host, port } : await resolveAddress(endpoint.resolve);
    return connect({ ...address, ...(overTls !== undefined && { tls: overTls }) });
  };
  const agent = url.protocol === "http:" ? new http.Agent(settings) : new https.Agent(settings);
  agent.createConnection = (_options, done): undefined => {
    open().then(
      (socket) => done?.(null, socket),
      (error: unknown) => done?.(error as Error, undefined as unknown as net.Socket),
    );
  };
  return agent;
}

async function resolveAddress(resolve: () => Promise<Address> | Address): Promise<Address> {
  try {
    return await resolve();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new WebhookError("resolve", error.message);
  }
}

function secureContext({ ca, cert, key }: WebhookEndpoint): ReturnType<typeof createSecureContext> {
  if (ca !== undefined && !ca.includes("-----BEGIN "))
    throw new Error("unable to load root certificates: unable to parse bytes as PEM block");
  return createSecureContext({
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert, key }),
    allowPartialTrustChain: true,
  });
}

async function authorizationOf(
  { basic }: WebhookEndpoint,
  token: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const bearer = await token();
  if (bearer !== undefined) return `Bearer ${bearer}`;
  return basic === undefined
    ? undefined
    : `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString("base64")}`;
}

const tokenFileMs = 60_000;

/** As client-go's cache, keeps the last token when the file becomes unreadable. */
function tokenReader({ token, tokenFile }: WebhookEndpoint, clock: Clock): () => Promise<string | undefined> {
  let current = token;
  let readAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (tokenFile === undefined || clock.now() - readAt < tokenFileMs) return current;
    readAt = clock.now();
    current = await readToken(tokenFile, current);
    return current;
  };
}

async function readToken(file: string, last: string | undefined): Promise<string> {
  try {
    const text = (await readBoundedFile(file)).toString().trim();
    if (text === "" && last === undefined)
      throw new WebhookError("connect", `read empty token from file ${quoteGo(file)}`);
    return text === "" ? (last as string) : text;
  } catch (error) {
    if (last !== undefined && error instanceof Error && "code" in error) return last;
    throw error;
  }
}
