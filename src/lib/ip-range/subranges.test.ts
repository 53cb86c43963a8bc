import assert from "node:assert/strict";
import { test } from "node:test";
import { addressValue, formatAddress, type IpRange, parseIpRange } from "./ip-range.ts";
import { candidates, containsAddress, containsRange, overlaps, subrangesOf } from "./subranges.ts";

const range = (text: string): IpRange => parseIpRange(text) ?? assert.fail(text);

const rows: [range: string, parts: readonly [first: string, firstDynamic: string, last: string] | undefined][] = [
  ["10.0.0.0/24", ["10.0.0.1", "10.0.0.17", "10.0.0.254"]],
  ["10.96.0.0/12", ["10.96.0.1", "10.96.1.1", "10.111.255.254"]],
  ["10.0.0.0/8", ["10.0.0.1", "10.0.1.1", "10.255.255.254"]],
  ["10.0.0.0/22", ["10.0.0.1", "10.0.0.65", "10.0.3.254"]],
  ["10.0.0.0/27", ["10.0.0.1", "10.0.0.17", "10.0.0.30"]],
  ["10.0.0.0/28", ["10.0.0.1", "10.0.0.1", "10.0.0.14"]],
  ["10.0.0.0/30", ["10.0.0.1", "10.0.0.1", "10.0.0.2"]],
  ["10.0.0.0/31", undefined],
  ["10.0.0.0/32", undefined],
  ["fd00::/112", ["fd00::1", "fd00::101", "fd00::ffff"]],
  ["fd00::/64", ["fd00::1", "fd00::101", "fd00::ffff:ffff:ffff:ffff"]],
  ["fd00::/63", undefined],
  ["fd00::/127", ["fd00::1", "fd00::1", "fd00::1"]],
  ["fd00::/128", undefined],
];

for (const [text, parts] of rows) {
  test(`the parts of ${text}`, () => {
    const found = subrangesOf(range(text));
    const shown =
      found && [found.first, found.firstDynamic, found.last].map((value) => formatAddress(found.family, value));
    assert.deepEqual(shown, parts);
  });
}

test("candidates are all addresses once, the upper part first, each part from a random one on", () => {
  const parts = subrangesOf(range("10.0.0.0/27"));
  assert.ok(parts);
  const found = [...candidates(parts, (below) => below - 2n)].map((address) => Number(address.split(".")[3]));
  assert.deepEqual(found.slice(0, 4), [29, 30, 17, 18]);
  assert.deepEqual(found.slice(14, 18), [15, 16, 1, 2]);
  assert.equal(new Set(found).size, 30);
});

const relations: [one: string, other: string, contains: boolean, overlapping: boolean][] = [
  ["10.0.0.0/24", "10.0.0.0/24", true, true],
  ["10.0.0.0/16", "10.0.7.0/24", true, true],
  ["10.0.7.0/24", "10.0.0.0/16", false, true],
  ["10.0.0.0/24", "10.0.1.0/24", false, false],
  ["0.0.0.0/0", "fd00::/64", false, false],
];

for (const [one, other, contains, overlapping] of relations) {
  test(`${one} and ${other}`, () => {
    assert.equal(containsRange(range(one), range(other)), contains);
    assert.equal(overlaps(range(one), range(other)), overlapping);
  });
}

test("a range contains neither its network address nor an IPv4 broadcast address", () => {
  const has = (text: string, address: string): boolean => containsAddress(range(text), addressValue(address));
  assert.deepEqual(
    ["10.0.0.0", "10.0.0.1", "10.0.0.254", "10.0.0.255", "10.0.1.0"].map((one) => has("10.0.0.0/24", one)),
    [false, true, true, false, false],
  );
  assert.deepEqual(
    ["fd00::", "fd00::1", "fd00::ffff", "fd00::1:0"].map((one) => has("fd00::/112", one)),
    [false, true, true, false],
  );
});
