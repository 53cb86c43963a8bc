/** The results are those of `mail.ParseAddress` in Go 1.26. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isEmail } from "./email.ts";

const valid = [
  "a@b",
  " a.b@c.d ",
  "é@ü.example",
  '"a b"@c',
  "a@[1.2.3.4]",
  "a@[::1]",
  "a@b (c (d) \\))",
  "<a@b>",
  "A B <a@b>",
  "A. B.. <a@b>",
  '"A, B" C <a@b>',
  "A (c) B <a@b>(d)",
  "=?utf-8?q?caf=C3=A9?= <a@b>",
  "a@ b",
  "group: a@b;",
  "group: A <a@b> (c) ; (d)",
];
const invalid = [
  "",
  " ",
  "a",
  "a@",
  "@b",
  "a@b.",
  ".a@b",
  "a..b@c",
  '""@b',
  '"a@b',
  "a @b",
  "a@b c",
  "a@[1.2.3]",
  "a@[fe80::1%eth0]",
  "a@b (c",
  "<a@b",
  "A <a@b> x",
  "a@b, c@d",
  "=?unknown?q?y?= <a@b>",
  "group: a@b, c@d;",
  "group: ;",
  "group: a@b",
  "a\n@b",
];

for (const text of valid) test(`accepts ${JSON.stringify(text)}`, () => assert.equal(isEmail(text), true));
for (const text of invalid) test(`rejects ${JSON.stringify(text)}`, () => assert.equal(isEmail(text), false));
