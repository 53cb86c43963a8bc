/**
 * Watch events as WebSocket messages. Source: RFC 6455, section 5.2. Like upstream, one event per
 * message, text or binary by encoding.
 */
import type { EventFraming, FramedEvent } from "./event-framing.ts";

/** @returns a framing whose frames are the same for every client, because servers do not mask */
export function webSocketFrames(framing: EventFraming): EventFraming {
  const { contentType, message, isText } = framing;
  return { contentType, message, isText, join: (events) => joinMessages(events, framing) };
}

/** With the FIN bit. */
const firstByte = { text: 0x81, binary: 0x82 } as const;
const headBytesMax = 10;

/** One message in one frame. */
export function frameOf(payload: Buffer, { isText }: Pick<EventFraming, "isText">): Buffer {
  return joinFrames([payload], { isText });
}

function joinMessages(events: readonly FramedEvent[], { message, isText }: EventFraming): Buffer {
  return joinFrames(events.map(message), { isText });
}

function joinFrames(messages: readonly Buffer[], { isText }: Pick<EventFraming, "isText">): Buffer {
  const bytes = Buffer.allocUnsafeSlow(messages.reduce((sum, { length }) => sum + headBytesMax + length, 0));
  let at = 0;
  for (const one of messages) {
    bytes[at++] = isText ? firstByte.text : firstByte.binary;
    at = writeLength(bytes, at, one.length);
    at += one.copy(bytes, at);
  }
  return bytes.subarray(0, at);
}

/**
 * Writes the length in one byte, or in two or eight after a marker.
 * @returns the end offset
 */
function writeLength(bytes: Buffer, at: number, length: number): number {
  if (length < 126) return bytes.writeUInt8(length, at);
  if (length < 65_536) return bytes.writeUInt16BE(length, bytes.writeUInt8(126, at));
  return bytes.writeBigUInt64BE(BigInt(length), bytes.writeUInt8(127, at));
}
