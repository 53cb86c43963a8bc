/** Sends one request on a connection, and reads the response. */
import type { Dispatcher } from "undici";
import type { Connection, Connections } from "./connections.ts";
import { type WebhookAnswer, WebhookError } from "./contract.ts";
import type { Deadline } from "./deadline.ts";

/** A request, with a path that starts with a slash. */
export interface ExchangeRequest {
  readonly method: "POST" | "GET";
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: Uint8Array | undefined;
  /** The maximum size of the body of the response. */
  readonly answerBytesMax: number;
}

/** The response began, but did not end. The cause is the error of the connection. */
export class UnfinishedAnswer extends Error {}

/**
 * Sends a request. When the server has closed a connection that was used before, tries again until
 * a new connection is used.
 *
 * @throws WebhookError, UnfinishedAnswer, or an error of the connection
 */
export async function exchange(
  connections: Connections,
  request: ExchangeRequest,
  deadline: Deadline,
): Promise<WebhookAnswer> {
  for (;;) {
    deadline.check();
    const acquired = connections.acquire(deadline);
    const connection = acquired instanceof Promise ? await acquired : acquired;
    try {
      return await exchangeOn(connection, connections, request, deadline);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error; // Ends, because each attempt removes a used connection.
    }
  }
}

class StaleConnection extends Error {}

function exchangeOn(
  connection: Connection,
  connections: Connections,
  { method, path, headers, body, answerBytesMax }: ExchangeRequest,
  deadline: Deadline,
): Promise<WebhookAnswer> {
  return new Promise((resolve, reject) => {
    if (deadline.reason !== undefined) {
      connections.release(connection);
      return reject(deadline.reason);
    }
    const reader = new AnswerReader(answerBytesMax, connection.answers > 0, {
      done(answer) {
        connection.answers++;
        connections.release(connection);
        resolve(answer);
      },
      failed(error) {
        connection.destroy(error);
        reject(error);
      },
    });
    deadline.onEnd((reason) => reader.end(reason));
    connection.dispatcher.dispatch({ path, method, headers, body: body ?? null }, reader);
  });
}

interface Outcome {
  done(answer: WebhookAnswer): void;
  failed(error: Error): void;
}

/** Codes of errors after which a connection that was used before is replaced. */
const staleCodes: ReadonlySet<string> = new Set(["UND_ERR_SOCKET", "UND_ERR_DESTROYED", "ECONNRESET", "EPIPE"]);

/** Collects a response. The first of its outcomes counts. */
class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #bytesMax: number;
  readonly #wasUsed: boolean;
  readonly #outcome: Outcome;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #status = 0;
  #headers: WebhookAnswer["headers"] = {};
  #isSettled = false;

  constructor(bytesMax: number, wasUsed: boolean, outcome: Outcome) {
    this.#bytesMax = bytesMax;
    this.#wasUsed = wasUsed;
    this.#outcome = outcome;
  }

  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: WebhookAnswer["headers"]): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (Number(headers["content-length"]) > this.#bytesMax) this.#fail(this.#tooLarge());
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#bytesMax) return this.#fail(this.#tooLarge());
    this.#pieces.push(piece);
  }

  onResponseEnd(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const body = this.#pieces.length === 1 ? (this.#pieces[0] as Buffer) : Buffer.concat(this.#pieces);
    this.#outcome.done({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#status !== 0) return this.#fail(new UnfinishedAnswer("the response ended early", { cause: error }));
    const { code = "", kind } = error as NodeJS.ErrnoException & Partial<WebhookError>;
    const isStale = this.#wasUsed && (staleCodes.has(code) || kind === "closed");
    this.#fail(isStale ? new StaleConnection("the used connection is closed", { cause: error }) : error);
  }

  /** The call ends before the response. */
  end(reason: WebhookError): void {
    this.#fail(this.#status === 0 ? reason : new UnfinishedAnswer("the call has ended", { cause: reason }));
  }

  #tooLarge(): WebhookError {
    return new WebhookError("tooLarge", `the response of the webhook is larger than ${this.#bytesMax} bytes`);
  }

  #fail(error: Error): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#outcome.failed(error);
  }
}
