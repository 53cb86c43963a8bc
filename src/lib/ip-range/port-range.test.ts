import assert from "node:assert/strict";
import { test } from "node:test";
import { formatPortRange, parsePortRange } from "./port-range.ts";

const rows: [text: string, range: string][] = [
  ["30000-32767", "30000-32767"],
  ["30000+10", "30000-30010"],
  [" 80 ", "80-80"],
  ["0-65535", "0-65535"],
  ["2-1", "end port cannot be less than start port: 2-1"],
  ["1-65536", "the port range cannot be greater than 65535: 1-65536"],
  ["1-2+3", "unable to parse port range: 1-2+3"],
  ["a", 'strconv.Atoi: parsing "a": invalid syntax'],
];

for (const [text, want] of rows) {
  test(`${JSON.stringify(text)} as a range of ports`, () => {
    const range = parsePortRange(text);
    assert.equal(typeof range === "string" ? range : formatPortRange(range), want);
  });
}
