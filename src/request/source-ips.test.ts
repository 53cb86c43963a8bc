import assert from "node:assert/strict";
import { test } from "node:test";
import { sourceIps } from "./source-ips.ts";

const rows: [forwarded: string | undefined, real: string | undefined, expected: string[]][] = [
  [undefined, undefined, ["10.0.0.1"]],
  ["1.2.3.4, 5.6.7.8", undefined, ["1.2.3.4", "5.6.7.8", "10.0.0.1"]],
  [undefined, "1.2.3.4", ["1.2.3.4", "10.0.0.1"]],
  ["1.2.3.4", "1.2.3.4", ["1.2.3.4", "10.0.0.1"]],
  ["10.0.0.1", undefined, ["10.0.0.1"]],
  [undefined, "001.02.000.4", ["1.2.0.4", "10.0.0.1"]],
  [undefined, `${"0".repeat(1000)}1.2.3.4`, ["1.2.3.4", "10.0.0.1"]],
  [undefined, "999.1.1.1", ["10.0.0.1"]],
  [undefined, "0256.1.1.1", ["10.0.0.1"]],
  [undefined, "1.2.3", ["10.0.0.1"]],
  [undefined, "::FFFF:1.2.3.4", ["1.2.3.4", "10.0.0.1"]],
  [undefined, "2001:DB8:0:0::1", ["2001:db8::1", "10.0.0.1"]],
  [undefined, "fe80::1%eth0", ["10.0.0.1"]],
];

for (const [forwarded, real, expected] of rows)
  test(`lists ${forwarded?.slice(0, 40)} and ${real?.slice(0, 40)}`, () => {
    const headers: Readonly<Record<string, string | undefined>> = { "x-forwarded-for": forwarded, "x-real-ip": real };
    assert.deepEqual(
      sourceIps({ header: (name) => headers[name], remote: { address: "10.0.0.1", port: 1 } }),
      expected,
    );
  });
