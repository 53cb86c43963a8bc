/** Calls of this server itself to the servers of APIServices, over HTTP/1.1. */
import { quoteGo } from "../../lib/json/quote.ts";
import { untilAborted } from "../../request/lifetime.ts";
import { formatAddress, streamError } from "../../webhook/connect.ts";
import { Connections } from "../../webhook/connections.ts";
import { type Address, WebhookError } from "../../webhook/contract.ts";
import { Deadline } from "../../webhook/deadline.ts";
import { exchange, UnfinishedAnswer } from "../../webhook/exchange.ts";
import type { ServiceResolver } from "../../webhook/service-resolver.ts";
import type { BackendRequest, Backends, RemoteApiService } from "./contract.ts";
import { identityHeaders } from "./identity-headers.ts";
import { readStatus } from "./read-status.ts";
import type { Transports } from "./transports.ts";

interface BackendOptions {
  readonly resolve: ServiceResolver;
  readonly transports: Transports;
}

/** {@link Backends} with open connections. */
export interface OpenBackends extends Backends {
  /** Closes all connections; current calls fail. */
  close(): void;
}

/** Of one server; further calls wait until their timeout. */
const connectionsMax = 16;
/** Servers with open connections; the one that was used first is closed for the next. */
const poolsMax = 1000;

/** Opens no connection yet. */
export function openBackends({ resolve, transports }: BackendOptions): OpenBackends {
  const pools = new Pools(transports);
  const resolveRemote = async ({ service }: RemoteApiService): Promise<Address> => {
    try {
      return await resolve(service.namespace, service.name, service.port);
    } catch (error) {
      if (error instanceof Error) throw new WebhookError("resolve", error.message);
      throw error;
    }
  };
  return {
    checkTransport: (remote) => void transports.of(remote),
    resolve: resolveRemote,
    async get(remote, request) {
      const address = request.address ?? (await resolveRemote(remote));
      return call(pools, remote, { ...request, address }, exchange);
    },
    async status(remote, request) {
      const address = request.address ?? (await resolveRemote(remote));
      return call(pools, remote, { ...request, answerBytesMax: 0, address }, readStatus);
    },
    close: () => pools.close(),
  };
}

type Exchange<T> = (...args: Parameters<typeof exchange>) => Promise<T>;

function call<T>(
  pools: Pools,
  remote: RemoteApiService,
  request: BackendRequest & { readonly address: Address },
  send: Exchange<T>,
): Promise<T> {
  return callOver(pools.of(remote, request.address), formatAddress(request.address), request, send);
}

/**
 * Sends a GET request of this server itself.
 *
 * @param host host and port of the server
 * @throws WebhookError without a complete response, with Go's message
 */
export async function callOver<T>(
  connections: Connections,
  host: string,
  { path, headers = {}, user, answerBytesMax, timeoutMs, signal }: Omit<BackendRequest, "address">,
  send: Exchange<T>,
): Promise<T> {
  const lines = ["host", host, "user-agent", userAgent, ...Object.entries(headers).flat(), ...identityHeaders(user)];
  const deadline = new Deadline({ timeoutMs, lifetime: signal && untilAborted(signal) });
  try {
    const request = { method: "GET", path, headers: lines, body: undefined, answerBytesMax } as const;
    return await send(connections, request, deadline);
  } catch (error) {
    throw failure(error, `https://${host}${path}`);
  } finally {
    deadline.clear();
  }
}

/** Go's default. */
const userAgent = "Go-http-client/1.1";

/** Converts a failure to a WebhookError with Go's message. Internal errors remain unchanged. */
function failure(error: unknown, url: string): unknown {
  const cause = error instanceof UnfinishedAnswer ? error.cause : error;
  const known = cause instanceof WebhookError ? cause : streamError(cause as NodeJS.ErrnoException);
  if (known === undefined) return error;
  if (error instanceof UnfinishedAnswer && known.message === "EOF") return new WebhookError("closed", "unexpected EOF");
  return new WebhookError(known.kind, `Get ${quoteGo(url)}: ${known.message}`);
}

/** The open connections, by transport and address. */
class Pools {
  readonly #transports: Transports;
  readonly #byKey = new Map<string, Connections>();

  constructor(transports: Transports) {
    this.#transports = transports;
  }

  of(remote: RemoteApiService, address: Address): Connections {
    const transport = this.#transports.of(remote);
    const host = formatAddress(address);
    const key = `${host} ${transport.key}`;
    const open = this.#byKey.get(key);
    if (open !== undefined) return open;
    const connections = new Connections({
      origin: `https://${host}`,
      open: (signal) => transport.connect(address, signal),
      connectionsMax,
    });
    this.#byKey.set(key, connections);
    this.#closeOldest();
    return connections;
  }

  close(): void {
    for (const connections of this.#byKey.values()) connections.close();
    this.#byKey.clear();
  }

  #closeOldest(): void {
    if (this.#byKey.size <= poolsMax) return;
    const [oldest] = this.#byKey;
    if (oldest === undefined) return;
    this.#byKey.delete(oldest[0]);
    oldest[1].close();
  }
}
