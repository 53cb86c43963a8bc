/**
 * Forwards a request to another server, and its response to the client. Source:
 * k8s.io/apimachinery@v0.36.0/pkg/util/proxy/upgradeaware.go and transport.go; Go's
 * httputil.ReverseProxy.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import { badRequest, internalError, plainError, serviceUnavailable } from "../../apimachinery/errors.ts";
import { within } from "../../apimachinery/within.ts";
import { GoUrlError } from "../../lib/go-net/go-url.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { answerHeaders } from "../../request/answer.ts";
import { isBodiless } from "../../request/carriable.ts";
import type { RequestState } from "../../request/context.ts";
import type { ProxyOptions } from "./contract.ts";
import { detectContentType } from "./detect-content-type.ts";
import { endOf } from "./end-of.ts";
import { failureText } from "./failure-text.ts";
import { forwardBody } from "./forward-body.ts";
import { proxyUpgrade } from "./proxy-upgrade.ts";
import { hostOf, requestHeaders } from "./request-headers.ts";
import {
  type BackendHeaders,
  backendHeaders,
  checkForwardable,
  joinHeaders,
  removeCrossOrigin,
} from "./response-headers.ts";
import { linkRewriter } from "./rewrite-html.ts";
import { escapePath, joinPaths, type ProxiedPage, rewriteUrl } from "./rewrite-url.ts";
import { type BackendResponse, sendRequest } from "./send-request.ts";

/**
 * Forwards a request and resolves after the response. When the client disconnects, the connection
 * to the backend is closed; when the backend fails after the start of its response, that to the
 * client.
 *
 * @throws ApiError 503 (500 without `isWrapped`) when the backend does not answer, 400 without a
 *   required upgrade, 500 for an invalid response
 */
export async function proxyRequest(context: RequestState, options: ProxyOptions): Promise<void> {
  const { exchange, info } = context;
  const signal = endOf(context, options.signal);
  if (exchange.upgrade !== undefined) return proxyUpgrade(context, exchange.upgrade, options, signal);
  if (options.requiresUpgrade) throw badRequest("Upgrade request required");
  const { target, isWrapped } = options;
  const query = target.query === undefined ? queryOf(exchange.target) : target.query && `?${target.query}`;
  const path = info.path.endsWith("/") && !target.path.endsWith("/") ? `${target.path}/` : target.path;
  if (path === "" && (exchange.method === "GET" || exchange.method === "HEAD"))
    return exchange.respond(301, { ...answerHeaders(context), location: `${info.path}/${query}` });
  const page = pageOf(context, options, path);
  exchange.entered?.("open backend");
  const response = await send(context, { ...options, target: { ...target, path } }, query, page, signal);
  const { message } = response;
  if (response.upgraded !== undefined) {
    response.upgraded.socket.destroy();
    throw plainError(
      `backend tried to switch protocol ${quoteGo(message.headers.upgrade ?? "")} when "" was requested`,
    );
  }
  const headers = backendHeaders(message.rawHeaders);
  const rewrites = isWrapped ? rewrite(headers, page) : undefined;
  if (isWrapped) removeCrossOrigin(headers);
  const status = message.statusCode as number;
  if (options.rejectsRedirects && status >= 300 && status <= 399 && (headers.get("location")?.[0] ?? "") !== "") {
    message.destroy();
    return exchange.respond(502, answerHeaders(context, "text/plain; charset=utf-8"), Buffer.from(redirectRejected));
  }
  const { protocol } = exchange;
  checkForwardable(message, headers, { protocol, host: target.host });
  const hasBody = exchange.method !== "HEAD" && !isBodiless(status, protocol);
  exchange.entered?.("read backend");
  const body = hasBody ? await bodyOf(message, headers, { rewrites, clock: options.clock }) : message;
  const stream = exchange.stream(status, joinHeaders(answerHeaders(context), headers));
  if (hasBody) return forwardBody(body, stream);
  message.destroy();
  stream.end();
}

const redirectRejected = "the backend attempted to redirect this request, which is not permitted";

/** The query as the client has sent it, with its question mark. @throws ApiError 400 */
function queryOf(target: string): string {
  const mark = target.indexOf("?");
  const query = mark < 0 || mark === target.length - 1 ? "" : target.slice(mark);
  if (!/^[\x21-\xff]*$/.test(query)) throw badRequest("invalid character in query");
  return query;
}

function pageOf({ exchange, info }: RequestState, { target, usesTargetHost }: ProxyOptions, path: string): ProxiedPage {
  const suffix = info.path.endsWith("/") && !path.endsWith("/") ? `${path}/` : path;
  const prefix = info.path.endsWith(suffix) ? info.path.slice(0, info.path.length - suffix.length) : info.path;
  return { prefix, backendHost: target.host, requestHost: hostOf(exchange, { target, usesTargetHost }) };
}

async function send(
  { exchange }: RequestState,
  { target, headers, isWrapped }: ProxyOptions,
  query: string,
  { prefix, requestHost: host }: ProxiedPage,
  signal: AbortSignal,
): Promise<BackendResponse> {
  const escaped = escapePath(target.path === "" ? "/" : target.path);
  const forwardedUri = isWrapped ? forwardedUriOf(joinPaths(prefix, escaped)) : undefined;
  const request = {
    method: exchange.method,
    path: `${escaped}${query}`,
    headers: requestHeaders(exchange, { host, forwardedUri, ...(headers !== undefined && { headers }) }),
    body: exchange.hasBody ? exchange.bodyPieces() : undefined,
  };
  try {
    return await sendRequest(target.open, request, signal);
  } catch (error) {
    const text = failureText(error);
    if (text === undefined) throw error;
    throw isWrapped ? unreachable(text) : plainError(text);
  }
}

/** Encodes the value of `X-Forwarded-Uri`. @throws ApiError 503 when no header can have this value */
function forwardedUriOf(uri: string): string {
  const value = Buffer.from(uri).toString("latin1");
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return value;
  throw unreachable('net/http: invalid header field value for "X-Forwarded-Uri"');
}

function unreachable(text: string): ReturnType<typeof serviceUnavailable> {
  return serviceUnavailable(`error trying to reach service: ${text}`);
}

/**
 * Rewrites the headers of a response.
 * @returns the rewriter of its body, if it has links
 * @throws ApiError 500 for an invalid `Location`
 */
function rewrite(headers: BackendHeaders, page: ProxiedPage): ReturnType<typeof linkRewriter> | undefined {
  const location = headers.get("location")?.[0] ?? "";
  if (location !== "") {
    headers.set("location", [rewriteLocation(location, page)]);
    return undefined;
  }
  const contentType = headers.get("content-type")?.[0] ?? "";
  if (contentType.split(";")[0]?.trim() !== "text/html") return undefined;
  const rewriter = linkRewriter(headers.get("content-encoding")?.[0] ?? "", page);
  if (rewriter !== undefined) headers.delete("content-length");
  return rewriter;
}

function rewriteLocation(location: string, page: ProxiedPage): string {
  try {
    return rewriteUrl(Buffer.from(location, "latin1").toString(), page);
  } catch (error) {
    if (!(error instanceof GoUrlError)) throw error;
    throw internalError(`error trying to parse Location header: ${error.message}`);
  }
}

/** @returns the body for the client, whose headers may change with its beginning */
async function bodyOf(
  message: BackendResponse["message"],
  headers: BackendHeaders,
  { rewrites, clock }: { readonly rewrites: ReturnType<typeof linkRewriter> | undefined; readonly clock: Clock },
): Promise<AsyncIterable<Buffer>> {
  if (rewrites !== undefined) return started(rewrites(message));
  const isTyped = headers.has("content-type") || (headers.get("content-encoding")?.[0] ?? "") !== "";
  return isTyped ? message : withContentType(message, headers, clock);
}

/** How long the headers wait for the body: `defaultFlushInterval` of k8s.io/apimachinery@v0.36.0/pkg/util/proxy. */
const flushMs = 200;

/** Adds the type of a body by its first piece. */
async function withContentType(
  body: AsyncIterable<Buffer>,
  headers: BackendHeaders,
  clock: Clock,
): Promise<AsyncIterable<Buffer>> {
  const iterator = body[Symbol.asyncIterator]();
  const first = iterator.next();
  const begun = await within(
    clock,
    flushMs,
    first.catch(() => undefined), // The reader of the body gets the error.
  );
  if (begun !== undefined && begun.done !== true) headers.set("content-type", [detectContentType(begun.value)]);
  return fromFirst(first, iterator);
}

async function* fromFirst(
  first: Promise<IteratorResult<Buffer>>,
  iterator: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer> {
  for (let { value, done } = await first; done !== true; { value, done } = await iterator.next()) yield value;
}

/**
 * Waits for the first piece of a rewritten body.
 * @throws ApiError 500 when there is none, because the body is broken
 */
async function started(body: AsyncIterable<Buffer>): Promise<AsyncIterable<Buffer>> {
  const iterator = body[Symbol.asyncIterator]();
  const first = await iterator.next().catch((error: NodeJS.ErrnoException) => {
    throw plainError(
      error.code === "Z_DATA_ERROR" ? "errorf making gzip reader: gzip: invalid header" : "unexpected EOF",
    );
  });
  return fromFirst(Promise.resolve(first), iterator);
}
