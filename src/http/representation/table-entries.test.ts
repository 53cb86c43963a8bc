/** Rows of stored objects are read from a few of their members; rows of other objects from all. Both are equal. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { type MemoryRegistry, openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import { type KubeObject, parseGroupVersion } from "../../apimachinery/object.ts";
import { builtinStrategies } from "../../apis/index.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import { conform } from "../../lib/schema/decode.ts";
import { encodeObject } from "../../lib/schema/encode.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { makeEntry } from "../../watch-cache/entry.ts";
import { tableBody, tableOfObjects } from "./table.ts";

/** Random objects of every kind: see `columns.golden.test.ts`. */
const file = join(import.meta.dirname, "../../apis/testdata/tables.jsonl.gz");
const [, ...lines] = gunzipSync(readFileSync(file)).toString().trim().split("\n");
const objects = lines.map((line) => (JSON.parse(line) as { object: KubeObject }).object);
const groups = [...new Set(objects.map(groupOf))];

function groupOf({ apiVersion = "" }: KubeObject): string {
  return parseGroupVersion(apiVersion)?.group ?? "";
}

describe("rows of stored objects", () => {
  const now = Date.UTC(2026, 0, 1);
  let registry: MemoryRegistry;
  before(async () => {
    registry = await openMemoryRegistry({ allVersionsOf: groups });
  });
  after(() => registry.close());

  /** @returns undefined for kinds that are not stored */
  function stored(sent: KubeObject, managed: boolean): { resolved: Resolved; entry: Entry } | undefined {
    const kind = registry.registry.catalog.findKind(
      groupOf(sent),
      parseGroupVersion(sent.apiVersion ?? "")?.version ?? "",
      sent.kind ?? "",
    );
    if (kind === undefined) return undefined;
    const store = kind.resource.store as ResourceStore;
    const object = conform(structuredClone(sent), store.form.schema).object as KubeObject;
    object.metadata.creationTimestamp ??= "2025-01-01T00:00:00Z"; // As all stored objects have it.
    if (managed) object.metadata.managedFields = [managedBy("a"), managedBy("b")];
    const { json, ...seal } = encodeObject(object, store.form.schema);
    return { resolved: kind, entry: makeEntry(`${store.form.prefix}x`, 7, json, seal, store.source) };
  }

  const forms = (["None", "Metadata", "Object"] as const).map(
    (includeObject) => ({ version: "v1", includeObject }) as const,
  );
  test("are those of the same objects that are not stored", () => {
    const seen = new Set<string>();
    for (const sent of objects)
      for (const managed of [false, true]) {
        const found = stored(sent, managed);
        if (found === undefined) continue;
        const { resolved, entry } = found;
        const { definition, store } = resolved.resource;
        seen.add(`${definition.group}/${definition.resource}`);
        for (const form of forms) {
          const meta = { resourceVersion: "7" };
          const whole = tableOfObjects([(store as ResourceStore).decode(entry)], resolved, form, now, meta);
          for (const round of ["first", "kept"])
            assert.equal(
              String(tableBody([entry], resolved, form, meta, now)),
              String(whole),
              `${round} ${entry.json}`,
            );
        }
      }
    assert.deepEqual(
      Object.keys(builtinStrategies).filter((key) => builtinStrategies[key]?.columns !== undefined && !seen.has(key)),
      // Not stored, without recorded objects, and stored as the events of the core group.
      ["/componentstatuses", "apiregistration.k8s.io/apiservices", "events.k8s.io/events"],
    );
  });
});

function managedBy(manager: string) {
  const fieldsV1 = { "f:data": { 'k:{"a":"}]}"}': {}, "f:x": {} } };
  return {
    manager,
    operation: "Update",
    apiVersion: "v1",
    time: "2026-01-01T00:00:00Z",
    fieldsType: "FieldsV1",
    fieldsV1,
  };
}
