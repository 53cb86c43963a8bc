/**
 * Compares each rule with upstream's answers for many forms of addresses and prefixes, which
 * tools/golden/ip-addresses records.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FieldErrors } from "../field-errors.ts";
import { validateIp, validateLegacyIp, validateLegacyPrefix, validatePrefix, warnOfIp, warnOfPrefix } from "./ip.ts";

interface Row {
  readonly Text: string;
  readonly [rule: string]: string | readonly string[];
}

const rules: Readonly<Record<string, (text: string) => string[]>> = {
  Legacy: errorsOf((text, errors) => validateLegacyIp(text, "a", { strict: false }, errors)),
  Strict: errorsOf((text, errors) => validateLegacyIp(text, "a", { strict: true }, errors)),
  Ip: errorsOf((text, errors) => validateIp(text, "a", errors)),
  IpWarnings: warningsOf((text, warnings) => warnOfIp(text, "a", warnings)),
};
const prefixRules: typeof rules = {
  LegacyCidr: errorsOf((text, errors) => validateLegacyPrefix(text, "a", { strict: false }, errors)),
  StrictCidr: errorsOf((text, errors) => validateLegacyPrefix(text, "a", { strict: true }, errors)),
  Cidr: errorsOf((text, errors) => validatePrefix(text, "a", errors)),
  CidrWarnings: warningsOf((text, warnings) => warnOfPrefix(text, "a", warnings)),
};

function errorsOf(validate: (text: string, errors: FieldErrors) => unknown): (text: string) => string[] {
  return (text) => {
    const errors = new FieldErrors();
    validate(text, errors);
    return errors.causes.map(({ field, message }) => `${field}: ${message}`);
  };
}

function warningsOf(warn: (text: string, warnings: string[]) => void): (text: string) => string[] {
  return (text) => {
    const warnings: string[] = [];
    warn(text, warnings);
    return warnings;
  };
}

const rows: Row[] = readFileSync(join(import.meta.dirname, "testdata/ip.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

test(`validates ${rows.length} addresses and prefixes as upstream`, () => {
  for (const row of rows) {
    for (const [rule, answer] of Object.entries(row.Text.includes("/") ? prefixRules : rules)) {
      assert.deepEqual(answer(row.Text), row[rule] ?? [], `${rule} of ${JSON.stringify(row.Text)}`);
    }
  }
});

test("accepts invalid values that the old object has", () => {
  const errors = new FieldErrors();
  assert.ok(validateLegacyIp("x", "a", { strict: true, old: ["x"] }, errors));
  assert.ok(validateLegacyPrefix("x", "a", { strict: true, old: ["x"] }, errors));
  assert.ok(errors.empty);
});
