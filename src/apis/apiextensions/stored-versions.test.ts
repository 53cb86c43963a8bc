/** Definitions at the version at which kube-apiserver stores them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../apimachinery/object.ts";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { storedDefinitionOf } from "../../catalog/stored-kinds.ts";
import { decodeJson } from "../../lib/schema/decode.ts";
import { encodeObject } from "../../lib/schema/encode.ts";
import { definitionV1beta1 } from "./stored-versions.ts";

const older = builtinSchema(
  storedDefinitionOf("apiextensions.k8s.io", "v1beta1", "CustomResourceDefinition") as string,
);
const current = builtinSchema("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition");
const schema = { openAPIV3Schema: { type: "object", properties: { a: { type: "string", default: "b" } } } };
const column = { name: "A", type: "string", jsonPath: ".a" };
const version = (name: string, fields: object = {}): object => ({
  name,
  served: true,
  storage: name === "v1",
  ...fields,
});

const rows: [what: string, spec: object, stored: object][] = [
  [
    "one version",
    { versions: [version("v1", { schema, additionalPrinterColumns: [column], subresources: { status: {} } })] },
    {
      version: "v1",
      validation: schema,
      subresources: { status: {} },
      additionalPrinterColumns: [{ name: "A", type: "string", JSONPath: ".a" }],
      versions: [version("v1")],
    },
  ],
  [
    "versions that differ",
    { versions: [version("v1", { schema }), version("v2", { additionalPrinterColumns: [column] })] },
    {
      version: "v1",
      versions: [
        version("v1", { schema }),
        version("v2", { additionalPrinterColumns: [{ name: "A", type: "string", JSONPath: ".a" }] }),
      ],
    },
  ],
  [
    "a conversion webhook",
    {
      versions: [version("v1")],
      conversion: {
        strategy: "Webhook",
        webhook: { clientConfig: { url: "https://a.example" }, conversionReviewVersions: ["v1"] },
      },
      preserveUnknownFields: true,
    },
    {
      version: "v1",
      versions: [version("v1")],
      conversion: {
        strategy: "Webhook",
        webhookClientConfig: { url: "https://a.example" },
        conversionReviewVersions: ["v1"],
      },
      preserveUnknownFields: true,
    },
  ],
];

const textOf = (object: object): string => encodeObject(object, current).json.toString();

for (const [what, spec, stored] of rows) {
  test(`a definition with ${what} is stored as upstream does, and read again`, () => {
    const names = { plural: "foos", kind: "Foo", singular: "foo", listKind: "FooList" };
    const definition = {
      metadata: { name: "foos.x.io" },
      spec: { group: "x.io", names, scope: "Cluster", conversion: { strategy: "None" }, ...spec },
      status: { conditions: [], acceptedNames: names, storedVersions: ["v1"] },
    } as unknown as KubeObject;
    const before = textOf(definition);
    const { json } = encodeObject(definitionV1beta1.toShared?.(definition) as object, older);
    assert.equal(textOf(definition), before);
    const { group, names: _, scope, ...kept } = JSON.parse(json.toString()).spec;
    assert.deepEqual(kept, { conversion: { strategy: "None" }, preserveUnknownFields: false, ...stored });
    const read = definitionV1beta1.toStorage(decodeJson(json, older).object as KubeObject);
    assert.equal(textOf(read), before);
  });
}
