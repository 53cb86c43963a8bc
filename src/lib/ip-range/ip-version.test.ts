import assert from "node:assert/strict";
import { isIP } from "node:net";
import { test } from "node:test";
import { ipVersion } from "./ip-version.ts";

const texts = [
  "",
  "127.0.0.1",
  "127.0.0.01",
  "1.2.3",
  "::",
  "::1",
  "::ffff:1.2.3.4",
  "fe80::1%eth0",
  ":",
  "1:2",
  "a.b",
  "1.2.3.4:5",
  "[::1]",
];

test("equals the version that Node.js finds", () => {
  for (const text of texts) assert.equal(ipVersion(text), isIP(text), text);
});
