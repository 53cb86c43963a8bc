/** Keeps a connection to a member: opens it when a call needs it, and again after it has failed. */
import type { Clock } from "../../../apimachinery/clock.ts";
import { type Connection, openConnection } from "./connection.ts";
import type { Endpoint } from "./endpoints.ts";
import { CallError } from "./status.ts";

/** Delays between attempts to connect; calls fail in between. */
const retryMs = { min: 50, max: 1_000 };

export class Channel {
  readonly endpoint: Endpoint;
  readonly clock: Clock;
  readonly #closing = new AbortController();
  #connection: Connection | undefined;
  #connecting: Promise<Connection> | undefined;
  #failure: CallError | undefined;
  #retryAt = 0;
  #delayMs = retryMs.min;

  constructor(endpoint: Endpoint, clock: Clock) {
    this.endpoint = endpoint;
    this.clock = clock;
  }

  /**
   * Returns the connection for a call, without a promise while there is one.
   * @throws CallError Unavailable, asynchronously
   */
  connection(): Connection | Promise<Connection> {
    if (this.#connection?.isOpen === true) return this.#connection;
    if (this.#connecting !== undefined) return this.#connecting;
    if (this.#failure !== undefined && this.clock.now() < this.#retryAt) return Promise.reject(this.#failure);
    this.#connecting = this.#connect();
    return this.#connecting;
  }

  /** Ends all calls. */
  close(): void {
    this.#closing.abort(new Error("the client is closed"));
    this.#connection?.close();
  }

  async #connect(): Promise<Connection> {
    try {
      const connection = await openConnection(this.endpoint, this.clock, this.#closing.signal);
      if (this.#closing.signal.aborted) connection.close();
      this.#connection = connection;
      this.#failure = undefined;
      this.#delayMs = retryMs.min;
      return connection;
    } catch (error) {
      if (error instanceof CallError) this.#failure = error;
      this.#retryAt = this.clock.now() + this.#delayMs;
      this.#delayMs = Math.min(this.#delayMs * 2, retryMs.max);
      throw error;
    } finally {
      this.#connecting = undefined;
    }
  }
}
