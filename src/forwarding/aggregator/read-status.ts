/** Sends a request whose body of the response does not matter. */
import type { Dispatcher } from "undici";
import type { Connection, Connections } from "../../webhook/connections.ts";
import { WebhookError } from "../../webhook/contract.ts";
import type { Deadline } from "../../webhook/deadline.ts";
import type { ExchangeRequest } from "../../webhook/exchange.ts";

/**
 * Sends a request, and returns the status code as soon as the header has arrived. A connection
 * whose response does not end at once is closed.
 *
 * @throws WebhookError, or an error of the connection
 */
export async function readStatus(
  connections: Connections,
  request: ExchangeRequest,
  deadline: Deadline,
): Promise<number> {
  for (;;) {
    deadline.check();
    const connection = await connections.acquire(deadline);
    const wasUsed = connection.answers > 0;
    try {
      return await readStatusOn(connection, connections, request, deadline);
    } catch (error) {
      // The server may have closed an idle connection. Ends, because each attempt removes one.
      if (!wasUsed || deadline.reason !== undefined) throw error;
    }
  }
}

function readStatusOn(
  connection: Connection,
  connections: Connections,
  { method, path, headers }: ExchangeRequest,
  deadline: Deadline,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const reader = new StatusReader(connection, connections, { resolve, reject });
    deadline.onEnd((reason) => reader.fail(reason));
    if (deadline.reason !== undefined) return reader.fail(deadline.reason);
    connection.dispatcher.dispatch({ method, path, headers, body: null }, reader);
  });
}

interface Outcome {
  resolve(status: number): void;
  reject(error: Error): void;
}

class StatusReader implements Dispatcher.DispatchHandler {
  readonly #connection: Connection;
  readonly #connections: Connections;
  readonly #outcome: Outcome;
  #hasEnded = false;

  constructor(connection: Connection, connections: Connections, outcome: Outcome) {
    this.#connection = connection;
    this.#connections = connections;
    this.#outcome = outcome;
  }

  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200) return;
    this.#outcome.resolve(status);
    setImmediate(() => this.#end());
  }

  onResponseData(): void {}

  onResponseEnd(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#connection.answers++;
    this.#connections.release(this.#connection);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  /** The call ends before the response. */
  fail(error: Error): void {
    this.#outcome.reject(error);
    this.#end();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#connection.destroy(new WebhookError("closed", "EOF"));
  }
}
