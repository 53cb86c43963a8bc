/**
 * Forwards requests for the group versions of APIServices to their servers. Source:
 * k8s.io/kube-aggregator@v0.36.0/pkg/apiserver/{apiserver,handler_proxy}.go.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import { sendText } from "../../request/answer.ts";
import type { PathHandler, RequestState } from "../../request/context.ts";
import { type Address, type CertificateObserver, WebhookError } from "../../webhook/contract.ts";
import { type ApiServices, type ApiServiceView, type Backends, isRemote, type RemoteApiService } from "./contract.ts";
import { forwardTo } from "./forward-to.ts";
import type { PeerRequests } from "./peers/peer-requests.ts";
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
  readonly terminated: (context: RequestState, code: number) => void;
  /** Notified of flaws of the certificates of servers. Each request has a connection of its own. */
  readonly certificates?: CertificateObserver;
}

/** Finds the handler of a path that belongs to another server. @param path without escapes */
export type AggregatedRequests = (path: string) => PathHandler | undefined;

/** The group whose requests this server always serves itself. */
const ownGroup = "apiregistration.k8s.io";
/** The name of the APIService of the core group, which has the whole path `/api`. */
const coreService = "v1.";

/** Creates the function that finds requests for other servers. */
export function aggregatedRequests(options: AggregatedOptions): AggregatedRequests {
  const { services } = options;
  return (path) => {
    if (!services.hasRemotes) return undefined;
    const remote = findRemote(services, path);
    return remote && ((context) => forwardRequest(context, remote, options));
  };
}

/** Finds the handler of a request that a peer, or the server of an APIService, serves. */
export function forwardedRequests(
  aggregated: AggregatedRequests,
  peers: Pick<PeerRequests, "find"> | undefined,
): (context: RequestState) => PathHandler | undefined {
  return (context) => peers?.find(context) ?? aggregated(context.info.path);
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
  context: RequestState,
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
  const { rejectsRedirects, sendsUid, clock } = options;
  const user = sendsUid ? context.user : { ...context.user, uid: "" };
  return forwardTo(context, {
    address,
    user,
    rejectsRedirects,
    clock,
    open: (signal) => transport.connect(address, signal, options.certificates),
  });
}

const unavailable = "service unavailable";
