/** Assembles JSON from encoded pieces, so that a large document is never one value in memory. */
import { encodeAny, encodeString } from "../lib/json/encode-any.ts";

/** Encodes `"name":value`. */
export function jsonEntry(name: string, value: unknown): Buffer {
  return Buffer.from(`${encodeString(name)}:${encodeAny(value)}`);
}

/** Encodes `"name":value` with an encoded value. */
export function jsonMember(name: string, value: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from(`${encodeString(name)}:`), ...value]);
}

/** Encodes all members of an object. */
export function jsonMembers(object: object): Buffer[] {
  return Object.entries(object).map(([name, value]) => jsonEntry(name, value));
}

/** An object with encoded members. @param members each `"name":value` */
export function jsonObject(members: readonly Buffer[]): Buffer[] {
  return [
    Buffer.from("{"),
    ...members.flatMap((member, index) => (index === 0 ? [member] : [comma, member])),
    Buffer.from("}"),
  ];
}

const comma = Buffer.from(",");
