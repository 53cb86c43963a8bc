/** An exchange on one HTTP/2 stream. */
import http2 from "node:http2";
import type { AnswerHeaders, BodyStream, Exchange, PeerCertificate } from "../contract.ts";
import type { Peer } from "./peer.ts";
import { readBody } from "./read-body.ts";
import { writableBody } from "./writable-body.ts";

export class Http2Exchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly protocol = "HTTP/2.0";
  answered = false;
  readonly #stream: http2.ServerHttp2Stream;
  readonly #headers: http2.IncomingHttpHeaders;
  readonly #peer: Peer;

  constructor(stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders, peer: Peer) {
    this.#stream = stream;
    this.#headers = headers;
    this.#peer = peer;
    this.method = headers[":method"] ?? "";
    this.target = headers[":path"] ?? "";
    stream.on("error", () => stream.destroy());
  }

  get remoteAddress(): string {
    return this.#peer.address;
  }

  get peerCertificate(): PeerCertificate | undefined {
    return this.#peer.certificate;
  }

  get closed(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  body(bytesMax: number): Promise<Buffer> {
    return readBody(this.#stream, bytesMax, this.header("content-length"));
  }

  respond(status: number, headers: AnswerHeaders, body?: Buffer): void {
    this.answered = true;
    if (this.closed) return;
    const stream = this.#stream;
    const length = body?.length ?? 0;
    if (this.method === "HEAD" || body === undefined || length === 0) {
      stream.respond({ ":status": status, ...headers, "content-length": String(length) }, { endStream: true });
    } else {
      stream.respond({ ":status": status, ...headers, "content-length": String(length) });
      stream.end(body);
    }
    this.#dropRequest();
  }

  stream(status: number, headers: AnswerHeaders): BodyStream {
    this.answered = true;
    const stream = this.#stream;
    if (!this.closed) stream.respond({ ":status": status, ...headers });
    this.#dropRequest();
    return writableBody(stream, () => stream.close(http2.constants.NGHTTP2_CANCEL));
  }

  onClose(run: () => void): void {
    this.#stream.once("close", run);
  }

  /** What of the request was not read is thrown away: the stream closes when both sides have ended. */
  #dropRequest(): void {
    if (!this.#stream.readableEnded) this.#stream.resume();
  }
}
