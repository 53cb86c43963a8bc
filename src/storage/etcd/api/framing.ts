/** Messages in the body of a gRPC call. Source: gRPC, "gRPC over HTTP2", "Length-Prefixed-Message". */
import { CallError } from "./status.ts";

/** A flag for compression, and the length. */
const prefixBytes = 5;

/** Adds the prefix to a message. */
export function frame(message: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(prefixBytes + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  message.copy(framed, prefixBytes);
  return framed;
}

/** Finds messages in the pieces of a body. */
export class MessageReader {
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** The bytes of the next message with its prefix, as far as they are known. */
  #needed = prefixBytes;

  /**
   * Adds a piece.
   * @param received called with each message, a slice of the pieces when it is in one of them
   * @throws CallError when a message is compressed, which no request has permitted
   */
  add(piece: Buffer, received: (message: Buffer) => void): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes < this.#needed) return;
    let rest = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces, this.#bytes);
    for (;;) {
      this.#needed = neededBytes(rest);
      if (rest.length < this.#needed) break;
      received(rest.subarray(prefixBytes, this.#needed));
      rest = rest.subarray(this.#needed);
    }
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
  }
}

/** @throws CallError */
function neededBytes(bytes: Buffer): number {
  if (bytes.length < prefixBytes) return prefixBytes;
  if (bytes[0] !== 0) throw new CallError("Internal", "the message is compressed");
  return prefixBytes + bytes.readUInt32BE(1);
}
