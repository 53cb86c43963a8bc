/**
 * Posts to an endpoint and follows redirects, as Go's client does. Source: `Client.do` and
 * `redirectBehavior` in Go's net/http/client.go.
 */
import { isRedirectStatus } from "../lib/go-net/redirect.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { streamError } from "./connect.ts";
import { Connections } from "./connections.ts";
import { type CertificateObserver, type WebhookAnswer, type WebhookEndpoint, WebhookError } from "./contract.ts";
import type { Deadline } from "./deadline.ts";
import { exchange, UnfinishedAnswer } from "./exchange.ts";
import { socketOpener } from "./open-socket.ts";

/** A call, without its endpoint. */
export interface Post {
  /** Added to the path of the endpoint. */
  readonly query: string;
  readonly body: Uint8Array;
  readonly userAgent: string;
  readonly authorization: string | undefined;
  /** By name; undefined for a call that is not traced. */
  readonly traceHeaders: Readonly<Record<string, string>> | undefined;
  readonly answerBytesMax: number;
  readonly deadline: Deadline;
}

/** An endpoint, and the hosts to which it redirects. */
export interface Targets {
  /** The authority of the URL, for metrics. */
  readonly host: string;
  /** @throws WebhookError without a response */
  post(post: Post): Promise<WebhookAnswer>;
  /** Follows a response that is a redirect. @throws WebhookError if that fails */
  follow(post: Post, redirect: WebhookAnswer): Promise<WebhookAnswer>;
  /** Adds the URL of the endpoint to the message of a failure. */
  failure(error: Error, query: string): unknown;
  /** Closes the connections; current calls fail. */
  close(): void;
}

/** Of one call, with the first. */
const requestsMax = 10;

/** @throws Error when the endpoint's certificates cannot be read, see `webhookClient` */
export function openTargets(
  endpoint: WebhookEndpoint,
  connectionsMax: number,
  certificates: CertificateObserver,
): Targets {
  const url = new URL(endpoint.url);
  const { origin, authority, path } = partsOf(endpoint.url);
  const open = socketOpener(endpoint, url);
  const own = new Connections({ origin: url.origin, open, connectionsMax, certificates });
  const textOf = (query: string): string => origin + path + query;
  return {
    host: authority,
    post(post) {
      const first = { method: "POST", host: authority, path: url.pathname + post.query } as const;
      return send(own, first, post, () => textOf(post.query));
    },
    follow(post, redirect) {
      const from: Hop = { method: "POST", url: new URL(textOf(post.query)), text: textOf(post.query), isOwn: true };
      return follow({ endpoint, own, authority, post, certificates }, from, redirect);
    },
    failure: (error, query) => callFailure(error, textOf(query)),
    close: () => own.close(),
  };
}

/** Parts of a URL as Go formats it: the path is never empty, and an explicit default port remains. */
function partsOf(text: string): { readonly origin: string; readonly authority: string; readonly path: string } {
  const [, scheme = "", authority = "", path = ""] = /^(https?:\/\/)([^/?#]*)([^?#]*)/.exec(text) ?? [];
  return { origin: scheme + authority, authority, path: path === "" ? "/" : path };
}

interface Request {
  readonly method: "POST" | "GET";
  readonly host: string;
  readonly path: string;
  readonly referer?: string | undefined;
  readonly isOther?: boolean;
}

/** @param text returns the URL, for messages */
function send(
  connections: Connections,
  { method, host, path, referer, isOther = false }: Request,
  { body, userAgent, authorization, traceHeaders, answerBytesMax, deadline }: Post,
  text: () => string,
): Promise<WebhookAnswer> {
  const fail = (error: unknown): unknown => callFailure(error, text());
  if (authorization !== undefined && !isHeaderValue(authorization)) return Promise.reject(fail(invalidAuthorization()));
  const headers = ["accept", "application/json, */*", "user-agent", userAgent, "host", host];
  if (method === "POST") headers.push("content-type", "application/json");
  if (authorization !== undefined && !isOther) headers.push("authorization", authorization);
  if (referer !== undefined) headers.push("referer", referer);
  if (traceHeaders !== undefined) headers.push(...Object.entries(traceHeaders).flat());
  const request = { method, path, headers, body: method === "POST" ? body : undefined, answerBytesMax };
  return exchange(connections, request, deadline, fail);
}

/** A token file can contain any bytes. */
function isHeaderValue(value: string): boolean {
  return !/[^\t\x20-\x7e\x80-\xff]/.test(value);
}

/** Does not contain the value. */
function invalidAuthorization(): WebhookError {
  return new WebhookError("request", 'net/http: invalid header field value for "Authorization"');
}

/** Whether a response is a redirect that has not been followed. */
export function isRedirect({ status }: WebhookAnswer): boolean {
  return isRedirectStatus(status);
}

/** A request of a call. */
interface Hop {
  readonly method: "POST" | "GET";
  readonly url: URL;
  /** The URL in messages. */
  readonly text: string;
  /** Whether all requests so far have gone to the origin of the endpoint, which gets credentials. */
  readonly isOwn: boolean;
}

interface Redirected {
  readonly endpoint: WebhookEndpoint;
  readonly own: Connections;
  readonly authority: string;
  readonly post: Post;
  readonly certificates: CertificateObserver;
}

async function follow(call: Redirected, first: Hop, redirect: WebhookAnswer): Promise<WebhookAnswer> {
  let last = first;
  let answer = redirect;
  for (let requests = 1; isRedirect(answer); requests++) {
    const { location = "" } = answer.headers;
    if (location === "") return answer;
    const next = nextHop(last, answer.status, String(location));
    if (requests >= requestsMax) throw failure(String(location), `stopped after ${requestsMax} redirects`);
    answer = next.isOwn ? await sendTo(call.own, last, next, call) : await sendElsewhere(last, next, call);
    last = next;
  }
  return answer;
}

/** @throws WebhookError of kind `redirect` */
function nextHop(last: Hop, status: number, location: string): Hop {
  const url = URL.parse(location, last.url);
  if (url === null)
    throw failure(
      last.text,
      `failed to parse Location header ${quoteGo(location)}: parse ${quoteGo(location)}: invalid URL`,
    );
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw failure(url.href, `unsupported protocol scheme ${quoteGo(url.protocol.slice(0, -1))}`);
  url.username = "";
  url.password = "";
  const keepsMethod = status === 307 || status === 308;
  return {
    method: keepsMethod ? last.method : "GET",
    url,
    text: url.href,
    isOwn: last.isOwn && url.origin === last.url.origin,
  };
}

function failure(url: string, message: string): WebhookError {
  return new WebhookError("redirect", `Post ${quoteGo(url)}: ${message}`);
}

function sendTo(
  connections: Connections,
  last: Hop,
  next: Hop,
  { authority, post }: Redirected,
): Promise<WebhookAnswer> {
  const { method, url, text, isOwn } = next;
  const isDowngrade = last.url.protocol === "https:" && url.protocol === "http:";
  const request: Request = {
    method,
    host: isOwn ? authority : url.host,
    path: url.pathname + url.search,
    referer: isDowngrade ? undefined : last.text,
    isOther: !isOwn,
  };
  return send(connections, request, post, () => text);
}

/**
 * Sends to another origin on a connection of its own, without the credentials of the endpoint: the
 * webhook must not choose who else receives them, or on what the server uses its certificate. As
 * upstream, the authorities and the server name of the endpoint apply there too.
 */
async function sendElsewhere(last: Hop, next: Hop, call: Redirected): Promise<WebhookAnswer> {
  const { cert: _cert, key: _key, resolve: _resolve, ...anonymous } = call.endpoint;
  const open = socketOpener(anonymous, next.url);
  const { certificates } = call;
  const connections = new Connections({ origin: next.url.origin, open, connectionsMax: 1, certificates });
  try {
    return await sendTo(connections, last, next, call);
  } finally {
    connections.close();
  }
}

/**
 * Converts the failure of a request. Internal errors remain unchanged.
 *
 * @param url of the request, or of its redirect
 */
function callFailure(error: unknown, url: string): unknown {
  if (error instanceof UnfinishedAnswer) return unfinished(error.cause as Error);
  const failure = error instanceof WebhookError ? error : streamError(error as NodeJS.ErrnoException);
  if (failure === undefined) return error;
  return failure.kind === "tooLarge"
    ? failure
    : new WebhookError(failure.kind, `Post ${quoteGo(url)}: ${failure.message}`);
}

function unfinished(cause: Error): WebhookError {
  const failure = cause instanceof WebhookError ? cause : streamError(cause);
  const { kind, message } = failure ?? new WebhookError("closed", "unexpected EOF");
  const text = message === "EOF" ? "unexpected EOF" : message;
  return new WebhookError(kind, `unexpected error when reading response body. Please retry. Original error: ${text}`);
}
