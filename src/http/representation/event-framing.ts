/**
 * The framing of watch events. See Kubernetes docs, API Concepts, Efficient detection of changes.
 */
import { cborSequenceType } from "../../lib/cbor/media-types.ts";
import { major, selfDescribed } from "../../lib/cbor/wire.ts";
import { Writer as CborWriter } from "../../lib/cbor/writer.ts";
import { Writer } from "../../lib/protobuf/writer.ts";
import type { PieceMemory } from "./piece-memory.ts";

/** A watch event with its encoded object. */
export interface FramedEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  /** The whole object, in the encoding of the stream. */
  readonly object: Buffer;
}

/** The framing of one stream encoding. */
export interface EventFraming {
  readonly contentType: string;
  /**
   * Frames events.
   * @param memory for bytes that are sent to one watcher only
   * @returns without `memory`, a new buffer, which may be shared
   */
  join(events: readonly FramedEvent[], memory?: PieceMemory): Buffer;
  /** One event without a delimiter, for transports with messages. */
  message(event: FramedEvent): Buffer;
  /** Whether messages are UTF-8. */
  readonly isText: boolean;
}

/** One line per event. */
export const jsonLines: EventFraming = {
  contentType: "application/json",
  join: joinLines,
  message: (event) => joinLines([event]),
  isText: true,
};

/**
 * `WatchEvent` messages, each after its length in four bytes, big-endian.
 * @param mediaType the negotiated name
 */
export function protobufFrames(mediaType: string): EventFraming {
  return {
    contentType: `${mediaType};stream=watch`,
    join: joinFrames,
    message: (event) => joinFrames([event]).subarray(frameHead),
    isText: false,
  };
}

/** A sequence of maps with a type and an object. */
export const cborItems: EventFraming = {
  contentType: cborSequenceType,
  join: joinItems,
  message: (event) => joinItems([event]),
  isText: false,
};

const heads = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
  BOOKMARK: Buffer.from('{"type":"BOOKMARK","object":'),
  ERROR: Buffer.from('{"type":"ERROR","object":'),
};
const closeBrace = 0x7d;
const newline = 0x0a;

function joinLines(events: readonly FramedEvent[], memory?: PieceMemory): Buffer {
  let length = 0;
  for (const { type, object } of events) length += heads[type].length + object.length + 2;
  const bytes = memory?.take(length) ?? Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const { type, object } of events) {
    at += heads[type].copy(bytes, at);
    at += object.copy(bytes, at);
    bytes[at++] = closeBrace;
    bytes[at++] = newline;
  }
  return bytes;
}

/** `WatchEvent{string type = 1; RawExtension{bytes raw = 1} object = 2}` */
const tags = { type: 0x0a, object: 0x12, raw: 0x0a } as const;
const frameHead = 4;
/** Tags, lengths and the type of an event. */
const eventOverhead = 32;

function joinFrames(events: readonly FramedEvent[]): Buffer {
  let expected = 0;
  for (const { object } of events) expected += object.length + frameHead + eventOverhead;
  const writer = new Writer(expected);
  for (let index = events.length - 1; index >= 0; index--) writeFrame(writer, events[index] as FramedEvent);
  return writer.finish();
}

function writeFrame(writer: Writer, { type, object }: FramedEvent): void {
  const end = writer.length;
  writer.bytes(object);
  writer.closeField(tags.raw, end);
  writer.closeField(tags.object, end);
  writer.textField(tags.type, type);
  const length = Buffer.alloc(frameHead);
  length.writeUInt32BE(writer.length - end);
  writer.bytes(length);
}

const cborHeads = {
  ADDED: cborHead("ADDED"),
  MODIFIED: cborHead("MODIFIED"),
  DELETED: cborHead("DELETED"),
  BOOKMARK: cborHead("BOOKMARK"),
  ERROR: cborHead("ERROR"),
};

function cborHead(type: string): Buffer {
  const writer = new CborWriter(32);
  writer.bytes(selfDescribed);
  writer.head(major.map, 2);
  writer.text("type");
  writer.text(type);
  writer.text("object");
  return writer.finish();
}

function joinItems(events: readonly FramedEvent[]): Buffer {
  return Buffer.concat(events.flatMap(({ type, object }) => [cborHeads[type], object]));
}
