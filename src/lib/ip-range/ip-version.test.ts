import assert from "node:assert/strict";
import { isIP } from "node:net";
import { test } from "node:test";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { ipVersion } from "./ip-version.ts";

const parts = ["", "0", "ff", "12345", "g", "::", ":", ".", "1.2.3.4", "01", "256", "%", "]", "[", "/", "@", " ", "AB"];

test("finds the same versions as Node.js", (t) => {
  t.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  for (const text of ["127.0.0.1", "::1", "::ffff:1.2.3.4", "fe80::1%eth0", "a.b"])
    assert.equal(ipVersion(text), isIP(text), text);
  for (let round = 0; round < 50_000; round++) {
    let text = "";
    for (let left = 1 + random(12); left > 0; left--) text += parts[random(parts.length)] + (random(2) ? ":" : "");
    assert.equal(ipVersion(text), isIP(text), text);
  }
});
