/**
 * Translates WebSockets of `v5.channel.k8s.io` to SPDY. Source:
 * k8s.io/apiserver@v0.36.0/pkg/util/proxy/streamtranslator.go and websocket.go; KEP-4006.
 */
import type { Readable } from "node:stream";
import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { repeat } from "../../apimachinery/repeat.ts";
import type { RequestState } from "../../request/context.ts";
import type { Exchange, UpgradeRequest } from "../../request/exchange.ts";
import { WebhookError } from "../../webhook/contract.ts";
import { throttled } from "../proxy/throttled.ts";
import type { KubeletObserver } from "./contract.ts";
import { failedWith, outcomeOf, type RemoteOutcome } from "./remote-status.ts";
import { openRemoteStreams, type RemoteStreams, type RemoteTarget, type RequestedStreams } from "./remote-streams.ts";
import { openServerWebSocket } from "./server-web-socket.ts";
import { copySizes } from "./terminal-sizes.ts";
import { type WebSocketChannels, webSocketChannels } from "./web-socket-channels.ts";
import { chooseProtocol, isWebSocket, protocolsOf, rejectHandshake } from "./web-socket-handshake.ts";

const protocol = "v5.channel.k8s.io";

/** Bytes of an error that are kept; more are dropped. */
const errorBytesMax = 64 << 10;
/** The interval of pings to the kubelet. */
const pingMs = 5000;

interface TranslatorParts extends Omit<RemoteTarget, "exchange"> {
  readonly observer: KubeletObserver;
  readonly bytesPerSecondMax: number;
}

/** Whether the client requests a WebSocket that this server translates. */
export function isTranslated(exchange: Exchange, upgrade: UpgradeRequest): boolean {
  return isWebSocket(upgrade) && protocolsOf(exchange).includes(protocol);
}

/**
 * Serves the WebSocket until the command has ended or the client has disconnected. Errors after the handshake are sent
 * on the error channel.
 *
 * @param connection PodExecOptions or PodAttachOptions
 */
export async function translateStreams(
  { exchange }: RequestState,
  upgrade: UpgradeRequest,
  connection: KubeObject,
  parts: TranslatorParts,
): Promise<void> {
  const { observer, clock } = parts;
  if (rejectHandshake(exchange, chooseProtocol(protocolsOf(exchange), [protocol]))) return observer.translated(400);
  const requested = requestedStreams(connection);
  const webSocket = await openServerWebSocket(exchange, upgrade, protocol);
  const channels = webSocketChannels(webSocket, clock, {
    stdin: requested.stdin,
    resize: requested.tty,
    exchange,
  });
  channels.announce(requested.stdout ? "stdout" : requested.stderr ? "stderr" : "error");
  const { status, code } = await run(channels, requested, { ...parts, exchange });
  observer.translated(code);
  channels.finish(status);
}

function requestedStreams({ stdin, stdout, stderr, tty }: KubeObject): RequestedStreams {
  return { stdin: stdin === true, stdout: stdout === true, stderr: stderr === true, tty: tty === true };
}

/** Closes the connection to the kubelet when the command has ended, or the client has disconnected. */
async function run(
  channels: WebSocketChannels,
  requested: RequestedStreams,
  target: RemoteTarget & Pick<TranslatorParts, "bytesPerSecondMax">,
): Promise<RemoteOutcome> {
  const ended = new AbortController();
  const end = (): void => ended.abort(new WebhookError("canceled", "context canceled"));
  channels.onClose(end);
  try {
    const streams = await openRemoteStreams(target, requested, ended.signal);
    const cancelPings = repeat(target.clock, pingMs, () => streams.connection.ping());
    streams.connection.onClose(cancelPings);
    return await copyStreams(channels, streams, target);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return failedWith(error);
  } finally {
    end();
  }
}

async function copyStreams(
  channels: WebSocketChannels,
  streams: RemoteStreams,
  { exchange, clock, bytesPerSecondMax }: RemoteTarget & Pick<TranslatorParts, "bytesPerSecondMax">,
): Promise<RemoteOutcome> {
  const { error, stdin, stdout, stderr, resize, version } = streams;
  const text = readStart(error);
  const limited = (stream: Readable | undefined): Readable | undefined =>
    stream && throttled(stream, bytesPerSecondMax, clock);
  if (stdin !== undefined) {
    stdin.resume().once("end", () => stdin.end()); // The kubelet ends it when the command reads no more.
    throttled(channels.stdin, bytesPerSecondMax, clock).pipe(stdin);
  }
  if (resize !== undefined) {
    resize.resume();
    copySizes(channels.resize, resize, exchange);
  }
  await Promise.all([channels.send("stdout", limited(stdout)), channels.send("stderr", limited(stderr))]);
  return outcomeOf(await text, version);
}

/** Reads to the end, and keeps the start. */
function readStart(stream: Readable): Promise<Buffer> {
  return new Promise((resolve) => {
    let kept = Buffer.alloc(0);
    stream.on("data", (piece: Buffer) => {
      kept = Buffer.concat([kept, piece.subarray(0, errorBytesMax - kept.length)]);
    });
    stream.once("end", () => resolve(kept));
    stream.once("close", () => resolve(kept));
  });
}
