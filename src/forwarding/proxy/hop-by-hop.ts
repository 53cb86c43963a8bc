/** Headers that concern one connection only. Source: RFC 9110, section 7.6.1; Go's httputil.ReverseProxy. */

const names: ReadonlySet<string> = new Set([
  "connection",
  "proxy-connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** @param key a lower-case name */
export function isHopByHop(key: string): boolean {
  return names.has(key);
}

/** The headers that `Connection` lists, in lower case. */
export function listedInConnection(connection: string): ReadonlySet<string> {
  return new Set(connection.split(",").map((name) => name.trim().toLowerCase()));
}
