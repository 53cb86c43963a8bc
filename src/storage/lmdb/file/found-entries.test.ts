import assert from "node:assert/strict";
import { test } from "node:test";
import { type Change, positionOf } from "../../embedded/ledger.ts";
import { integerKey } from "../keys.ts";
import { recordBytesMax, writeRecord } from "../record.ts";
import { FoundEntries, type Source } from "./found-entries.ts";

const position = positionOf(714, 0);
const unchecked = 2;

function record(key: string): Buffer {
  const change: Change = { type: "put", key, position, value: Buffer.alloc(9), at: 0, previous: 0, historyBytes: 0 };
  const bytes = Buffer.alloc(recordBytesMax(change));
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return bytes.subarray(0, writeRecord(change, { bytes, view }, 0, false));
}

/** Remains of an entry, with a first byte like that of a deletion in format 1. */
function remains(key: string): Buffer {
  const bytes = record(key);
  bytes.writeUInt8(unchecked, 0);
  return bytes;
}

const rows: [what: string, found: [Source, Buffer][], key: string | undefined][] = [
  [
    "a record with a checksum, after remains",
    [
      ["orphan", remains("/remains")],
      ["unknown", record("/k")],
    ],
    "/k",
  ],
  [
    "a record with a checksum, before remains",
    [
      ["unknown", record("/k")],
      ["orphan", remains("/remains")],
    ],
    "/k",
  ],
  ["remains whose key is not one of an object", [["unknown", remains("zB\0\0/k")]], undefined],
  ["a record without a checksum of format 1", [["unknown", remains("/k")]], "/k"],
  [
    "the record in a tree",
    [
      ["unknown", record("/k")],
      ["tree", record("/k")],
    ],
    "/k",
  ],
];

for (const [what, found, key] of rows) {
  test(`without marks, keeps ${what}: ${key}`, () => {
    const entries = new FoundEntries();
    const positionKey = Buffer.alloc(8);
    integerKey.writeKey(position, positionKey, 0);
    for (const [source, bytes] of found) entries.add("log", positionKey, bytes, source, { page: 2, offset: 24 });
    assert.equal(entries.changes.get(position)?.key, key);
  });
}
