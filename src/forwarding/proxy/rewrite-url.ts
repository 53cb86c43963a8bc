/**
 * Rewrites URLs of a backend, so that they lead through the proxy. Source:
 * k8s.io/apimachinery@v0.36.0/pkg/util/proxy/transport.go.
 */
import { posix } from "node:path";
import { escapedPath, formatGoUrl, type GoUrl, parseGoUrl, textOf } from "../../lib/go-net/go-url.ts";

/** The place of a proxied page. */
export interface ProxiedPage {
  /** The path of the proxy, which precedes the path of the backend; without escapes. */
  readonly prefix: string;
  /** Host and port of the backend. */
  readonly backendHost: string;
  /** The header `Host` that the backend received. */
  readonly requestHost: string;
}

/**
 * Returns the URL with the prefix of the proxy, or unchanged when it refers to another host or is
 * relative.
 *
 * @throws GoUrlError for an invalid URL
 */
export function rewriteUrl(text: string, { prefix, backendHost, requestHost }: ProxiedPage): string {
  const url = parseGoUrl(text);
  const isOfOtherHost = url.host !== "" && url.host !== backendHost && url.host !== requestHost;
  if (isOfOtherHost || !url.path.startsWith("/")) return formatGoUrl(url);
  const local: GoUrl = url.host === requestHost ? url : { ...url, scheme: "", host: "" };
  const before = bytesOf(prefix);
  return formatGoUrl(url.path.startsWith(before) ? local : { ...local, path: joinPaths(before, url.path) });
}

/** Escapes a path as Go sends it. */
export function escapePath(path: string): string {
  return textOf(escapedPath({ ...parseGoUrl(""), path: bytesOf(path) }));
}

/** Joins and cleans paths, as Go's path.Join; a slash at the end remains. */
export function joinPaths(before: string, path: string): string {
  if (`${before}${path}` === "") return "";
  const joined = posix.join(before, path);
  return path.endsWith("/") && !joined.endsWith("/") ? `${joined}/` : joined;
}

function bytesOf(text: string): string {
  return Buffer.from(text).toString("latin1");
}
