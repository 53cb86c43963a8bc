/**
 * Requests at both versions of a kind while its conversion webhook works, fails, or fails in one
 * direction, compared with the answers of a kube-apiserver (tools/golden/server/conversions.ts).
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { startServerWithClient } from "../support/server-with-client.ts";
import { startWebhookServer } from "../support/webhook-server.ts";
import { type ConversionRow, type Reply, sendWhileConverting } from "./conversion/answers.ts";
import { good } from "./conversion/targets.ts";

const file = new URL("conversion/testdata/answers.json.gz", import.meta.url);
const recorded: readonly ConversionRow[] = JSON.parse(gunzipSync(readFileSync(file)).toString());

/** Requests whose answers differ, and the reason. */
const differing: ReadonlyMap<RegExp, string> = new Map([
  [
    /^moved-\d+ (?:delete|let go|delete all) at v1, fails to v1$/,
    "kube-apiserver converts the deleted object for an answer that does not contain it, and reports the failure; the object is deleted nevertheless",
  ],
]);

let reply: Reply = good;
const webhook = await startWebhookServer((request) => reply(request));
// No other controller ran when the answers were recorded.
const { client } = await startServerWithClient({ controllers: ["namespace-controller"] });
after(() => webhook.close());

test("a failing webhook makes those requests fail that need its conversions, and no others", async () => {
  const answer = (next: Reply): void => {
    reply = next;
  };
  const rows = await sendWhileConverting(
    async (line, body, sent) => {
      const [method = "", path = ""] = line.split(" ");
      const request = {
        method,
        path,
        headers: { "content-type": "application/json", ...sent },
        ...(body !== undefined && { body }),
      };
      const { status, headers, text } = await client.send(request);
      return { status, warnings: [headers.warning ?? []].flat().join(", "), text };
    },
    { url: webhook.url, ca: webhook.ca, answer },
  );
  assert.equal(rows.length, recorded.length);
  const found = rows.flatMap((row, index) =>
    JSON.stringify(row) === JSON.stringify(recorded[index]) ? [] : [[row, recorded[index]] as const],
  );
  const isNamed = ([[what]]: readonly [ConversionRow, unknown]): boolean =>
    [...differing.keys()].some((rule) => rule.test(what));
  assert.deepEqual(
    found.filter((one) => !isNamed(one)),
    [],
  );
  assert.equal(found.length, 3, "an answer that is named as differing does not differ");
});
