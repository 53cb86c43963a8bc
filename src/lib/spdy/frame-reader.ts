/** Reads frames from the bytes of a connection. Source: SPDY Protocol Draft 3.1, section 2.2. */
import { controlTypes, type Frame, finFlag, headBytes } from "./frames.ts";
import { HeaderDecoder } from "./headers.ts";
import { SpdyError } from "./spdy-error.ts";

/** The largest control frame. Kubernetes sends headers of about a hundred bytes. */
export const controlBytesMax = 16 << 10;

const idMask = 0x7fffffff;

interface Head {
  readonly first: number;
  readonly flags: number;
  readonly length: number;
}

/** Keeps at most one control frame; data is passed on as it arrives. */
export class FrameReader {
  readonly #headers = new HeaderDecoder();
  /** The bytes of an incomplete head or control frame. */
  #kept: Buffer = Buffer.alloc(0);
  /** The DATA frame whose payload arrives. */
  #data: { readonly id: number; readonly fin: boolean; left: number } | undefined;

  /**
   * @returns the frames that the bytes complete, and pieces of data
   * @throws SpdyError if the bytes are no frames of SPDY/3.1, or a control frame is too long; the
   *   connection must not be read any further then
   */
  *read(chunk: Buffer): Generator<Frame, void, undefined> {
    let bytes = this.#kept.length === 0 ? chunk : Buffer.concat([this.#kept, chunk]);
    this.#kept = Buffer.alloc(0);
    while (bytes.length > 0) {
      if (this.#data !== undefined) {
        const piece = bytes.subarray(0, this.#data.left);
        bytes = bytes.subarray(piece.length);
        yield this.#pieceOf(this.#data, piece);
        continue;
      }
      if (bytes.length < headBytes) break;
      const head = readHead(bytes);
      if (head.first < 0x80000000) {
        bytes = bytes.subarray(headBytes);
        yield* this.#startData(head);
        continue;
      }
      if (head.length > controlBytesMax) throw new SpdyError("a control frame is too long");
      if (bytes.length < headBytes + head.length) break;
      yield this.#control(head, bytes.subarray(headBytes, headBytes + head.length));
      bytes = bytes.subarray(headBytes + head.length);
    }
    if (bytes.length > 0) this.#kept = Buffer.from(bytes); // Without the rest of the chunk.
  }

  *#startData({ first: id, flags, length }: Head): Generator<Frame, void, undefined> {
    if (id === 0) throw new SpdyError("data without a stream");
    const fin = (flags & finFlag) !== 0;
    if (length > 0) this.#data = { id, fin, left: length };
    else if (fin) yield { type: "data", id, data: Buffer.alloc(0), fin };
  }

  #pieceOf(frame: { readonly id: number; readonly fin: boolean; left: number }, data: Buffer): Frame {
    frame.left -= data.length;
    if (frame.left === 0) this.#data = undefined;
    return { type: "data", id: frame.id, data, fin: frame.fin && frame.left === 0 };
  }

  #control({ first, flags }: Head, payload: Buffer): Frame {
    if (first >>> 16 !== 0x8003) throw new SpdyError("not SPDY/3.1");
    const type = first & 0xffff;
    const fin = (flags & finFlag) !== 0;
    const number = (at: number): number => {
      if (payload.length < at + 4) throw new SpdyError("a control frame is too short");
      return payload.readUInt32BE(at);
    };
    const id = (): number => {
      const value = number(0) & idMask;
      if (value === 0) throw new SpdyError("a frame without a stream");
      return value;
    };
    const headers = (at: number): ReturnType<HeaderDecoder["decode"]> => this.#headers.decode(payload.subarray(at));
    switch (type) {
      case controlTypes.synStream:
        return { type: "synStream", id: id(), headers: headers(10), fin };
      case controlTypes.synReply:
        return { type: "synReply", id: id(), headers: headers(4), fin };
      case controlTypes.headers:
        return { type: "headers", id: id(), headers: headers(4), fin };
      case controlTypes.rstStream:
        return { type: "rstStream", id: id(), status: number(4) };
      case controlTypes.ping:
        return { type: "ping", id: number(0) };
      case controlTypes.goAway:
        return { type: "goAway", lastId: number(0) & idMask, status: number(4) };
      case controlTypes.settings:
      case controlTypes.windowUpdate:
        return { type: "ignored" };
      default:
        throw new SpdyError("a frame of an unknown type");
    }
  }
}

function readHead(bytes: Buffer): Head {
  const flags = bytes[4] as number;
  return { first: bytes.readUInt32BE(0), flags, length: bytes.readUInt32BE(4) & 0xffffff };
}
