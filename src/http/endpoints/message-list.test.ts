import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinDefinitionNames, builtinType } from "../../resource/builtin-schemas.ts";

test("the lists of all kinds have their metadata and items under the same numbers", () => {
  for (const name of builtinDefinitionNames()) {
    const type = builtinType(name);
    const isList = type.kind === "struct" && type.groupVersionKinds !== undefined && type.byName.has("items") && type.protobufName !== undefined;
    if (isList) assert.deepEqual([type.byName.get("metadata")?.protobuf?.number, type.byName.get("items")?.protobuf?.number], [1, 2], name);
  }
});
