/**
 * Rejects requests while the server lets the open ones finish, so that clients of a load balancer try another server.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/filters/with_retry_after.go.
 */
import type { Filter, RequestState } from "../../request/context.ts";

/** Prefixes of the paths that are served until the end: probes and metrics. */
const exemptPaths = ["/readyz", "/livez", "/healthz", "/metrics"];
/** Of other servers, which finish their own work. */
const exemptUserAgent = "kube-apiserver/";

const text = Buffer.from("The apiserver is shutting down, please try again later.\n");

/**
 * Answers 429, and ends the connection after its open requests.
 * @param isDraining whether new requests are rejected
 */
export function retryAfterFilter(isDraining: () => boolean): Filter {
  return (context) => {
    if (!isDraining() || isExempt(context)) return;
    const { exchange, auditId } = context;
    exchange.endConnection();
    exchange.respond(
      429,
      {
        "audit-id": auditId,
        "content-type": "text/plain; charset=utf-8",
        "retry-after": "5",
        "x-content-type-options": "nosniff",
      },
      text,
    );
  };
}

const noWatches = Buffer.from(
  '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"apiserver is shutting down","reason":"ServiceUnavailable","code":503}\n\n',
);

/**
 * Answers watches 503, which would end at once.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/filters/watch_termination.go.
 * @param isDraining as of {@link retryAfterFilter}
 */
export function endedWatchesFilter(isDraining: () => boolean): Filter {
  return ({ exchange, info, auditId }) => {
    if (info.verb !== "watch" || !isDraining()) return;
    exchange.respond(
      503,
      {
        "audit-id": auditId,
        "content-type": "application/json",
        "retry-after": "1",
        "x-content-type-options": "nosniff",
      },
      noWatches,
    );
  };
}

function isExempt({ exchange, info }: RequestState): boolean {
  if (exchange.header("user-agent")?.startsWith(exemptUserAgent)) return true;
  return exemptPaths.some((prefix) => info.path.startsWith(prefix));
}
