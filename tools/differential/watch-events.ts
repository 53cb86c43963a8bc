/** Reads the events of watches. */
import { isObject } from "../../src/lib/json/values.ts";
import { writeBigInts } from "./protobuf-tree.ts";

/** Whether a stream of JSON lines or protobuf frames has a whole event that has the name. */
export function hasEventOf(received: Buffer, name: string): boolean {
  if (!received.includes(`"${name}"`) && !received.includes(name)) return false;
  // A CBOR stream is read until the server ends it.
  return received[0] === 0x7b ? received.at(-1) === 0x0a : received[0] === 0 && isWholeFrames(received);
}

function isWholeFrames(received: Buffer): boolean {
  let at = 0;
  while (at + 4 <= received.length) at += 4 + received.readUInt32BE(at);
  return at === received.length;
}

/** Bookmarks depend on time, except the one that ends initial events. @param events parsed events of a stream */
export function dropBookmarks(events: unknown): unknown {
  return Array.isArray(events) ? events.filter((event) => !isTimed(event)) : events;
}

function isTimed(event: unknown): boolean {
  const type = isObject(event) ? event.type : typeOfTree(event);
  return type === "BOOKMARK" && !JSON.stringify(event, writeBigInts).includes("k8s.io/initial-events-end");
}

/** The first field of an event in protobuf. */
function typeOfTree(event: unknown): unknown {
  const [first] = Array.isArray(event) ? event : [];
  return Array.isArray(first) ? first[1] : undefined;
}
