/** An exchange that tells a record of the answer before it is sent. */
import type { AnswerHeaders, BodyStream, Exchange, PeerCertificate, WebSocketRequest } from "../http/contract.ts";

/**
 * What is told; `completed` comes at the end of the answer, or when the client is gone, perhaps twice. What they return, the answer waits for: a whole
 * one goes out only then, and one in pieces ends only then. The beginning of pieces waits for nothing.
 */
export interface AnswerListener {
  started(code: number): Promise<unknown> | undefined;
  /** @param code 0 where there was no answer */
  completed(code: number): Promise<unknown> | undefined;
}

export class AuditedExchange implements Exchange {
  readonly #inner: Exchange;
  readonly #listener: AnswerListener;
  #isHeld = false;
  readonly webSocket: WebSocketRequest | undefined;

  constructor(inner: Exchange, listener: AnswerListener) {
    this.#inner = inner;
    this.#listener = listener;
    this.webSocket = inner.webSocket && this.#auditedSocket(inner.webSocket);
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

  get remoteAddress(): string {
    return this.#inner.remoteAddress;
  }

  get peerCertificate(): PeerCertificate | undefined {
    return this.#inner.peerCertificate;
  }

  get closed(): boolean {
    return this.#inner.closed;
  }

  /** False while an answer is held back, so that the time a request may take ends it then, too. */
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

  forgetHeaders(isMeant: (name: string) => boolean): void {
    this.#inner.forgetHeaders(isMeant);
  }

  endConnection(): void {
    this.#inner.endConnection();
  }

  onClose(run: () => void): void {
    this.#inner.onClose(run);
  }

  respond(status: number, headers: AnswerHeaders, body?: Buffer): void {
    const inner = this.#inner;
    if (inner.closed || inner.answered || this.#isHeld) return inner.respond(status, headers, body);
    const started = this.#listener.started(status);
    const completed = this.#listener.completed(status);
    if (started === undefined && completed === undefined) return inner.respond(status, headers, body);
    this.#isHeld = true;
    void Promise.all([started, completed]).then(() => {
      if (!inner.answered) inner.respond(status, headers, body);
    });
  }

  stream(status: number, headers: AnswerHeaders): BodyStream {
    if (!this.#inner.closed && !this.#inner.answered) this.#listener.started(status);
    return this.#auditedBody(this.#inner.stream(status, headers), status);
  }

  #auditedSocket(request: WebSocketRequest): WebSocketRequest {
    return {
      protocols: request.protocols,
      bearerTokens: request.bearerTokens,
      accept: async (protocol) => {
        const body = await request.accept(protocol);
        this.#listener.started(101);
        return this.#auditedBody(body, 101);
      },
    };
  }

  #auditedBody(body: BodyStream, status: number): BodyStream {
    const listener = this.#listener;
    return {
      write: (piece, taken) => body.write(piece, taken),
      drained: () => body.drained(),
      get pendingBytes() {
        return body.pendingBytes;
      },
      end() {
        const told = listener.completed(status);
        if (told === undefined) body.end();
        else void told.then(() => body.end());
      },
      abort: () => body.abort(),
    };
  }
}
