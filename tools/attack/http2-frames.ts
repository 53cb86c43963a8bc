/** Frames of HTTP/2, which no library sends in this order. Source: RFC 9113, section 6; RFC 7541. */

export const frameTypes = {
  data: 0x0,
  headers: 0x1,
  priority: 0x2,
  resetStream: 0x3,
  settings: 0x4,
  ping: 0x6,
  windowUpdate: 0x8,
  continuation: 0x9,
} as const;

export const endStream = 0x1;
export const endHeaders = 0x4;

/** The client's first bytes, followed by settings. */
export const preface: Buffer = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** @param id such as 4, the initial size of the window of a stream */
export function setting(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUInt16BE(id);
  bytes.writeUInt32BE(value, 2);
  return bytes;
}

/** The header block of a GET. */
export function getBlock(authority: string, path: string): Buffer {
  return Buffer.concat([Buffer.from([0x82, 0x87]), literal(1, authority), literal(4, path)]);
}

/** A field with a name of the static table, which is not added to the dynamic one. */
function literal(nameIndex: number, value: string): Buffer {
  return Buffer.concat([Buffer.from([nameIndex]), text(value)]);
}

/** A field that is added to the dynamic table. */
export function indexedField(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0x40]), text(name), text(value)]);
}

/** A field that is not added to the dynamic table. */
export function field(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0x00]), text(name), text(value)]);
}

function text(value: string): Buffer {
  return Buffer.concat([integer(value.length, 7), Buffer.from(value)]);
}

/** RFC 7541, section 5.1. */
function integer(value: number, prefixBits: number): Buffer {
  const most = 2 ** prefixBits - 1;
  if (value < most) return Buffer.from([value]);
  const bytes = [most];
  let rest = value - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
