import assert from "node:assert/strict";
import { test } from "node:test";
import { invalid, notFound } from "./errors.ts";

test("quotes names as Go does", () => {
  const message = notFound({ group: "", resource: "pods" }, "\u0000\u{1f600}\u2028").status.message;
  assert.equal(message, 'pods "\\x00\u{1f600}\\u2028" not found');
  assert.match(invalid("", "Pod", "\u0001", []).status.message ?? "", /^Pod "\\x01" is invalid/);
});
