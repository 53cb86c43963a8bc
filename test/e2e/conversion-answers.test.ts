/**
 * Requests at both versions of a kind while its conversion webhook answers well, badly and one way only, against the answers of a kube-apiserver
 * (tools/golden/server/conversions.ts).
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { startWebhookServer, type WebhookServer } from "../support/webhook-server.ts";
import { askWhileConverting, type ConversionRow, type Reply } from "./conversion/answers.ts";
import { good } from "./conversion/targets.ts";

const file = new URL("conversion/testdata/answers.json.gz", import.meta.url);
const recorded: readonly ConversionRow[] = JSON.parse(gunzipSync(readFileSync(file)).toString());

/** Answers that differ, by what was asked, and why. */
const differing: ReadonlyMap<RegExp, string> = new Map([
  [
    /^moved-\d+ (?:delete|let go|delete all) at v1, fails to v1$/,
    "kube-apiserver converts the object that it has removed for an answer that does not show it, and reports the failure; the object is gone all the same",
  ],
]);

let server: TestServer;
let client: RawClient;
let webhook: WebhookServer;
let reply: Reply = good;

before(async () => {
  webhook = await startWebhookServer((request) => reply(request));
  server = await startTestServer({ controllers: ["namespace-controller"] }); // None was there when the answers were recorded.
  client = rawClient(server.kubeconfig);
});
after(async () => {
  client.close();
  await server.close();
  await webhook.close();
});

test("a webhook that fails makes every request fail that needs its conversions, and no other", async () => {
  const answer = (next: Reply): void => {
    reply = next;
  };
  const rows = await askWhileConverting(
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
