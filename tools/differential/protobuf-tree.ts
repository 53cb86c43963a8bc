/** Reads protobuf without a schema, so that fields are compared in their order on the wire. */
import { toInteger } from "../../src/lib/json/values.ts";
import { hasMagic, magic } from "../../src/lib/protobuf/envelope.ts";

/** A message: its fields in order. Numbers are bigints where JavaScript's are not exact. */
export type Tree = readonly (readonly [field: number, value: TreeValue])[];
type TreeValue = string | number | bigint | Tree;

const depthMax = 60;

/** @returns undefined if the bytes are not a message */
export function readTree(bytes: Buffer, depth = 0): Tree | undefined {
  const fields: [number, TreeValue][] = [];
  let at = 0;
  const varint = (): bigint | undefined => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) return undefined;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return undefined;
  };
  while (at < bytes.length) {
    const tag = varint();
    if (tag === undefined || tag >> 3n === 0n || tag > 0xffff_ffffn) return undefined;
    const field = Number(tag >> 3n);
    const type = Number(tag & 7n);
    if (type === 0) {
      const value = varint();
      if (value === undefined) return undefined;
      fields.push([field, toInteger(value)]);
      continue;
    }
    const length = type === 2 ? varint() : ({ 1: 8n, 5: 4n } as Record<number, bigint>)[type];
    if (length === undefined || BigInt(at) + length > BigInt(bytes.length)) return undefined;
    const part = bytes.subarray(at, at + Number(length));
    at += Number(length);
    fields.push([field, type === 2 ? readPart(part, depth) : part.toString("hex")]);
  }
  return fields;
}

/** A text without control characters is taken for a text: nearly all messages have some. */
function readPart(bytes: Buffer, depth: number): TreeValue {
  const text = bytes.toString("utf8");
  if (!bytes.some((byte) => byte < 0x20) && !text.includes("\ufffd")) return text;
  // An object within an event has an envelope of its own.
  const tree =
    depth < depthMax ? readTree(hasMagic(bytes) ? bytes.subarray(magic.length) : bytes, depth + 1) : undefined;
  return tree ?? (text.includes("\ufffd") ? bytes.toString("hex") : text);
}

/** A replacer for JSON.stringify. */
export function writeBigInts(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}
