/** Compares the results of webhook responses with upstream's (tools/golden/conversion-webhook). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ApiError } from "../../../apimachinery/errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { encodeAny, encodeSorted } from "../../../lib/json/encode-any.ts";
import { parseJson } from "../../../lib/json/parse.ts";
import type { WebhookClient } from "../../../webhook/contract.ts";
import { noObserver } from "../../../webhook/conversion-observer.ts";
import { webhookConverter } from "./webhook-converter.ts";

interface Row {
  readonly name: string;
  readonly in: KubeObject | readonly KubeObject[];
  readonly list?: boolean;
  readonly to: string;
  readonly reviews: readonly string[];
  /** `UID` is replaced by the uid of the review. */
  readonly answer: string;
  readonly status?: number;
  readonly request?: unknown;
  readonly error?: string;
  readonly objects?: readonly KubeObject[];
}

const lines = readFileSync(join(import.meta.dirname, "testdata/conversions.jsonl"), "utf8")
  .trimEnd()
  .split("\n");
const rows = lines.map((line) => parseJson(Buffer.from(line)).value as unknown as Row);

for (const row of rows) {
  test(`webhook response: ${row.name}`, async () => {
    let uid = "";
    let sent: unknown;
    const client: WebhookClient = {
      async post(body) {
        sent = JSON.parse(body.toString());
        uid = (sent as { request: { uid: string } }).request.uid;
        const answer = Buffer.from(row.answer.replaceAll("UID", uid));
        return { status: row.status ?? 200, headers: { "content-type": "application/json" }, body: answer };
      },
      close() {},
    };
    const convert = webhookConverter({
      name: "gadgets.example.com",
      listKind: "GadgetList",
      hasVersion: (version) => ["v1", "v2", "v3"].some((name) => version === `example.com/${name}`),
      reviewVersions: row.reviews,
      client: () => client,
      observer: noObserver,
    });
    const desired = `example.com/${row.to}`;
    const input = [row.in].flat() as KubeObject[];
    const others = input.filter(({ apiVersion }) => apiVersion !== desired);
    const json = others.map((object) => Buffer.from(encodeSorted(object)));
    let objects: KubeObject[] = [];
    let error = "";
    try {
      const converted = json.length === 0 ? [] : await convert(json, desired, row.list ? "list" : "object");
      objects = input.map((object) => (object.apiVersion === desired ? object : (converted.shift() as KubeObject)));
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown;
      assert.equal(thrown.status.code, 500);
      error = thrown.message.replaceAll(uid || "none", "UID");
    }
    assert.equal(error, row.error ?? "");
    assert.deepEqual(encodeSorted(objects), encodeSorted(row.objects ?? (row.error === undefined ? input : [])));
    assert.equal(encodeAny(sent ?? null).replaceAll(uid || "none", "UID"), encodeAny(row.request ?? null));
  });
}
