/** The frames of SPDY/3.1. Source: SPDY Protocol Draft 3.1, sections 2.2 and 2.6. */
import type { Headers } from "./headers.ts";

/** A frame that was received; data arrives in pieces, the last one with the `fin` of its frame. */
export type Frame =
  | { readonly type: "synStream"; readonly id: number; readonly headers: Headers; readonly fin: boolean }
  | { readonly type: "synReply"; readonly id: number; readonly headers: Headers; readonly fin: boolean }
  | { readonly type: "headers"; readonly id: number; readonly headers: Headers; readonly fin: boolean }
  | { readonly type: "rstStream"; readonly id: number; readonly status: number }
  | { readonly type: "ping"; readonly id: number }
  | { readonly type: "goAway"; readonly lastId: number; readonly status: number }
  | { readonly type: "ignored" }
  | { readonly type: "data"; readonly id: number; readonly data: Buffer; readonly fin: boolean };

/** The types of control frames. */
export const controlTypes = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;

/** Statuses of RST_STREAM that this library sends. */
export const resetStatus = { protocolError: 1, refusedStream: 3, cancel: 5 } as const;

export const finFlag = 1;
export const headBytes = 8;

const version = 3;

/** @param block the compressed headers */
export function encodeSynStream(id: number, block: Buffer): Buffer {
  const fixed = Buffer.alloc(10); // The stream, the associated stream, the priority and the slot.
  fixed.writeUInt32BE(id);
  return control(controlTypes.synStream, Buffer.concat([fixed, block]));
}

/** @param block the compressed headers */
export function encodeSynReply(id: number, block: Buffer): Buffer {
  return control(controlTypes.synReply, Buffer.concat([numbers(id), block]));
}

export function encodeRstStream(id: number, status: number): Buffer {
  return control(controlTypes.rstStream, numbers(id, status));
}

export function encodePing(id: number): Buffer {
  return control(controlTypes.ping, numbers(id));
}

/** @param lastId the last stream of the peer that was accepted, 0 for none */
export function encodeGoAway(lastId: number): Buffer {
  return control(controlTypes.goAway, numbers(lastId, 0));
}

/** @returns the first bytes of a DATA frame, which the data follows */
export function encodeDataHead(
  id: number,
  { length, fin }: { readonly length: number; readonly fin: boolean },
): Buffer {
  return numbers(id, ((fin ? finFlag : 0) << 24) | length);
}

function control(type: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt16BE(0x8000 | version);
  head.writeUInt16BE(type, 2);
  head.writeUInt32BE(payload.length, 4);
  return Buffer.concat([head, payload]);
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => {
    bytes.writeUInt32BE(value, index * 4);
  });
  return bytes;
}
