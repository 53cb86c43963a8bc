/** Forwards requests to another server as their user. */
import { type Clock, realClock } from "../../apimachinery/clock.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import { activeSpan } from "../../apimachinery/spans.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import { encodeQueryAgain } from "../../lib/go-net/go-query.ts";
import { sendText } from "../../request/answer.ts";
import type { RequestState } from "../../request/context.ts";
import { requestSweepMs } from "../../request/lifetime.ts";
import { isLongRunning } from "../../request/request-info.ts";
import { inCallSpan } from "../../webhook/call-span.ts";
import { formatAddress } from "../../webhook/connect.ts";
import { type Address, WebhookError } from "../../webhook/contract.ts";
import type { OpenBackend, ProxyOptions, ProxyTarget } from "../proxy/contract.ts";
import { identityHeaders, isIdentityHeader } from "./identity-headers.ts";

interface ForwardOptions {
  readonly address: Address;
  readonly open: OpenBackend;
  /** The user in the headers of the forwarded request. */
  readonly user: UserInfo;
  /** Answers 502 instead of redirects of the server. */
  readonly rejectsRedirects: boolean;
  readonly clock: Clock;
  /** Lower-case names and values of further headers, which replace those of the client. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The limit for `/apis/{group}/{version}`, because clients read it from all servers. */
const discoveryMs = 5_000;

/** Answers a request with the response of a server, or with 503 when it does not respond. */
export async function forwardTo(context: RequestState, options: ForwardOptions): Promise<void> {
  context.execution?.watchStarted();
  const { proxyRequest } = await import("../proxy/proxy-request.ts");
  context.exchange.forgetHeaders(isIdentityHeader);
  const signal = limitOf(context, options.clock);
  const proxied = proxyOptions(context, options);
  const { exchange } = context;
  const forward = async (traceHeaders: Readonly<Record<string, string>>): Promise<{ readonly status: number }> => {
    const headers = { ...proxied.headers, ...traceHeaders };
    await proxyRequest(context, { ...proxied, headers, ...(signal && { signal }) });
    return exchange;
  };
  try {
    if (exchange.upgrade === undefined && activeSpan() !== undefined)
      await inCallSpan(exchange.method, `https://${proxied.target.host}${exchange.target}`, forward);
    else await forward({});
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    sendText(context, error.status.code === 502 ? 502 : 503, error.message);
  }
}

function proxyOptions(
  context: RequestState,
  { address, open, user, rejectsRedirects, clock, headers }: ForwardOptions,
): ProxyOptions {
  const { exchange, info } = context;
  const host = formatAddress(address);
  const mark = exchange.target.indexOf("?");
  const query = mark < 0 ? "" : encodeQueryAgain(exchange.target.slice(mark + 1));
  const target: ProxyTarget = { scheme: "https", host, path: info.path, query, upgradeQuery: query, open };
  const forwarded = { "x-forwarded-host": host, "x-forwarded-proto": "https" };
  return {
    target,
    clock,
    isWrapped: true,
    usesTargetHost: true,
    rejectsRedirects,
    headers: {
      "audit-id": context.auditId,
      ...(exchange.upgrade === undefined && forwarded),
      ...headers,
      ...byName(identityHeaders(user)),
    },
  };
}

/** Groups values by the name of their header, in lower case. */
function byName(lines: readonly string[]): Record<string, string[]> {
  const values: Record<string, string[]> = {};
  for (let at = 0; at < lines.length; at += 2) {
    const name = (lines[at] as string).toLowerCase();
    values[name] = [...(values[name] ?? []), lines[at + 1] as string];
  }
  return values;
}

/** Limits the time of the whole response, except for watches and upgrades. */
function limitOf(context: RequestState, clock: Clock): AbortSignal | undefined {
  const { info, exchange, endsAt } = context;
  if (exchange.upgrade !== undefined || isLongRunning(info)) return undefined;
  const controller = new AbortController();
  // The filters answer requests that have no response at their end.
  const limitMs = isDiscovery(context) ? discoveryMs : endsAt - clock.now() + 2 * requestSweepMs;
  const expire = (): void => controller.abort(new WebhookError("timeout", "context deadline exceeded"));
  exchange.onClose(realClock(clock).after(Math.max(limitMs, 0), expire));
  return controller.signal;
}

function isDiscovery({ info }: RequestState): boolean {
  return !info.isResourceRequest && info.path.split("/").filter((part) => part !== "").length === 3;
}
