/** JSON text that is put together from encoded pieces, so that a large document is never one value. */
import { encodeAny, encodeString } from "../lib/json/encode-any.ts";

/** `"name":value` */
export function jsonEntry(name: string, value: unknown): Buffer {
  return Buffer.from(`${encodeString(name)}:${encodeAny(value)}`);
}

/** The same with a value that is in pieces. */
export function jsonMember(name: string, value: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from(`${encodeString(name)}:`), ...value]);
}

export function jsonMembers(object: object): Buffer[] {
  return Object.entries(object).map(([name, value]) => jsonEntry(name, value));
}

/** @param members each `"name":value` */
export function jsonObject(members: readonly Buffer[]): Buffer[] {
  return [
    Buffer.from("{"),
    ...members.flatMap((member, index) => (index === 0 ? [member] : [comma, member])),
    Buffer.from("}"),
  ];
}

const comma = Buffer.from(",");
