/**
 * Headers for browsers: Strict-Transport-Security, and those of cross-origin requests.
 * Sources: k8s.io/apiserver@v0.36.0/pkg/server/filters/hsts.go and cors.go; RFC 6797; Fetch, "CORS protocol".
 */
import type { Filter } from "../../request/context.ts";

/** @param directives such as `max-age=31536000` */
export function strictTransportFilter(directives: readonly string[]): Filter {
  const value = directives.join("; ");
  return ({ headers }) => {
    headers["strict-transport-security"] = value;
  };
}

const allowedMethods = "POST, GET, OPTIONS, PUT, DELETE, PATCH";
const allowedHeaders =
  "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since";

/**
 * Lets scripts of some origins read responses, and answers the question of a browser whether they may.
 * @param allows whether the header Origin of a request is that of such an origin
 */
export function crossOriginFilter(allows: (origin: string) => boolean): Filter {
  return ({ exchange, headers, auditId }) => {
    const origin = exchange.header("origin") ?? "";
    if (origin === "" || !allows(origin)) return;
    headers["access-control-allow-origin"] = origin;
    headers["access-control-allow-methods"] = allowedMethods;
    headers["access-control-allow-headers"] = allowedHeaders;
    headers["access-control-expose-headers"] = "Date";
    headers["access-control-allow-credentials"] = "true";
    if (exchange.method === "OPTIONS")
      exchange.respond(204, { "audit-id": auditId, "cache-control": "no-cache, private", ...headers }, nothing);
  };
}

const nothing = Buffer.alloc(0);
