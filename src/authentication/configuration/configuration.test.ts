/** Configuration files, held against upstream's own code: `tools/golden/authentication`. */
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

/** These are found when the authenticators are made, of which the program makes others. */
const later = /^oidc: /;

/** Where kinds are registered is another place there. */
const place = (text: string | undefined): string | undefined => text?.replace(/in scheme ".*"$/, "in scheme");

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
    assert.equal(place(check(config, disallowed)), later.test(error ?? "") ? undefined : place(error));
  });
}
