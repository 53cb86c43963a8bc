/** Replays {@link WriteGolden}s on a memory registry. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { send } from "./api-client.ts";
import { manualClock } from "./manual-clock.ts";
import { type MemoryRegistryOptions, openMemoryRegistry } from "./memory-registry.ts";
import { openWrites, type WriteGolden } from "./write-golden.ts";

/**
 * Declares a test for each row, whose title names the changes.
 *
 * @param file a golden file of writes
 */
export function replayWrites(file: string, options: MemoryRegistryOptions = {}): void {
  const golden: WriteGolden = JSON.parse(gunzipSync(readFileSync(file)).toString());
  const clock = manualClock(Date.now()); // The clock never advances, so that the times in two answers are equal.
  const opened = openMemoryRegistry({ clock, ...options });
  const writes = opened.then(async ({ registry }) => {
    const namespace = /\/namespaces\/([^/]+)\//.exec(golden.path)?.[1];
    if (namespace !== undefined) await send(registry, "POST /api/v1/namespaces", { metadata: { name: namespace } });
    return openWrites(
      {
        send: (line, body) => send(registry, line, body),
        async seed(key, object) {
          await registry.storage.commit([], [{ key, value: Buffer.from(JSON.stringify(object)) }]);
        },
      },
      golden,
    );
  });
  after(async () => (await opened).close());
  for (const [index, row] of golden.rows.entries()) {
    const [verb, base, changes, code, answer = [], warnings = ""] = row;
    test(`row ${index}: ${verb} ${base} ${JSON.stringify(changes).slice(0, 120)}`, async () => {
      assert.deepEqual(await (await writes).run(row), { code, answer, warnings });
      assert.deepEqual((await opened).mismatches.splice(0), [], "declarative and hand-written validation differ");
    });
  }
}
