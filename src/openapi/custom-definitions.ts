/**
 * OpenAPI definitions of custom kinds and their lists. Source:
 * `k8s.io/apiextensions-apiserver@v0.36.0/pkg/controller/openapi/builder/builder.go`.
 */
import { builtinSchema } from "../catalog/builtin-schemas.ts";
import type { Json } from "../lib/json/values.ts";
import type { DefinitionWriter } from "./definitions.ts";
import type { CustomKind, KindName } from "./path-item.ts";
import { publishedBody } from "./published-schema.ts";

/** The name of the definition: `com.example.v1.Ship` for `example.com/v1 Ship`. */
export function customDefinitionName({ group, version, kind }: KindName): string {
  return [...group.split(".").reverse(), version, kind].join(".");
}

/** The definition of a custom kind or list. */
export function customDefinition(kind: CustomKind, writer: DefinitionWriter): Json {
  const { group, version, published } = kind;
  const fields = published.selectableFields.map((fieldPath) => ({ fieldPath }));
  return {
    ...(kind.itemKind === undefined
      ? publishedBody(published.schema, writer)
      : listBody({ ...kind, itemKind: kind.itemKind }, writer)),
    "x-kubernetes-group-version-kind": [{ group, kind: kind.kind, version }],
    ...(fields.length > 0 && { "x-kubernetes-selectable-fields": fields }),
  };
}

const conventions = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

function listBody(
  { itemKind, plural, ...list }: CustomKind & { readonly itemKind: string },
  writer: DefinitionWriter,
): Json {
  const item = { $ref: writer.dialect.references + customDefinitionName({ ...list, kind: itemKind }) };
  return {
    description: `${list.kind} is a list of ${itemKind}`,
    type: "object",
    required: ["items"],
    properties: {
      ...writer.typeMeta(),
      items: { description: `List of ${plural}. More info: ${conventions}`, type: "array", items: item },
      metadata: writer.metadata(builtinSchema("io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta")),
    },
  };
}
