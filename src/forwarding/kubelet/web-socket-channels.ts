/**
 * The channels of a WebSocket of `v5.channel.k8s.io`: each message begins with the number of its channel. Source:
 * k8s.io/streaming@v0.36.0/pkg/httpstream/wsstream/conn.go; KEP-4006.
 */
import { PassThrough, type Readable } from "node:stream";
import type { WebSocket } from "ws";
import type { Clock } from "../../apimachinery/clock.ts";
import { repeat } from "../../apimachinery/repeat.ts";
import { encodeAny } from "../../lib/json/encode-any.ts";
import { type FailingExchange, guarded } from "../../request/boundary.ts";

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;
/** A message of this byte and the number of a channel ends the channel. */
const closeSignal = 255;

/** Bytes for stdin or resizing that wait for the kubelet, before the client must wait. */
const waitingBytesMax = 64 << 10;
/** A connection without messages for so long is closed, as upstream. */
const idleMs = 4 * 60 * 60 * 1000;

/**
 * The interval of pings to a client that must wait: its messages are not read, so that only a
 * failed write shows that it has disconnected.
 */
const pingMs = 10_000;

const normalClosure = 1000;

/** An open WebSocket. Sent messages are dropped after the client has disconnected. */
export interface WebSocketChannels {
  /** What the client sends; they end with the channel, and are destroyed with the WebSocket. */
  readonly stdin: Readable;
  readonly resize: Readable;
  /** An empty message announces that the connection is open. */
  announce(channel: "stdout" | "stderr" | "error"): void;
  /**
   * Sends a stream in messages, and reads the next piece when the socket has accepted one. Resolves at the end of the
   * stream.
   */
  send(channel: "stdout" | "stderr", output: Readable | undefined): Promise<void>;
  /** Sends the last message, and closes the WebSocket. */
  finish(status: object): void;
  onClose(run: () => void): void;
}

interface ReadChannels {
  readonly stdin: boolean;
  readonly resize: boolean;
  /** The request, which ends when a callback of the WebSocket throws. */
  readonly exchange: FailingExchange;
}

/** @param read the channels that are read; messages for others are dropped */
export function webSocketChannels(webSocket: WebSocket, clock: Clock, read: ReadChannels): WebSocketChannels {
  const stdin = inputOf(webSocket);
  const resize = inputOf(webSocket);
  const touch = closeWhenIdle(webSocket, clock);
  const inputs = [read.stdin ? stdin : undefined, undefined, undefined, undefined, read.resize ? resize : undefined];
  const receiveMessage = (data: Buffer): void => {
    touch();
    receive(webSocket, clock, inputs, data);
  };
  webSocket.on("message", guarded(read.exchange, "upgraded data", receiveMessage));
  return {
    stdin,
    resize,
    announce: (channel) => webSocket.send(message(channels[channel], Buffer.alloc(0)), () => {}),
    send: (channel, output) =>
      new Promise((resolve) => {
        if (output === undefined) return resolve();
        const sendPiece = (piece: Buffer): void => {
          touch();
          output.pause();
          webSocket.send(message(channels[channel], piece), () => output.resume());
        };
        output.on("data", guarded(read.exchange, "upgraded data", sendPiece));
        output.once("end", resolve);
        output.once("close", resolve);
      }),
    finish(status) {
      webSocket.send(message(channels.error, Buffer.from(encodeAny(status))), () => {});
      webSocket.close(normalClosure);
    },
    onClose: (run) => void webSocket.once("close", run),
  };
}

function inputOf(webSocket: WebSocket): PassThrough {
  const input = new PassThrough({ writableHighWaterMark: waitingBytesMax });
  webSocket.once("close", () => input.destroy());
  return input;
}

/** Reads no faster than the kubelet. */
function receive(webSocket: WebSocket, clock: Clock, inputs: readonly (PassThrough | undefined)[], data: Buffer): void {
  const [number, second] = data;
  if (number === undefined) return;
  if (number === closeSignal) {
    if (data.length !== 2 || (second as number) >= inputs.length) webSocket.close(normalClosure);
    else inputs[second as number]?.end();
    return;
  }
  const input = inputs[number];
  if (input === undefined || input.writableEnded) return;
  const isFull = input.writableNeedDrain; // Messages that were received before the pause still arrive.
  if (input.write(data.subarray(1)) || isFull) return;
  webSocket.pause();
  const cancelPings = repeat(clock, pingMs, () => webSocket.ping());
  const resume = (): void => {
    stop();
    if (!inputs.some((one) => one?.writableNeedDrain)) webSocket.resume();
  };
  const stop = (): void => {
    cancelPings();
    input.off("drain", resume).off("close", stop);
  };
  input.on("drain", resume).on("close", stop);
}

function message(channel: number, payload: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(1 + payload.length);
  bytes[0] = channel;
  payload.copy(bytes, 1);
  return bytes;
}

/** @returns a function to call when a message is sent or received */
function closeWhenIdle(webSocket: WebSocket, clock: Clock): () => void {
  let usedAt = clock.now();
  let cancel = (): void => {};
  const check = (): void => {
    const leftMs = usedAt + idleMs - clock.now();
    if (leftMs <= 0) webSocket.terminate();
    else cancel = clock.after(leftMs, check);
  };
  check();
  webSocket.once("close", () => cancel());
  return () => {
    usedAt = clock.now();
  };
}
