/** WebSocket messages of a server, which does not mask them. Source: RFC 6455, section 5.2. */

/** With the FIN bit. */
const firstByte = { text: 0x81, binary: 0x82 } as const;
const headBytesMax = 10;

/** Whether messages are text or binary. */
interface FrameType {
  readonly isText: boolean;
}

/** One message in one frame. */
export function frameOf(payload: Buffer, { isText }: FrameType): Buffer {
  return joinFrames([payload], { isText });
}

/** Several messages, each in one frame. */
export function joinFrames(messages: readonly Buffer[], { isText }: FrameType): Buffer {
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
