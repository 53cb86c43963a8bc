/** Events as messages of a WebSocket. Source: RFC 6455 §5.2; upstream sends an event a message, text or binary as the encoding is. */
import type { EventFraming, FramedEvent } from "./event-framing.ts";

/** @returns frames that are the same for every client, since what a server sends is not masked */
export function webSocketFrames(framing: EventFraming): EventFraming {
  const { contentType, message, isText } = framing;
  return { contentType, message, isText, join: (events) => joinMessages(events, framing) };
}

/** With the bit that says that the message ends here. */
const firstByte = { text: 0x81, binary: 0x82 } as const;
const headBytesMax = 10;

function joinMessages(events: readonly FramedEvent[], { message, isText }: EventFraming): Buffer {
  const messages = events.map(message);
  const bytes = Buffer.allocUnsafeSlow(messages.reduce((sum, { length }) => sum + headBytesMax + length, 0));
  let at = 0;
  for (const one of messages) {
    bytes[at++] = isText ? firstByte.text : firstByte.binary;
    at = writeLength(bytes, at, one.length);
    at += one.copy(bytes, at);
  }
  return bytes.subarray(0, at);
}

/** In one byte, or in the two or eight after a mark. @returns the offset behind it */
function writeLength(bytes: Buffer, at: number, length: number): number {
  if (length < 126) return bytes.writeUInt8(length, at);
  if (length < 65_536) return bytes.writeUInt16BE(length, bytes.writeUInt8(126, at));
  return bytes.writeBigUInt64BE(BigInt(length), bytes.writeUInt8(127, at));
}
