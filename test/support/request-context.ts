/** Sends requests to a handler without a socket. */

import type { RequestContext } from "../../src/http/contract.ts";
import { json } from "../../src/http/representation/json.ts";
import { protobuf } from "../../src/http/representation/protobuf.ts";
import { yaml } from "../../src/http/representation/yaml.ts";
import type { AnswerHeaders, Exchange } from "../../src/request/exchange.ts";
import { requestInfo } from "../../src/request/request-info.ts";

export interface Answer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: Buffer;
}

/**
 * Sends one request to a handler.
 *
 * @param headers lower-case names
 * @throws errors of the handler; an Error if it does not answer
 */
export async function ask(
  handler: (context: RequestContext) => void | Promise<void>,
  request: { method?: string; path: string; headers?: Readonly<Record<string, string>>; body?: Buffer },
): Promise<Answer> {
  const { method = "GET", path, headers = {}, body: sent = Buffer.alloc(0) } = request;
  let answer: Answer | undefined;
  const exchange: Exchange = {
    method,
    target: path,
    protocol: "HTTP/2.0",
    header: (name) => headers[name],
    rawHeaders: Object.entries(headers).flat(),
    remote: { address: "127.0.0.1", port: 1 },
    peerCertificate: undefined,
    body: async () => sent,
    hasBody: sent.length > 0,
    async *bodyPieces() {
      yield sent;
    },
    respond(status, answerHeaders, body = Buffer.alloc(0)) {
      answer = { status, headers: answerHeaders, body };
    },
    stream() {
      throw new Error("no streams here");
    },
    webSocket: undefined,
    upgrade: undefined,
    forgetHeaders() {},
    endConnection() {},
    onClose() {},
    abort() {},
    onFailure() {},
    fail(error) {
      throw error;
    },
    entered: undefined,
    closed: false,
    get answered() {
      return answer !== undefined;
    },
    get status() {
      return answer?.status ?? 0;
    },
    get sentBytes() {
      return answer?.body.length ?? 0;
    },
    receivedBytes: sent.length,
  };
  await handler({
    exchange,
    info: requestInfo(method, path),
    receivedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
    endsAt: Number.POSITIVE_INFINITY,
    auditId: "audit",
    user: { name: "tester", uid: "", groups: [], extra: new Map() },
    resolved: undefined,
    encodings: [json, yaml, ...protobuf],
    representation: { shape: { kind: "object" }, encoding: json },
    audit: undefined,
    annotations: undefined,
    gzip: false,
    explanation: undefined,
    execution: undefined,
    warnings: [],
    headers: {},
  });
  if (answer === undefined) throw new Error(`${method} ${path} was not answered`);
  return answer;
}
