/** Errors of configurations, and values that upstream has encrypted, as tools/golden/encryption recorded them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { ConfigurationError } from "../../apimachinery/configuration-file.ts";
import { silentLogger } from "../../apimachinery/logger.ts";
import { EncryptedValue } from "../encrypted-value.ts";
import { readEncryptionConfiguration } from "./configuration.ts";
import type { Encryption } from "./contract.ts";
import { openEncryption } from "./open-encryption.ts";
import { identity } from "./prefixed-ciphers.ts";
import { silentObserver } from "./silent-observer.ts";

interface Row {
  readonly what: string;
  readonly config: string;
  readonly reload?: boolean;
  readonly error?: string;
  readonly values?: readonly {
    readonly resource: string;
    readonly key: string;
    readonly sealed: string;
    readonly plain?: string;
    readonly stale?: boolean;
    readonly error?: string;
  }[];
}

const rows = readFileSync(join(import.meta.dirname, "testdata/golden.jsonl"), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line): Row => JSON.parse(line) as Row);

/** Removes what differs: the location of upstream's program, the content of the file, and values with keys. */
const comparable = (text: string | undefined): string | undefined =>
  text
    ?.replace(/in scheme ".*"$/, "in scheme")
    .replace(/ is missing in '.*'/s, " is missing")
    .replace(/Invalid value: \{.*?\}: (?=more than one)/, "Invalid value: ");

async function open({ config, reload = false }: Row): Promise<{ encryption: Encryption; close(): void }> {
  const configuration = readEncryptionConfiguration(Buffer.from(config), { file: "FILE", reloads: reload });
  const opened = await openEncryption(configuration, {
    resourceOf: (key) => key,
    pathOf: (key) => key,
    allowsFirstKms: false,
    clock: manualClock(),
    logger: silentLogger,
    observer: silentObserver,
  });
  return { encryption: opened, close: () => opened.close() };
}

for (const row of rows) {
  test(`encryption: ${row.what}`, async () => {
    let opened: Awaited<ReturnType<typeof open>>;
    try {
      opened = await open(row);
    } catch (error) {
      assert.ok(error instanceof ConfigurationError, String(error));
      assert.equal(comparable(error.message), comparable(row.error));
      assert.doesNotMatch(error.message, /AQEBAQ/); // The start of the keys.
      return;
    }
    opened.close();
    assert.equal(row.error, undefined);
    for (const { resource, key, sealed, plain, stale, error } of row.values ?? []) {
      const cipher = opened.encryption.of(resource)?.cipher ?? identity.cipher;
      const context = { key, resource };
      const read = (data: Buffer) => {
        try {
          const { plain, isStale } = cipher.open(data, context);
          return { plain: plain.toString(), isStale };
        } catch (error) {
          assert.ok(error instanceof Error || error instanceof EncryptedValue);
          return error.message;
        }
      };
      const want = error ?? { plain: plain ?? "", isStale: stale ?? false };
      assert.deepEqual(read(Buffer.from(sealed, "base64")), want, sealed);
      assert.deepEqual(read(cipher.seal(Buffer.from("again"), context)), { plain: "again", isStale: false });
    }
  });
}
