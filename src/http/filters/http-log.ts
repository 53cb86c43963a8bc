/** Logs each request. Source: k8s.io/apiserver@v0.36.0/pkg/server/httplog/httplog.go. */
import { headerText } from "../../apimachinery/header-text.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { isVerbose, type Verbosity } from "../../apimachinery/verbosity.ts";
import { formatDuration } from "../../lib/duration/duration.ts";
import type { Filter, RequestState } from "../../request/context.ts";
import { normalizedVerb } from "../../request/normalized-verb.ts";

/** The level of these lines. */
const level = 3;

/** The first filter: a line at the end of the response. @param elapsed milliseconds, which never go back */
export function httpLogFilter(verbosity: Verbosity, logger: Logger, elapsed: () => number): Filter {
  return (context) => {
    if (!isVerbose(verbosity, level, "httplog")) return;
    const startedAt = elapsed();
    context.exchange.onClose(() => write(context, elapsed() - startedAt, logger));
  };
}

function write(context: RequestState, latencyMs: number, logger: Logger): void {
  const { exchange, auditId } = context;
  const { remote, status, target } = exchange;
  const host = remote.address.includes(":") ? `[${remote.address}]` : remote.address;
  const values = {
    verb: normalizedVerb(context),
    URI: target,
    latency: formatDuration(BigInt(Math.round(latencyMs * 1e6))),
    userAgent: headerText(exchange.header("user-agent") ?? ""),
    "audit-ID": auditId,
    srcIP: `${host}:${remote.port}`,
    ...(status === 101 ? { hijacked: true } : { resp: status }),
  };
  if (logger.detail !== undefined) logger.detail(level, "HTTP", values);
  else logger.info("HTTP", values);
}
