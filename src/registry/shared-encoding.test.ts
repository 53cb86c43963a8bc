/** Random objects of all stored built-in kinds, through each encoding of shared stores. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomObject } from "../../test/support/random-object.ts";
import { seed } from "../../test/support/seed.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { builtinConversions, builtinStrategies, storedConversions } from "../apis/index.ts";
import { builtinDefinitions } from "../catalog/builtin-definitions.ts";
import type { ResourceStore, StorageForm } from "../catalog/contract.ts";
import { decodeValue, type StoredKind } from "../catalog/stored-value.ts";
import { hasMagic } from "../lib/protobuf/envelope.ts";
import { encodeObject } from "../lib/schema/encode.ts";
import type { StorageMediaType } from "./contract.ts";
import { sharedForm } from "./shared-encoding.ts";

const definitions = builtinDefinitions({
  strategies: builtinStrategies,
  conversions: builtinConversions,
  storedConversions,
  served: { serves: () => true },
});
const objectsOfEachKind = 6;

/** The object as it is stored: with the defaults that reading it sets. */
function storedForm(kind: StoredKind, object: object): KubeObject {
  const { kind: name, schema, group, version } = kind.form;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  const named = { ...object, kind: name, apiVersion, metadata: { name: "a", resourceVersion: "9" } };
  const { json } = encodeObject(named, schema);
  const stored = decodeValue(json, kind).object;
  // Definitions are stored at another version, which has more defaults for objects that are not valid.
  if (name === "CustomResourceDefinition")
    stored.spec = { ...stored.spec, scope: "Cluster", versions: [{ name: "v1" }] };
  stored.metadata.resourceVersion = "9"; // Of the existing object; it is never stored.
  return stored;
}

const textOf = (object: object, { schema }: StorageForm): string => encodeObject(object, schema).json.toString();

for (const mediaType of [
  "application/vnd.kubernetes.protobuf",
  "application/yaml",
  "application/json",
] as const satisfies readonly StorageMediaType[]) {
  test(`all kinds are read as they were stored in ${mediaType} (SEED=${seed})`, () => {
    const random = seededRandom(seed);
    for (const definition of definitions) {
      const { storage: form } = definition;
      if (form === undefined || form.group !== definition.group) continue;
      const kind = { form, definition, gates: undefined };
      for (let count = 0; count < objectsOfEachKind; count++) {
        const object = storedForm(kind, randomObject(form.schema, random));
        const { json } = encodeObject(object, form.schema);
        const resource = { definition, store: { form } as ResourceStore };
        const { shared = json } = sharedForm({ mediaType, customCbor: false }, resource, object, json);
        const isJson: boolean =
          mediaType === "application/json" || /^api(?:extensions|registration)\./.test(form.group);
        assert.equal(hasMagic(shared), !isJson && mediaType !== "application/yaml", form.kind);
        assert.equal(textOf(decodeValue(shared, kind).object, form), json.toString(), form.kind);
      }
    }
  });
}
