/**
 * Writes with numbers in every spelling and with metadata of the wrong types, compared with the
 * answers of a kube-apiserver (tools/golden/server/odd-bodies.ts).
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { startServerWithClient } from "../support/server-with-client.ts";
import { type OddRow, sendOddBodies } from "./custom-resources/odd-bodies.ts";

const file = new URL("custom-resources/testdata/odd-bodies.json.gz", import.meta.url);
const recorded: readonly OddRow[] = JSON.parse(gunzipSync(readFileSync(file)).toString());

const { client } = await startServerWithClient();

test("every write with odd values has kube-apiserver's answer", async () => {
  const rows = await sendOddBodies((line, body, headers) => {
    const [method = "", path = ""] = line.split(" ");
    return client.send({ method, path, headers, body });
  });
  const differing = rows.flatMap((row, index) =>
    JSON.stringify(row) === JSON.stringify(recorded[index]) ? [] : [[row, recorded[index]]],
  );
  assert.deepEqual(differing, []);
  assert.equal(rows.length, recorded.length);
});
