/** The fields that a manager owns after a write that also changes fields which the write resets. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { send } from "../../../test/support/api-client.ts";
import { openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import type { ManagedFieldsEntry } from "../../apimachinery/object.ts";

interface Row {
  readonly collection: string;
  readonly body: { readonly kind: string; readonly metadata: { readonly name: string } };
  readonly subresource: string;
  readonly status: object;
  /**
   * The fieldsV1 of the patch's manager, as recorded from kube-apiserver, without `.`: its controllers
   * add lists first. Null for no entry.
   */
  readonly owned: object | null;
}

const rows = readFileSync(new URL("testdata/resets.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Row);

const metadata = {
  labels: { l: "1" },
  annotations: { a: "1" },
  finalizers: ["a.b/c", "d.e/f"],
  ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "u" }],
};

const withoutDots = (key: string, value: unknown): unknown => (key === "." ? undefined : value);

for (const { collection, body, subresource, status, owned } of rows) {
  test(`${body.kind} ${subresource}`, async () => {
    const groups = [collection.split("/")[2] as string];
    const featureGates = "AllAlpha=true,AllBeta=true";
    const { registry, close } = await openMemoryRegistry({ featureGates, allVersionsOf: groups });
    await send(registry, "POST /api/v1/namespaces", { metadata: { name: "n" } });
    const created = await send(registry, `POST ${collection}`, body);
    assert.equal(created.status, 201, created.body.message);
    const path = [collection, body.metadata.name, subresource].filter((part) => part !== "").join("/");
    const patched = await send(registry, `MERGE ${path}?fieldManager=w`, { metadata, status });
    assert.equal(patched.status, 200, patched.body.message);
    const entries: ManagedFieldsEntry[] = patched.body.metadata.managedFields;
    const fields = entries.find(({ manager }) => manager === "w")?.fieldsV1 ?? null;
    assert.deepEqual(JSON.parse(JSON.stringify(fields), withoutDots), owned);
    await close();
  });
}
