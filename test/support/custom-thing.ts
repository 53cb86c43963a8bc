/** A custom resource for tests. */

import type { ResourceDefinition, StorageForm } from "../../src/catalog/contract.ts";
import type { Struct, Type } from "../../src/lib/schema/schema.ts";

/**
 * The resource `things` of `example.com`, which has declared fields and a part that preserves
 * unknown fields.
 *
 * @param model a built-in definition from which the rest is copied
 */
export function customThing(model: ResourceDefinition): ResourceDefinition {
  const plain = { pointer: false, omitEmpty: true, omitZero: false, required: false };
  const fields = (...list: readonly { name: string; type: Type }[]): Pick<Struct, "fields" | "byName"> => {
    const all = list.map((field) => ({ ...plain, ...field }));
    return { fields: all, byName: new Map(all.map((field) => [field.name, field])) };
  };
  const struct = { kind: "struct", definition: "", goType: "", atomic: false, preserveUnknown: false } as const;
  const text: Type = { kind: "string" };
  const item: Struct = { ...struct, ...fields({ name: "name", type: text }, { name: "value", type: text }) };
  const list = { kind: "list", mapKeys: [] } as const;
  const spec: Struct = {
    ...struct,
    ...fields(
      { name: "keyed", type: { ...list, items: item, listType: "map", mapKeys: ["name"] } },
      { name: "set", type: { ...list, items: text, listType: "set" } },
      { name: "atomic", type: { ...list, items: text, listType: "atomic" } },
      { name: "whole", type: { kind: "map", values: text, atomic: true } },
    ),
  };
  const meta = (model.storage as StorageForm).schema.fields.filter(({ name }) =>
    ["kind", "apiVersion", "metadata"].includes(name),
  );
  const free: Struct = { ...struct, ...fields(), preserveUnknown: true };
  const schema: Struct = { ...struct, ...fields(...meta, { name: "spec", type: spec }, { name: "free", type: free }) };
  const names = { group: "example.com", resource: "things", singular: "thing", kind: "Thing", listKind: "ThingList" };
  const storage = {
    ...(model.storage as StorageForm),
    group: "example.com",
    kind: "Thing",
    prefix: "/registry/example.com/things/",
    schema,
  };
  const versions = model.versions.filter(({ version }) => version === "v1").map((version) => ({ ...version, schema }));
  return { ...model, ...names, storage, versions, custom: true };
}
