/**
 * The logs of pods. Source: k8s.io/kubernetes@v1.36.0/pkg/registry/core/pod/rest/log.go, and
 * k8s.io/apiserver@v0.36.0/pkg/registry/generic/rest/streamer.go.
 */
import type { IncomingMessage } from "node:http";
import { methodNotAllowed, plainError } from "../../apimachinery/errors.ts";
import { readLogOptions } from "../../apis/core/pod/connections.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { answerHeaders, stream } from "../../request/answer.ts";
import type { RequestState } from "../../request/context.ts";
import type { BodyStream, Exchange, WebSocketRequest } from "../../request/exchange.ts";
import { frameOf } from "../../request/web-socket/frames.ts";
import type { OpenBackend } from "../proxy/contract.ts";
import { endOf } from "../proxy/end-of.ts";
import { failureText } from "../proxy/failure-text.ts";
import { sendRequest } from "../proxy/send-request.ts";
import type { KubeletLocation, KubeletObserver } from "./contract.ts";
import type { KubeletClient } from "./kubelet-client.ts";
import { logError } from "./log-error.ts";
import { logLocation, requestOf, urlOf } from "./pod-location.ts";
import { chooseProtocol, rejectHandshake } from "./web-socket-handshake.ts";

/**
 * Answers with the log of a container, at the pace of the client; without content if the pod has no node. A kubelet
 * that breaks off ends the response, like upstream.
 * @throws ApiError 400, 404, 405, 422; 500 if the kubelet does not answer; errors of the kubelet
 */
export async function serveLog(
  context: RequestState,
  registry: RegistryContext,
  client: KubeletClient,
  observer: KubeletObserver,
): Promise<void> {
  const { exchange, info } = context;
  if (exchange.method !== "GET") throw methodNotAllowed();
  const splitStreams = registry.gates.enabled("PodLogsQuerySplitStreams");
  const options = readLogOptions(info.query, info.name, { splitStreams });
  const skipped = options.insecureSkipTlsVerifyBackend;
  observer.logRequested(skipped ? "skip_tls_allowed" : "enforce_tls");
  const location = await logLocation(context, registry, options, client.options);
  if (location === undefined) return exchange.respond(204, answerHeaders(context));
  await forwardLog(context, { location, open: client.opener(location.kubelet, { skipped }), observer });
}

interface LogParts {
  readonly location: KubeletLocation;
  readonly open: OpenBackend;
  readonly observer: Pick<KubeletObserver, "logVerificationFailed">;
}

/**
 * Requests the log from a kubelet, and answers with it.
 * @throws ApiError 500 if the kubelet does not answer; errors of the kubelet
 */
export async function forwardLog(context: RequestState, parts: LogParts): Promise<void> {
  const { exchange, info } = context;
  exchange.entered?.("open backend");
  const message = await request(context, parts);
  const error = await logError(message, urlOf(parts.location), info.name);
  if (error !== undefined) throw error;
  exchange.entered?.("read backend");
  if (exchange.webSocket !== undefined) return sendLogOverWebSocket(exchange, exchange.webSocket, message);
  await forward(message, stream(context, "text/plain", { compressed: false }));
}

/** @throws ApiError 500 with the error of Go's client */
async function request(context: RequestState, { location, open, observer }: LogParts): Promise<IncomingMessage> {
  const { path, headers } = requestOf(location);
  try {
    const { message } = await sendRequest(open, { method: "GET", path, headers }, endOf(context));
    return message;
  } catch (error) {
    const text = failureText(error);
    if (text === undefined) throw error;
    if (text.includes("x509:")) observer.logVerificationFailed();
    throw plainError(`Get "${urlOf(location)}": ${text}`);
  }
}

/** Ends the response where the log ends or breaks off. */
async function forward(message: IncomingMessage, body: BodyStream): Promise<void> {
  try {
    for await (const piece of message as AsyncIterable<Buffer>) if (!body.write(piece)) await body.drained();
  } catch (error) {
    if (failureText(error) === undefined) throw error;
  }
  body.end();
}

/** The messages of each subprotocol. */
const protocols = { "": "binary", "binary.k8s.io": "binary", "base64.binary.k8s.io": "base64" } as const;

/**
 * Sends an empty message, and then the log in messages. Unlike upstream, sends the last bytes of a short log, too.
 * Source: k8s.io/streaming@v0.36.0/pkg/httpstream/wsstream/stream.go.
 */
async function sendLogOverWebSocket(
  exchange: Exchange,
  request: WebSocketRequest,
  message: IncomingMessage,
): Promise<void> {
  const protocol = chooseProtocol(request.protocols, Object.keys(protocols));
  const form = protocols[protocol as keyof typeof protocols];
  if (rejectHandshake(exchange, protocol)) return void message.destroy();
  const isText = form === "base64";
  const body = await request.accept(protocol === "" ? undefined : protocol);
  body.write(frameOf(Buffer.alloc(0), { isText }));
  try {
    for await (const piece of message as AsyncIterable<Buffer>) {
      const payload = isText ? Buffer.from(piece.toString("base64")) : piece;
      if (!body.write(frameOf(payload, { isText }))) await body.drained();
    }
  } catch (error) {
    if (failureText(error) === undefined) throw error;
  }
  body.end();
}
