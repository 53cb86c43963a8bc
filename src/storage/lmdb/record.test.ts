import assert from "node:assert/strict";
import { test } from "node:test";
import { type Change, positionOf } from "../embedded/ledger.ts";
import { isContinued, readRecord, recordBytesMax, recordProblem, valueBytes, writeRecord } from "./record.ts";

const rules = { uncheckedUntil: 0 };
const seal = { fingerprint: 0xfedcba98, versionOffset: 12, itemOffset: 3 };
const put: Change = {
  type: "put",
  key: "/registry/configmaps/ns/ä",
  position: positionOf(2 ** 45, 127),
  value: Buffer.from('{"kind":"ConfigMap"}'),
  at: 1_700_000_000_000,
  previous: positionOf(7, 0),
  historyBytes: 88,
};

const rows: [what: string, change: Change, continued: boolean][] = [
  ["a put", put, false],
  ["a sealed put", { ...put, seal }, true],
  ["a put after a damaged one", { ...put, previousDamaged: true }, false],
  ["a deletion", { ...put, type: "delete", value: Buffer.alloc(0) }, true],
];

function recordOf(change: Change, continued = false): Buffer {
  const bytes = Buffer.alloc(recordBytesMax(change));
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return bytes.subarray(0, writeRecord(change, { bytes, view }, 0, continued));
}

for (const [what, change, continued] of rows) {
  test(`reads ${what} as it was written`, () => {
    const record = recordOf(change, continued);
    assert.equal(recordProblem(change.position, record, rules), undefined);
    assert.deepEqual(readRecord(change.position, record), change);
    assert.deepEqual([isContinued(record), valueBytes(record)], [continued, change.value.length]);
  });

  test(`detects in ${what} every flipped bit, zeroed byte and truncation`, () => {
    const record = recordOf(change, continued);
    for (let bit = 0; bit < record.length * 8; bit++) {
      const flipped = Buffer.from(record);
      flipped[bit >> 3] = (record[bit >> 3] as number) ^ (1 << (bit & 7));
      assert.notEqual(recordProblem(change.position, flipped, rules), undefined, `bit ${bit}`);
    }
    for (let byte = 0; byte < record.length; byte++) {
      if (record[byte] === 0) continue;
      const zeroed = Buffer.from(record);
      zeroed[byte] = 0;
      assert.notEqual(recordProblem(change.position, zeroed, rules), undefined, `byte ${byte}`);
    }
    for (let length = 0; length < record.length; length++)
      assert.notEqual(recordProblem(change.position, record.subarray(0, length), rules), undefined, `length ${length}`);
  });

  test(`detects ${what} at another position`, () => {
    for (const position of [change.position + 1, change.position - 128, positionOf(2, 0), 1])
      assert.equal(recordProblem(position, recordOf(change), rules), "the checksum does not match");
  });
}

test("accepts a record without a checksum only up to the given revision", () => {
  const record = Buffer.alloc(40 + 2 + 3);
  record[0] = 1;
  record[2] = 2;
  record.write("/a{1}", 40);
  assert.equal(recordProblem(positionOf(9, 127), record, { uncheckedUntil: 9 }), undefined);
  assert.equal(recordProblem(positionOf(10, 0), record, { uncheckedUntil: 9 }), "the checksum is missing");
  const { key, value } = readRecord(positionOf(9, 0), record);
  assert.deepEqual([key, value.toString()], ["/a", "{1}"]);
});
