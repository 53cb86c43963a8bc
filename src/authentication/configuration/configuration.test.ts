/** Validation errors equal upstream's, as recorded by tools/golden/authentication. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { aggregated, ConfigurationError } from "../../apimachinery/configuration-file.ts";
import { readAuthenticationConfiguration } from "./configuration.ts";
import { validateConfiguration } from "./validate.ts";

interface Row {
  readonly what: string;
  readonly config?: string;
  readonly disallowed?: readonly string[];
  readonly error?: string;
}

const rows = readFileSync(join(import.meta.dirname, "testdata/golden.jsonl"), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line): Row => JSON.parse(line) as Row);

/** Upstream finds these errors when it creates authenticators, which this test does not. */
const creationError = /^oidc: /;

/**
 * Removes the location where upstream registers its kinds, which differs in the recording program.
 */
const withoutLocation = (text: string | undefined): string | undefined => text?.replace(/in scheme ".*"$/, "in scheme");

function check(config: string, disallowedIssuers: readonly string[]): string | undefined {
  try {
    const { errors } = validateConfiguration(readAuthenticationConfiguration(Buffer.from(config)), {
      disallowedIssuers,
      egressSelectorAllowed: true,
    });
    return aggregated(errors);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message;
    throw error;
  }
}

for (const { what, config, disallowed = [], error } of rows) {
  if (config === undefined) continue;
  test(`authentication configuration: ${what}`, () => {
    assert.equal(
      withoutLocation(check(config, disallowed)),
      creationError.test(error ?? "") ? undefined : withoutLocation(error),
    );
  });
}
