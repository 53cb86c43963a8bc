/** Decodes protobuf answers for tests. */
import assert from "node:assert/strict";
import { parseGroupVersion } from "../../src/apimachinery/object.ts";
import { builtinSchema, definitionOf } from "../../src/catalog/builtin-schemas.ts";
import { decodeProtobuf } from "../../src/lib/protobuf/decode.ts";
import { readEnvelope } from "../../src/lib/protobuf/envelope.ts";
import { Reader } from "../../src/lib/protobuf/reader.ts";
import { conform } from "../../src/lib/schema/decode.ts";

/** @returns the object in an envelope */
export function decodeAnswer(bytes: Buffer): Record<string, unknown> {
  const { apiVersion, kind, raw } = readEnvelope(bytes);
  const { group, version } = parseGroupVersion(apiVersion) as { group: string; version: string };
  // Both versions of PartialObjectMetadata have the same type.
  const schema = builtinSchema(definitionOf(group, version, kind) ?? `io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`);
  return { ...conform(decodeProtobuf(raw, schema), schema).object, kind, apiVersion };
}

/**
 * @param bytes events `WatchEvent{string type = 1; RawExtension{bytes raw = 1} object = 2}`, each
 *   preceded by four bytes of length
 */
export function decodeEvents(bytes: Buffer): { type: string; object: Record<string, unknown> }[] {
  const events: { type: string; object: Record<string, unknown> }[] = [];
  for (let at = 0; at < bytes.length; at += 4 + bytes.readUInt32BE(at))
    events.push(decodeEvent(bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at))));
  return events;
}

/** @param bytes one `WatchEvent` */
export function decodeEvent(bytes: Buffer): { type: string; object: Record<string, unknown> } {
  const reader = new Reader(bytes);
  assert.equal(reader.tag(), 0x0a);
  const type = reader.text();
  assert.equal(reader.tag(), 0x12);
  reader.enter();
  assert.equal(reader.tag(), 0x0a);
  const object = decodeAnswer(reader.bytes());
  assert.ok(reader.done);
  return { type, object };
}
