import assert from "node:assert/strict";
import { test } from "node:test";
import { addressAt, indexOf, lastIndex, parseIpRange } from "./ip-range.ts";

const rows: [range: string, index: number, address: string][] = [
  ["10.0.0.0/24", 1, "10.0.0.1"],
  ["10.0.0.77/24", 254, "10.0.0.254"],
  ["10.96.0.0/12", 65536, "10.97.0.0"],
  ["fd00::/108", 1, "fd00::1"],
  ["fd00:1:0:0:2::/112", 16, "fd00:1::2:0:0:10"],
];

for (const [range, index, address] of rows) {
  test(`${range} has ${address} at ${index}`, () => {
    const parsed = parseIpRange(range);
    assert.ok(parsed);
    assert.equal(addressAt(parsed, index), address);
    assert.equal(indexOf(parsed, address), index);
  });
}

test("rejects text that is not a range", () => {
  for (const text of ["", "10.0.0.0", "10.0.0.0/33", "10.0.0/24", "x/8", "10.0.0.0/-1"])
    assert.equal(parseIpRange(text), undefined, text);
});

test("the network and broadcast addresses and addresses outside the range have no index", () => {
  const range = parseIpRange("10.0.0.0/24");
  assert.ok(range);
  assert.equal(lastIndex(range), 254);
  for (const address of ["10.0.0.0", "10.0.0.255", "10.0.1.1", "fd00::1", "none"])
    assert.equal(indexOf(range, address), undefined, address);
});
