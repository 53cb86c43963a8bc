/**
 * The headers of a request to a backend. Source: Go's httputil.ReverseProxy, and `RoundTrip` in
 * k8s.io/apimachinery@v0.36.0/pkg/util/proxy/transport.go.
 */
import { headerLines } from "../../apimachinery/header-text.ts";
import { webSocketProtocols } from "../../apimachinery/web-socket-protocols.ts";
import type { Exchange } from "../../request/exchange.ts";
import type { ProxyOptions, ProxyTarget } from "./contract.ts";
import { isHopByHop, listedInConnection } from "./hop-by-hop.ts";

interface HeaderOptions extends Pick<ProxyOptions, "headers"> {
  readonly host: string;
  /** The value of `X-Forwarded-Uri`, if it is sent. */
  readonly forwardedUri: string | undefined;
  /** The requested protocol. */
  readonly upgrade?: string;
}

/** @returns names and values in turn */
export function requestHeaders(exchange: Exchange, options: HeaderOptions): string[] {
  const { host, forwardedUri, upgrade, headers = {} } = options;
  const own = ownHeaders(exchange, { forwardedUri, headers });
  const listed = listedInConnection(headerLines(exchange.rawHeaders, "connection").join());
  const lines: string[] = ["host", host];
  const { rawHeaders } = exchange;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    const key = name.toLowerCase();
    if (own[key] !== undefined || listed.has(key) || isDropped(key)) continue;
    lines.push(name, rawHeaders[at + 1] as string);
  }
  for (const [name, value] of Object.entries(own))
    for (const one of [value].flat()) if (one !== "") lines.push(name, one);
  if (upgrade === undefined) lines.push("connection", "close");
  else lines.push("connection", "Upgrade", "upgrade", upgrade);
  if (exchange.hasBody) lines.push(...lengthOf(exchange));
  else if (methodsWithBody.has(exchange.method)) lines.push("content-length", "0");
  return lines;
}

/** The header `Host` of the request to the backend. */
export function hostOf(
  exchange: Exchange,
  {
    target,
    usesTargetHost,
  }: { readonly target: Pick<ProxyTarget, "host">; readonly usesTargetHost: boolean | undefined },
): string {
  if (usesTargetHost) return target.host;
  return exchange.header(":authority") ?? exchange.header("host") ?? target.host;
}

type Headers = Record<string, string | readonly string[]>;

/** They replace headers of the client; empty ones are not sent. */
function ownHeaders(
  exchange: Exchange,
  { forwardedUri, headers }: Pick<HeaderOptions, "forwardedUri" | "headers">,
): Headers {
  const { rawHeaders, remote } = exchange;
  return {
    "x-forwarded-for": [...headerLines(rawHeaders, "x-forwarded-for"), remote.address].join(", "),
    ...(forwardedUri !== undefined && { "x-forwarded-uri": forwardedUri }),
    "sec-websocket-protocol": webSocketProtocols(rawHeaders).protocols.join(", "),
    ...(/\btrailers\b/.test(headerLines(rawHeaders, "te").join()) && { te: "trailers" }),
    ...headers,
  };
}

/** Besides those that authentication and impersonation have removed. */
function isDropped(key: string): boolean {
  return (
    key.startsWith(":") || // Of HTTP/2.
    key.startsWith("impersonate-") ||
    key === "host" ||
    key === "authorization" ||
    key === "content-length" ||
    isHopByHop(key)
  );
}

function lengthOf(exchange: Exchange): string[] {
  const length = exchange.header("content-length");
  return length === undefined ? ["transfer-encoding", "chunked"] : ["content-length", length];
}

/** Methods whose requests without a body have a length, as Go sends them. */
const methodsWithBody: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);
