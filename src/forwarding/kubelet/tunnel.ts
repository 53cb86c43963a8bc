/**
 * Carries SPDY of `portforward` over WebSockets: the bytes of binary messages are those of the connection to the
 * kubelet. Source: k8s.io/apiserver@v0.36.0/pkg/util/proxy/streamtunnel.go; KEP-4006.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import { answerHeaders } from "../../request/answer.ts";
import type { RequestState } from "../../request/context.ts";
import type { Exchange, UpgradeRequest } from "../../request/exchange.ts";
import { handshakeRejection } from "../../request/web-socket/rejection.ts";
import type { OpenBackend } from "../proxy/contract.ts";
import { endOf } from "../proxy/end-of.ts";
import { forwardFailure, joinSockets, sendUpgrade } from "../proxy/proxy-upgrade.ts";
import { requestHeaders } from "../proxy/request-headers.ts";
import type { KubeletLocation, KubeletObserver } from "./contract.ts";
import { hostOf, pathOf } from "./pod-location.ts";
import { openServerWebSocket } from "./server-web-socket.ts";
import { isWebSocket, protocolsOf } from "./web-socket-handshake.ts";

/** Before the protocol of the tunnel, such as `portforward.k8s.io`. */
const prefix = "SPDY/3.1+";

interface TunnelParts {
  readonly location: KubeletLocation;
  readonly open: OpenBackend;
  readonly observer: KubeletObserver;
  readonly clock: Clock;
  readonly bytesPerSecondMax: number;
}

/** Whether the client requests a WebSocket that carries SPDY. */
export function isTunnel(exchange: Exchange, upgrade: UpgradeRequest): boolean {
  return isWebSocket(upgrade) && tunneledProtocols(exchange).length > 0;
}

function tunneledProtocols(exchange: Exchange): string[] {
  return protocolsOf(exchange)
    .filter((name) => name.startsWith(prefix) && name.endsWith(".k8s.io"))
    .map((name) => name.slice(prefix.length));
}

/**
 * Connects to the kubelet first, and resolves when a connection has ended.
 * @throws ApiError 500 if the kubelet does not answer
 */
export async function tunnelStreams(
  context: RequestState,
  upgrade: UpgradeRequest,
  { location, open, observer, clock, bytesPerSecondMax }: TunnelParts,
): Promise<void> {
  const { exchange } = context;
  const headers = requestHeaders(exchange, {
    host: exchange.header("host") ?? hostOf(location),
    forwardedUri: undefined,
    upgrade: "SPDY/3.1",
    headers: {
      "content-length": exchange.method === "GET" ? "0" : "", // A POST has it.
      "sec-websocket-key": "",
      "sec-websocket-version": "",
      "sec-websocket-protocol": "",
      "x-stream-protocol-version": tunneledProtocols(exchange),
    },
  });
  const request = { method: "POST", path: pathOf(location), headers };
  const { message, upgraded } = await sendUpgrade(open, request, endOf(context));
  if (upgraded === undefined) {
    observer.tunneled(message.statusCode as number);
    return forwardFailure(context, message, { target: { host: hostOf(location) }, clock });
  }
  const { socket, head } = upgraded;
  const rejected = isSpdy(message.headers) ? handshakeProblem(exchange) : missingHeaders;
  if (rejected !== undefined) {
    observer.tunneled(500);
    socket.destroy();
    return exchange.respond(
      rejected.status,
      { ...answerHeaders(context), ...rejected.headers },
      Buffer.from(rejected.text),
    );
  }
  const protocol = `${prefix}${message.headers["x-stream-protocol-version"]}`;
  const webSocket = await openServerWebSocket(
    exchange,
    upgrade,
    protocolsOf(exchange).includes(protocol) ? protocol : undefined,
  );
  observer.tunneled(101);
  webSocket.on("message", (_data, isBinary) => {
    if (!isBinary) webSocket.terminate();
  });
  if (head.length > 0) socket.unshift(head);
  const { createWebSocketStream } = await import("ws"); // Few servers need it.
  await joinSockets(createWebSocketStream(webSocket), socket, { clock, bytesPerSecondMax });
}

function isSpdy({
  connection = "",
  upgrade = "",
}: {
  readonly connection?: string;
  readonly upgrade?: string;
}): boolean {
  return /upgrade/i.test(connection) && /spdy\/3\.1/i.test(upgrade);
}

interface TextResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

const plainText = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };

const missingHeaders: TextResponse = {
  status: 500,
  headers: plainText,
  text: "unable to upgrade: missing upgrade headers in response\n",
};

/** Malformed handshakes, with the responses of github.com/gorilla/websocket. */
function handshakeProblem(exchange: Exchange): TextResponse | undefined {
  const rejection = handshakeRejection(exchange);
  if (rejection === undefined) return undefined;
  const isMethod = rejection.status === 405;
  return {
    status: rejection.status,
    headers: { ...plainText, "sec-websocket-version": "13" },
    text: isMethod ? "Method Not Allowed\n" : "Bad Request\n",
  };
}
