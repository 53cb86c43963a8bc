/** Frames that moby/spdystream writes, as recorded by tools/golden/spdy, and frames that break a limit. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { headerDictionary } from "./dictionary.ts";
import { controlBytesMax, FrameReader } from "./frame-reader.ts";
import {
  encodeDataHead,
  encodeGoAway,
  encodePing,
  encodeRstStream,
  encodeSynReply,
  encodeSynStream,
  type Frame,
} from "./frames.ts";
import { HeaderEncoder, headerBytesMax } from "./headers.ts";

interface Row {
  readonly type: Frame["type"];
  readonly id: number;
  readonly fin: boolean;
  readonly headers?: Record<string, string[]>;
  readonly status: number;
  readonly data?: string;
  readonly bytes: string;
}

const rows: Row[] = readFileSync(join(import.meta.dirname, "testdata/frames.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const bytesOf = ({ bytes }: Row): Buffer => Buffer.from(bytes, "base64");

/** A frame with the pieces of its data joined. */
function expected({ type, id, fin, headers = {}, status, data = "" }: Row): Frame {
  switch (type) {
    case "synStream":
    case "synReply":
    case "headers":
      return { type, id, headers: new Map(Object.entries(headers)), fin };
    case "rstStream":
      return { type, id, status };
    case "goAway":
      return { type, lastId: id, status };
    case "ping":
      return { type, id };
    case "data":
      return { type, id, data: Buffer.from(data, "base64"), fin };
    default:
      return { type: "ignored" };
  }
}

test(`reads ${rows.length} frames of moby/spdystream`, () => {
  const reader = new FrameReader();
  for (const [index, row] of rows.entries()) {
    const frame = expected(row);
    const isNothing = frame.type === "data" && frame.data.length === 0 && !frame.fin;
    assert.deepEqual([...reader.read(bytesOf(row))], isNothing ? [] : [frame], `row ${index}`);
  }
});

test("reads frames in pieces of any size", () => {
  console.log(`SEED=${seed}`);
  const random = seededRandom(seed);
  const whole = Buffer.concat(rows.map(bytesOf));
  const reader = new FrameReader();
  const frames: Frame[] = [];
  for (let at = 0; at < whole.length; ) {
    const end = at + 1 + random(random(2) === 0 ? 10 : 2000);
    frames.push(...reader.read(whole.subarray(at, end)));
    at = end;
  }
  assert.deepEqual(joined(frames), joined(rows.map(expected)));
});

/** Joins consecutive pieces of data, and drops empty ones. */
function joined(frames: readonly Frame[]): Frame[] {
  const out: Frame[] = [];
  for (const frame of frames) {
    const last = out.at(-1);
    if (frame.type !== "data" || last?.type !== "data" || last.id !== frame.id || last.fin) {
      if (frame.type !== "data" || frame.data.length > 0 || frame.fin) out.push(frame);
    } else out[out.length - 1] = { ...frame, data: Buffer.concat([last.data, frame.data]) };
  }
  return out;
}

test("writes the frames without headers as moby/spdystream does", () => {
  let compared = 0;
  for (const row of rows) {
    const bytes = encode(row);
    if (bytes === undefined) continue;
    compared++;
    assert.deepEqual(bytes, bytesOf(row));
  }
  assert.ok(compared > 100);
});

function encode({ type, id, status, fin, data = "" }: Row): Buffer | undefined {
  const bytes = Buffer.from(data, "base64");
  if (type === "ping") return encodePing(id);
  if (type === "rstStream") return encodeRstStream(id, status);
  if (type === "goAway") return status === 0 ? encodeGoAway(id) : undefined;
  return type === "data" ? Buffer.concat([encodeDataHead(id, { length: bytes.length, fin }), bytes]) : undefined;
}

test("reads the headers that it writes", () => {
  const encoder = new HeaderEncoder();
  const reader = new FrameReader();
  const all = [
    new Map(),
    new Map([["streamtype", ["data"]]]),
    new Map([
      ["streamtype", ["error"]],
      ["port", ["8080"]],
      ["x", ["", "\u00fc".repeat(1000)]],
    ]),
  ];
  for (const headers of [...all, ...all]) {
    const bytes = Buffer.concat([
      encodeSynStream(5, encoder.encode(headers)),
      encodeSynReply(5, encoder.encode(headers)),
    ]);
    const frames: Frame[] = [
      { type: "synStream", id: 5, headers, fin: false },
      { type: "synReply", id: 5, headers, fin: false },
    ];
    assert.deepEqual([...reader.read(bytes)], frames);
  }
});

const zlibStart = Buffer.from([0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2]);
const compressed = (block: Buffer): Buffer =>
  Buffer.concat([zlibStart, deflateRawSync(block, { dictionary: headerDictionary })]);
const uint32 = (...values: number[]): Buffer =>
  Buffer.concat(values.map((value) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value])));
const text = (...strings: string[]): Buffer =>
  Buffer.concat(strings.flatMap((string) => [uint32(string.length), Buffer.from(string)]));
const headersOf = (block: Buffer): Buffer => encodeSynReply(1, compressed(block));

const broken: [what: string, bytes: Buffer, error: string][] = [
  ["text", Buffer.from("\x80TTP/1.1 400 Bad Request\r\n"), "a control frame is too long"],
  ["another version", Buffer.from("8002000600000004000000010", "hex"), "not SPDY/3.1"],
  ["an unknown type", Buffer.from("80030005000000040000000100", "hex"), "a frame of an unknown type"],
  ["a short frame", Buffer.from("8003000300000004000000010", "hex"), "a control frame is too short"],
  ["a stream 0", encodeRstStream(0, 1), "a frame without a stream"],
  ["data of stream 0", encodeDataHead(0, { length: 0, fin: true }), "data without a stream"],
  ["a long control frame", uint32(0x80030002, controlBytesMax + 1), "a control frame is too long"],
  ["no headers", encodeSynReply(1, Buffer.alloc(0)), "no compressed headers"],
  ["headers without zlib", encodeSynReply(1, Buffer.alloc(10)), "compressed headers: not a zlib stream"],
  [
    "another dictionary",
    encodeSynReply(1, Buffer.concat([zlibStart.subarray(0, 2), Buffer.alloc(10)])),
    "compressed headers: an unknown dictionary",
  ],
  ["a missing header", headersOf(uint32(1)), "headers end early"],
  ["a billion headers", headersOf(uint32(1e9)), "headers end early"],
  ["a long name", headersOf(uint32(1, 0xffffffff)), "headers end early"],
  ["a name in capitals", headersOf(Buffer.concat([uint32(1), text("A", "")])), "a header's name is not in lower case"],
  ["the same header twice", headersOf(Buffer.concat([uint32(2), text("a", "", "a", "")])), "a header occurs twice"],
  ["bytes after the headers", headersOf(uint32(0, 0)), "headers end late"],
  [
    "headers that grow",
    headersOf(Buffer.concat([uint32(1), text("a"), uint32(1 << 22), Buffer.alloc(1 << 22)])),
    `compressed headers: Cannot create a Buffer larger than ${headerBytesMax} bytes`,
  ],
];

for (const [what, bytes, message] of broken) {
  test(`rejects ${what}`, () => {
    assert.throws(() => [...new FrameReader().read(bytes)], { name: "SpdyError", message });
  });
}
