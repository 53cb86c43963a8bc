/**
 * Random requests, damaged ones among them: patches of all types with and without directives, PUT,
 * POST, with all levels of field validation.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { send } from "../../../test/support/api-client.ts";
import { openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import { openRequestGolden, type RequestGolden } from "../../../test/support/request-golden.ts";

const golden: RequestGolden = JSON.parse(
  gunzipSync(readFileSync(`${import.meta.dirname}/testdata/requests.json.gz`)).toString(),
);

test("answers random requests as kube-apiserver", async () => {
  const { registry, close } = await openMemoryRegistry();
  await send(registry, "POST /api/v1/namespaces", { metadata: { name: "work" } });
  const run = await openRequestGolden(golden, async (line, contentType, body) => {
    const { status, warnings, bytes } = await send(registry, line, body, {
      "content-type": contentType,
      "user-agent": "",
    });
    return { status, warnings, text: bytes.toString() };
  });
  for (const row of golden.rows) assert.deepEqual(await run(row), row);
  await close();
});
