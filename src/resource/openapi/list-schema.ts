/** The schema of a list of custom resources, which no table has. Source: upstream's documents of custom resources. */
import type { Field, Struct } from "../../lib/schema/schema.ts";
import { builtinSchema } from "../builtin-schemas.ts";

/** @param list group, version and kind of the list @param item schema of what it holds */
export function listSchema(list: { readonly group: string; readonly version: string; readonly kind: string }, item: Struct): Struct {
  const { definition, goType } = item;
  const like = builtinSchema("io.k8s.api.core.v1.ConfigMapList");
  const fields: readonly Field[] = like.fields.map((field) =>
    field.name === "items" ? { ...field, type: { kind: "list", items: item, listType: "atomic", mapKeys: [], listTypeDeclared: false } } : field,
  );
  return {
    kind: "struct",
    definition: definition.replace(/[^.]*$/, list.kind),
    goType: goType.replace(/[^.]*$/, list.kind),
    fields,
    byName: new Map(fields.map((field) => [field.name, field])),
    atomic: false,
    preserveUnknown: false,
    groupVersionKinds: [{ group: list.group, version: list.version, kind: list.kind }],
  };
}
