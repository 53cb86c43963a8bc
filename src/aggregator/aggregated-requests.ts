/**
 * Forwards requests for the group versions of APIServices to their servers. Source:
 * k8s.io/kube-aggregator@v0.36.0/pkg/apiserver/{apiserver,handler_proxy}.go.
 */
import type { Clock } from "../apimachinery/clock.ts";
import { ApiError } from "../apimachinery/errors.ts";
import type { RequestContext } from "../http/contract.ts";
import { requestSweepMs } from "../http/filters/open-requests.ts";
import { isLongRunning } from "../http/request-info.ts";
import { sendText } from "../http/respond.ts";
import type { PathHandler } from "../http/serve.ts";
import { encodeQueryAgain } from "../lib/go-net/go-query.ts";
import type { ProxyOptions, ProxyTarget } from "../proxy/contract.ts";
import { formatAddress } from "../webhook/connect.ts";
import { type Address, WebhookError } from "../webhook/contract.ts";
import { type ApiServices, type ApiServiceView, type Backends, isRemote, type RemoteApiService } from "./contract.ts";
import { identityHeaders, isIdentityHeader } from "./identity-headers.ts";
import type { Transport, Transports } from "./transports.ts";

interface AggregatedOptions {
  readonly services: ApiServices;
  readonly backends: Pick<Backends, "resolve">;
  readonly transports: Pick<Transports, "of">;
  readonly clock: Clock;
  /** Answers 502 instead of redirects of a server. */
  readonly rejectsRedirects: boolean;
  /** Whether servers get the uid of the user: the gate RemoteRequestHeaderUID. */
  readonly sendsUid: boolean;
  /** Called when this server answers a request with an error of its own. */
  readonly terminated: (context: RequestContext, code: number) => void;
}

/** Finds the handler of a path that belongs to another server. @param path without escapes */
export type AggregatedRequests = (path: string) => PathHandler | undefined;

/** The group whose requests this server always serves itself. */
const ownGroup = "apiregistration.k8s.io";
/** The name of the APIService of the core group, which has the whole path `/api`. */
const coreService = "v1.";
/** The limit for `/apis/{group}/{version}`, because clients read it from all servers. */
const discoveryMs = 5_000;

/** Creates the function that finds requests for other servers. */
export function aggregatedRequests(options: AggregatedOptions): AggregatedRequests {
  const { services } = options;
  return (path) => {
    if (services.remotes().length === 0) return undefined;
    const remote = findRemote(services, path);
    return remote && ((context) => forwardRequest(context, remote, options));
  };
}

function findRemote(services: ApiServices, path: string): RemoteApiService | undefined {
  const [start, prefix, group = "", version = ""] = path.split("/", 4);
  if (start !== "") return undefined;
  if (prefix === "api") return asRemote(services.get(coreService));
  if (prefix !== "apis" || group === "" || group === ownGroup || version === "") return undefined;
  return asRemote(services.find(group, version));
}

function asRemote(found: ApiServiceView | undefined): RemoteApiService | undefined {
  return found !== undefined && isRemote(found) ? found : undefined;
}

/** Answers a request with the response of the server of an APIService. */
export async function forwardRequest(
  context: RequestContext,
  remote: RemoteApiService,
  options: AggregatedOptions,
): Promise<void> {
  const fail = (code: number, text: string): void => {
    options.terminated(context, code);
    sendText(context, code, text);
  };
  if (!remote.isAvailable) return fail(503, unavailable);
  let transport: Transport;
  try {
    transport = options.transports.of(remote);
  } catch (error) {
    return fail(500, (error as Error).message);
  }
  let address: Address;
  try {
    address = await options.backends.resolve(remote);
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    return fail(503, unavailable);
  }
  context.execution?.watchStarted();
  const { proxyRequest } = await import("../proxy/proxy-request.ts");
  context.exchange.forgetHeaders(isIdentityHeader);
  const signal = limitOf(context, options.clock);
  const proxied = proxyOptions(context, options, { transport, address });
  try {
    await proxyRequest(context, { ...proxied, ...(signal && { signal }) });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    sendText(context, 503, error.message);
  }
}

const unavailable = "service unavailable";

function proxyOptions(
  context: RequestContext,
  { rejectsRedirects, sendsUid }: AggregatedOptions,
  { transport, address }: { readonly transport: Transport; readonly address: Address },
): ProxyOptions {
  const { exchange, info, user } = context;
  const host = formatAddress(address);
  const mark = exchange.target.indexOf("?");
  const query = mark < 0 ? "" : encodeQueryAgain(exchange.target.slice(mark + 1));
  const target: ProxyTarget = {
    scheme: "https",
    host,
    path: info.path,
    query,
    upgradeQuery: query,
    open: (signal) => transport.connect(address, signal),
  };
  const identity = identityHeaders(sendsUid ? user : { ...user, uid: "" });
  const forwarded = { "x-forwarded-host": host, "x-forwarded-proto": "https" };
  return {
    target,
    isWrapped: true,
    usesTargetHost: true,
    rejectsRedirects,
    headers: {
      "audit-id": context.auditId,
      ...(exchange.upgrade === undefined && forwarded),
      ...byName(identity),
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
function limitOf(context: RequestContext, clock: Clock): AbortSignal | undefined {
  const { info, exchange, endsAt } = context;
  if (exchange.upgrade !== undefined || isLongRunning(info)) return undefined;
  const controller = new AbortController();
  // The filters answer requests that have no response at their end.
  const limitMs = isDiscovery(context) ? discoveryMs : endsAt - clock.now() + 2 * requestSweepMs;
  const expire = (): void => controller.abort(new WebhookError("timeout", "context deadline exceeded"));
  exchange.onClose(clock.after(Math.max(limitMs, 0), expire));
  return controller.signal;
}

function isDiscovery({ info }: RequestContext): boolean {
  return !info.isResourceRequest && info.path.split("/").filter((part) => part !== "").length === 3;
}
