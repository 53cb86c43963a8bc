/** An exchange over HTTP/1.1. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AnswerHeaders, BodyStream, Exchange, PeerCertificate } from "../contract.ts";
import type { Peer } from "./peer.ts";
import { readBody } from "./read-body.ts";
import { writableBody } from "./writable-body.ts";

export class Http1Exchange implements Exchange {
  readonly protocol = "HTTP/1.1";
  answered = false;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #peer: Peer;

  constructor(request: IncomingMessage, response: ServerResponse, peer: Peer) {
    this.#request = request;
    this.#response = response;
    this.#peer = peer;
    request.on("error", () => response.destroy());
    response.on("error", () => response.destroy());
  }

  get method(): string {
    return this.#request.method ?? "";
  }

  get target(): string {
    return this.#request.url ?? "";
  }

  get remoteAddress(): string {
    return this.#peer.address;
  }

  get peerCertificate(): PeerCertificate | undefined {
    return this.#peer.certificate;
  }

  get closed(): boolean {
    return this.#response.destroyed || this.#response.closed;
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  body(bytesMax: number): Promise<Buffer> {
    return readBody(this.#request, bytesMax, this.header("content-length"));
  }

  respond(status: number, headers: AnswerHeaders, body?: Buffer): void {
    this.answered = true;
    if (this.closed) return;
    this.#response.writeHead(status, { ...headers, "content-length": String(body?.length ?? 0) });
    this.#response.end(this.method === "HEAD" ? undefined : body);
    this.#request.resume();
  }

  stream(status: number, headers: AnswerHeaders): BodyStream {
    this.answered = true;
    const response = this.#response;
    if (!this.closed) {
      response.writeHead(status, headers);
      response.flushHeaders();
    }
    this.#request.resume();
    return writableBody(response, () => response.destroy());
  }

  onClose(run: () => void): void {
    this.#response.once("close", run);
  }
}
