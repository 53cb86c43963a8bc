/** The connections to one webhook: kept open between calls, and limited in number. */
import type net from "node:net";
import type { Dispatcher, Client as UndiciClient } from "undici";
import { type CertificateObserver, WebhookError } from "./contract.ts";
import type { Deadline } from "./deadline.ts";
import type { OpenSocket } from "./open-socket.ts";

type Flaw = keyof CertificateObserver;

/** A connection, used by one call at a time. */
export interface Connection {
  readonly dispatcher: Pick<Dispatcher, "dispatch">;
  /** How many responses it has received. */
  answers: number;
  /** What is deprecated in the certificates of the server. */
  readonly flaws: readonly Flaw[];
  /** Closes it; the call that uses it fails with `reason`. */
  destroy(reason: Error): void;
}

interface ConnectionsOptions {
  /** `https://host:port` */
  readonly origin: string;
  /** Opens a socket. The signal aborts when the call that needs it ends. */
  readonly open: OpenSocket;
  /** Notified of the flaws of a connection with each response, and of those that were the reason why there is none. */
  readonly certificates?: CertificateObserver;
  /** The maximum number of connections; further calls wait until their deadline. */
  readonly connectionsMax: number;
}

/** Idle connections are closed after this time. */
const idleMs = 90_000;
/** The pause before each piece of a large response after a fault. */
const faultyPieceMs = 4;
/**
 * The pause before a connection is opened after a fault: a TLS handshake takes milliseconds of two
 * processes. It is shorter when more calls than `faultyOpeningsAtFullPause` wait, so that 64 calls
 * wait less than a second, and their connections are not limited in number.
 */
const faultyOpeningMs = 20;
const faultyOpeningsAtFullPause = 16;

/** A call that waits gets a released connection, or may open one, or fails. */
type Turn = Connection | "open" | WebhookError;

/** Opens connections, and keeps those that are idle. The last one used is the first used again. */
export class Connections {
  readonly #options: ConnectionsOptions;
  #Client: typeof UndiciClient | undefined;
  readonly #all = new Set<Connection>();
  readonly #idle: Connection[] = [];
  /** In the order in which the calls started to wait. */
  readonly #waiting = new Set<(turn: Turn) => void>();
  /** Reading large responses; at most one for each connection. */
  readonly #paused = new PacedSteps((next) => (this.#isFaulty ? setTimeout(next, faultyPieceMs) : setImmediate(next)));
  /** Opening connections after a fault. */
  readonly #openings = new PacedSteps((next, waiting) =>
    setTimeout(next, faultyOpeningMs * Math.min(1, faultyOpeningsAtFullPause / waiting)),
  );
  /**
   * Whether the last response was invalid. Then each call needs another connection, or reads up to
   * the limit; both take much of this process's time, so calls do less of it at once.
   */
  #isFaulty = false;
  #opening = 0;
  #isClosed = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /**
   * Returns a connection that no other call uses. The call releases or destroys it.
   *
   * @throws WebhookError if none can be opened, or the call ends before
   */
  async acquire(deadline: Deadline): Promise<Connection> {
    if (this.#isClosed) throw closedReason();
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    const isFull = this.#all.size + this.#opening >= this.#options.connectionsMax;
    return isFull ? this.#wait(deadline) : this.#open(deadline);
  }

  /** The connection has received a complete response. */
  answered(connection: Connection): void {
    connection.answers++;
    this.#report(connection.flaws);
    this.release(connection);
  }

  /** The call no longer uses the connection. */
  release(connection: Connection): void {
    this.#isFaulty = false;
    if (!this.#all.has(connection)) return;
    if (!this.#wakeNext(connection)) this.#idle.push(connection);
  }

  /**
   * Calls `resume` in a later turn of the event loop, one for each turn: several large responses do
   * not delay other requests more than one. After a fault, responses are read slowly.
   */
  resumeLater(resume: () => void): void {
    this.#paused.add(resume);
  }

  /** A connection has received an invalid response; see `isFaulty`. */
  reportFault(): void {
    this.#isFaulty = true;
  }

  /** Closes all connections; current calls fail. */
  close(): void {
    this.#isClosed = true;
    while (this.#wakeNext(closedReason()));
    for (const connection of [...this.#all]) connection.destroy(closedReason());
  }

  async #wait(deadline: Deadline): Promise<Connection> {
    const turn = await new Promise<Turn>((resolve) => {
      this.#waiting.add(resolve);
      deadline.onEnd((reason) => {
        if (this.#waiting.delete(resolve)) resolve(reason);
      });
    });
    if (turn instanceof Error) throw turn;
    return turn === "open" ? this.#open(deadline) : turn;
  }

  /** @returns whether a call was waiting */
  #wakeNext(turn: Turn): boolean {
    const [first] = this.#waiting;
    if (first === undefined) return false;
    this.#waiting.delete(first);
    first(turn);
    return true;
  }

  async #open(deadline: Deadline): Promise<Connection> {
    const controller = new AbortController();
    deadline.onEnd((reason) => controller.abort(reason));
    this.#opening++;
    try {
      if (this.#isFaulty) await new Promise<void>((resolve) => this.#openings.add(resolve));
      const connection = await this.#connect(controller.signal);
      if (this.#isClosed) connection.destroy(closedReason());
      return connection;
    } catch (error) {
      this.#wakeNext("open");
      throw error;
    } finally {
      this.#opening--;
    }
  }

  async #openSocket(signal: AbortSignal): Promise<{ socket: net.Socket; flaws: readonly Flaw[] }> {
    const { open } = this.#options;
    const flaws: Flaw[] = [];
    const noted = {
      missingSan: () => void flaws.push("missingSan"),
      insecureSha1: () => void flaws.push("insecureSha1"),
    };
    const socket = await open(signal, noted).catch((error: unknown) => {
      this.#report(flaws);
      throw error;
    });
    socket.on("error", () => {}); // Until the client uses the socket, which then reports it.
    return { socket, flaws };
  }

  async #connect(signal: AbortSignal): Promise<Connection> {
    const { origin } = this.#options;
    const { socket, flaws } = await this.#openSocket(signal);
    this.#Client ??= (await import("undici/lib/dispatcher/client.js")).default; // Each import takes time.
    let unused: net.Socket | undefined = socket;
    const client = new this.#Client(origin, {
      connect(_options, done) {
        const next = unused;
        unused = undefined; // A closed connection is not opened again.
        queueMicrotask(() => (next === undefined ? done(closedReason(), null) : done(null, next)));
      },
      allowH2: false,
      keepAliveTimeout: idleMs,
      headersTimeout: 0, // The deadline of the call is the limit.
      bodyTimeout: 0,
    });
    const connection: Connection = {
      dispatcher: client,
      answers: 0,
      flaws,
      destroy: (reason) => {
        this.#remove(connection);
        client.destroy(reason, () => socket.destroy());
      },
    };
    client.once("disconnect", () => connection.destroy(closedReason()));
    this.#all.add(connection);
    return connection;
  }

  #report(flaws: readonly Flaw[]): void {
    for (const flaw of flaws) this.#options.certificates?.[flaw]();
  }

  #remove(connection: Connection): void {
    if (!this.#all.delete(connection)) return;
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
    this.#wakeNext("open");
  }
}

function closedReason(): WebhookError {
  return new WebhookError("closed", "EOF");
}

/** Runs steps that keep the process busy one after the other, in order, with a pause before each. */
class PacedSteps {
  readonly #pause: (next: () => void, waiting: number) => void;
  readonly #waiting: (() => void)[] = [];

  /** @param pause calls `next` after the pause; `waiting` is the number of steps, at least 1 */
  constructor(pause: (next: () => void, waiting: number) => void) {
    this.#pause = pause;
  }

  /** Runs a step later. */
  add(step: () => void): void {
    if (this.#waiting.push(step) === 1) this.#pause(this.#next, 1);
  }

  readonly #next = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) this.#pause(this.#next, this.#waiting.length);
  };
}
