import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinDefinitionNames, builtinType } from "../../catalog/builtin-schemas.ts";

/** A list of no resource, which has them the other way around. */
const other = "io.k8s.apimachinery.pkg.apis.meta.v1beta1.PartialObjectMetadataList";

test("the lists of all kinds have their metadata and items under the same numbers", () => {
  for (const name of builtinDefinitionNames()) {
    const type = builtinType(name);
    const isList =
      type.kind === "struct" &&
      type.groupVersionKinds !== undefined &&
      type.byName.has("items") &&
      type.protobufName !== undefined;
    if (isList && name !== other)
      assert.deepEqual(
        [type.byName.get("metadata")?.protobuf?.number, type.byName.get("items")?.protobuf?.number],
        [1, 2],
        name,
      );
  }
});
