/** Sends one request on a connection, and reads the response. */
import type { Dispatcher } from "undici";
import { BytePieces } from "../lib/byte-pieces/byte-pieces.ts";
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
 * @param fail converts the error of a failed exchange: a WebhookError, an UnfinishedAnswer, or an
 *   error of the connection
 */
export function exchange(
  connections: Connections,
  request: ExchangeRequest,
  deadline: Deadline,
  fail: (error: unknown) => unknown = (error) => error,
): Promise<WebhookAnswer> {
  return new Promise((resolve, reject) => {
    const failed = (error: unknown): void => reject(fail(error));
    const send = (connection: Connection): void => {
      if (deadline.reason !== undefined) {
        connections.release(connection);
        return failed(deadline.reason);
      }
      const { method, path, headers, body, answerBytesMax } = request;
      const reader = new AnswerReader(answerBytesMax, {
        paused: (resume) => connections.resumeLater(resume),
        done(answer) {
          connections.answered(connection);
          resolve(answer);
        },
        failed(error) {
          const isStale = connection.answers > 0 && isFromClosedConnection(error);
          connection.destroy(error);
          if (isStale) return start(); // Ends, because each attempt removes a used connection.
          if (deadline.reason === undefined) connections.reportFault();
          failed(error);
        },
      });
      deadline.onEnd((reason) => reader.end(reason));
      connection.dispatcher.dispatch({ path, method, headers, body: body ?? null }, reader);
    };
    const start = (): void => {
      if (deadline.reason !== undefined) return failed(deadline.reason);
      connections.acquire(deadline).then(send).catch(failed);
    };
    start();
  });
}

interface Outcome {
  /** The response is being received; `resume` continues. */
  paused(resume: () => void): void;
  done(answer: WebhookAnswer): void;
  failed(error: Error): void;
}

/** Codes of errors after which a connection that was used before is replaced. */
const staleCodes: ReadonlySet<string> = new Set(["UND_ERR_SOCKET", "UND_ERR_DESTROYED", "ECONNRESET", "EPIPE"]);

/** Whether the server has closed the connection instead of starting a response. */
function isFromClosedConnection(error: NodeJS.ErrnoException & Partial<WebhookError>): boolean {
  return !(error instanceof UnfinishedAnswer) && (staleCodes.has(error.code ?? "") || error.kind === "closed");
}

/**
 * After so many bytes of a response other events are handled. Otherwise, a fast server keeps the
 * process busy with megabytes of several responses at once.
 */
const turnBytes = 128 << 10;

/** Collects a response. The first of its outcomes counts. */
class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #bytesMax: number;
  readonly #outcome: Outcome;
  readonly #pieces = new BytePieces();
  #bytesOfTurn = 0;
  #status = 0;
  #headers: WebhookAnswer["headers"] = {};
  #isSettled = false;

  constructor(bytesMax: number, outcome: Outcome) {
    this.#bytesMax = bytesMax;
    this.#outcome = outcome;
  }

  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: WebhookAnswer["headers"]): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (Number(headers["content-length"]) > this.#bytesMax) this.#fail(this.#tooLarge());
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#pieces.add(piece);
    if (this.#pieces.length > this.#bytesMax) return this.#fail(this.#tooLarge());
    this.#bytesOfTurn += piece.length;
    if (this.#bytesOfTurn < turnBytes) return;
    this.#bytesOfTurn = 0;
    controller.pause();
    this.#outcome.paused(() => controller.resume());
  }

  onResponseEnd(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#outcome.done({ status: this.#status, headers: this.#headers, body: this.#pieces.join() });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const isUnfinished = this.#status !== 0;
    this.#fail(isUnfinished ? new UnfinishedAnswer("the response ended early", { cause: error }) : error);
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
