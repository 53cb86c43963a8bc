/** Logs over WebSockets. Source: k8s.io/streaming@v0.36.0/pkg/httpstream/wsstream/stream.go. */
import type { IncomingMessage } from "node:http";
import type { Exchange, WebSocketRequest } from "../../request/exchange.ts";
import { frameOf } from "../../request/web-socket/frames.ts";
import { failureText } from "../proxy/failure-text.ts";
import { chooseProtocol, rejectHandshake } from "./web-socket-handshake.ts";

/** The messages of each subprotocol. */
const protocols = { "": "binary", "binary.k8s.io": "binary", "base64.binary.k8s.io": "base64" } as const;

/**
 * Sends an empty message, and then the log in messages. Unlike upstream, sends the last bytes of a short log, too.
 */
export async function sendLogOverWebSocket(
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
