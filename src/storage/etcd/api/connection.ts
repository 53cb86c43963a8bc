/** An HTTP/2 connection to a member of etcd. Sources: RFC 9113; gRPC, "gRPC over HTTP2" and "Keepalive". */
import http2 from "node:http2";
import type { Duplex } from "node:stream";
import type { Clock } from "../../../apimachinery/clock.ts";
import type { Endpoint } from "./endpoints.ts";
import { CallError } from "./status.ts";

/**
 * Connections that a network or a stopped member has broken without an error are found by pings
 * while calls are open. etcd rejects pings that come faster than every 5 s, or without open calls.
 */
const pingMs = { interval: 10_000, timeout: 5_000 };
/** A member that does not accept a connection in this time is treated as down. */
const connectTimeoutMs = 6_000;
/** Flow control windows for answers: per call and per connection. */
const callWindow = 1 << 20;
const connectionWindow = 8 << 20;

const options: http2.ClientSessionOptions = {
  settings: { enablePush: false, initialWindowSize: callWindow },
  // The limits are those of the calls: Node's limit of 10 MB would fail some of many large writes.
  maxSessionMemory: Number.MAX_SAFE_INTEGER,
};

/** Names and values alternately. */
export type CallHeaders = string[];

export class Connection {
  readonly #session: http2.ClientHttp2Session;
  readonly #clock: Clock;
  #openCalls = 0;
  #cancelPing: () => void;

  constructor(session: http2.ClientHttp2Session, clock: Clock) {
    this.#session = session;
    this.#clock = clock;
    this.#cancelPing = clock.after(pingMs.interval, () => this.#ping());
    session.on("error", () => session.destroy()); // Its calls end with an error.
    session.once("close", () => this.#cancelPing());
    session.setLocalWindowSize(connectionWindow);
  }

  /** Whether calls can be made: the member has neither closed the connection nor announced it. */
  get isOpen(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  /** Whether open calls have lost the connection. */
  get isLost(): boolean {
    return this.#session.destroyed;
  }

  /** Starts a call; `callClosed` must be called when its stream has closed. */
  call(headers: CallHeaders): http2.ClientHttp2Stream {
    this.#openCalls++;
    return this.#session.request(headers);
  }

  callClosed(): void {
    this.#openCalls--;
  }

  /** Ends all calls. */
  close(): void {
    this.#session.destroy();
  }

  #ping(): void {
    if (this.isLost || (!this.isOpen && this.#openCalls === 0)) return;
    this.#cancelPing = this.#clock.after(pingMs.interval, () => this.#ping());
    if (this.#openCalls === 0) return;
    const cancel = this.#clock.after(pingMs.timeout, () => this.#session.destroy());
    const sent = this.#session.ping(() => cancel());
    if (!sent) cancel();
  }
}

/**
 * Connects to a member, and waits until it has sent its settings.
 * @param signal ends the attempt
 * @throws CallError Unavailable; no call was sent
 */
export async function openConnection(endpoint: Endpoint, clock: Clock, signal: AbortSignal): Promise<Connection> {
  const late = new AbortController();
  const cancel = clock.after(connectTimeoutMs, () => late.abort(new Error(`connect timeout ${endpoint.authority}`)));
  const either = AbortSignal.any([signal, late.signal]);
  try {
    const session = await handshake(await endpoint.connect(either), endpoint, either);
    return new Connection(session, clock);
  } catch (error) {
    throw unconnected(either.aborted ? either.reason : error);
  } finally {
    cancel();
  }
}

function handshake(socket: Duplex, endpoint: Endpoint, signal: AbortSignal): Promise<http2.ClientHttp2Session> {
  return new Promise((resolve, reject) => {
    const session = http2.connect(endpoint.origin, { ...options, createConnection: () => socket });
    const end = (): void => session.destroy();
    // Node does not report errors of TLS after the handshake to the session, such as a rejected certificate.
    socket.once("error", (error) => {
      reject(error);
      end();
    });
    socket.once("close", end);
    signal.addEventListener("abort", end);
    session.once("error", reject);
    session.once("close", () => reject(new Error("the member closed the connection")));
    session.once("remoteSettings", () => {
      signal.removeEventListener("abort", end);
      session.setMaxListeners(0);
      resolve(session);
    });
  });
}

/** The error of a call that had no connection. */
function unconnected(error: unknown): CallError {
  // A name with several addresses has an error for each of them.
  const last = error instanceof AggregateError ? error.errors.at(-1) : error;
  return new CallError("Unavailable", `No connection established. Last error: ${(last as Error).message}`, {
    isUnsent: true,
  });
}
