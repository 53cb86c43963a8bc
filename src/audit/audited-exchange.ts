/** An exchange that notifies a listener of the response before it is sent. */
import type {
  AnswerHeaders,
  BodyStream,
  Exchange,
  PeerCertificate,
  RemoteEnd,
  UpgradeRequest,
  WebSocketRequest,
} from "../request/exchange.ts";

/**
 * Receives the progress of a response. A returned promise delays the response: a complete response
 * is sent after it settles, a stream ends after the promise of `completed`. The start of a stream
 * is never delayed.
 */
interface ResponseListener {
  /** The response starts. */
  started(code: number): Promise<unknown> | undefined;
  /**
   * The response is complete, or the client closed the connection. Can be called twice.
   *
   * @param code 0 when there was no response
   */
  completed(code: number): Promise<unknown> | undefined;
}

/** Forwards to an exchange, and notifies the listener. */
export class AuditedExchange implements Exchange {
  readonly #inner: Exchange;
  readonly #listener: ResponseListener;
  #isDelayed = false;
  readonly webSocket: WebSocketRequest | undefined;
  readonly upgrade: UpgradeRequest | undefined;

  constructor(inner: Exchange, listener: ResponseListener) {
    this.#inner = inner;
    this.#listener = listener;
    this.webSocket = inner.webSocket && this.#auditedSocket(inner.webSocket);
    this.upgrade = inner.upgrade && this.#auditedUpgrade(inner.upgrade);
    inner.onClose(() => {
      listener.completed(inner.status);
    });
  }

  get method(): string {
    return this.#inner.method;
  }

  get target(): string {
    return this.#inner.target;
  }

  get protocol(): Exchange["protocol"] {
    return this.#inner.protocol;
  }

  get rawHeaders(): readonly string[] {
    return this.#inner.rawHeaders;
  }

  get remote(): RemoteEnd {
    return this.#inner.remote;
  }

  get peerCertificate(): PeerCertificate | undefined {
    return this.#inner.peerCertificate;
  }

  get closed(): boolean {
    return this.#inner.closed;
  }

  /** False while a response is delayed, so that the request timeout still applies. */
  get answered(): boolean {
    return this.#inner.answered;
  }

  get status(): number {
    return this.#inner.status;
  }

  get sentBytes(): number {
    return this.#inner.sentBytes;
  }

  get receivedBytes(): number {
    return this.#inner.receivedBytes;
  }

  header(name: string): string | undefined {
    return this.#inner.header(name);
  }

  body(bytesMax: number): Promise<Buffer> {
    return this.#inner.body(bytesMax);
  }

  get hasBody(): boolean {
    return this.#inner.hasBody;
  }

  bodyPieces(): AsyncIterable<Buffer> {
    return this.#inner.bodyPieces();
  }

  forgetHeaders(isMeant: (name: string) => boolean): void {
    this.#inner.forgetHeaders(isMeant);
  }

  endConnection(when?: "afterRequest" | "now"): void {
    this.#inner.endConnection(when);
  }

  onClose(run: () => void): void {
    this.#inner.onClose(run);
  }

  abort(): void {
    this.#inner.abort();
  }

  onFailure(run: (error: unknown) => void): void {
    this.#inner.onFailure(run);
  }

  fail(error: unknown): void {
    this.#inner.fail(error);
  }

  get entered(): Exchange["entered"] {
    return this.#inner.entered;
  }

  respond(status: number, headers: AnswerHeaders, body?: Buffer): void {
    const inner = this.#inner;
    if (inner.closed || inner.answered || this.#isDelayed) return inner.respond(status, headers, body);
    const started = this.#listener.started(status);
    const completed = this.#listener.completed(status);
    if (started === undefined && completed === undefined) return inner.respond(status, headers, body);
    this.#isDelayed = true;
    const respond = (): void => {
      inner.entered?.("recorded");
      if (!inner.answered) inner.respond(status, headers, body);
    };
    // If the error cannot be answered either, `fail` aborts.
    Promise.all([started, completed])
      .then(respond)
      .catch((error: unknown) => {
        this.#isDelayed = false;
        inner.fail(error);
      });
  }

  stream(status: number, headers: AnswerHeaders): BodyStream {
    if (!this.#inner.closed && !this.#inner.answered) this.#listener.started(status);
    return this.#auditedBody(this.#inner.stream(status, headers), status);
  }

  #auditedSocket(request: WebSocketRequest): WebSocketRequest {
    return {
      protocols: request.protocols,
      accept: async (protocol) => {
        const body = await request.accept(protocol);
        this.#listener.started(101);
        return this.#auditedBody(body, 101);
      },
    };
  }

  #auditedUpgrade(request: UpgradeRequest): UpgradeRequest {
    return {
      protocol: request.protocol,
      take: (status) => {
        this.#listener.started(status);
        return request.take(status);
      },
    };
  }

  #auditedBody(body: BodyStream, status: number): BodyStream {
    const listener = this.#listener;
    const inner = this.#inner;
    return {
      write: (piece, onSent) => body.write(piece, onSent),
      drained: () => body.drained(),
      reserve: () => body.reserve?.(),
      unreserve: () => body.unreserve?.(),
      get pendingBytes() {
        return body.pendingBytes;
      },
      end() {
        const recorded = listener.completed(status);
        if (recorded === undefined) body.end();
        else recorded.then(() => body.end()).catch((error: unknown) => inner.fail(error));
      },
      abort: () => body.abort(),
    };
  }
}
