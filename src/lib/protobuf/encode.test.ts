import assert from "node:assert/strict";
import { test } from "node:test";
import { randomObject } from "../../../test/support/random-object.ts";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { builtinDefinitionNames, builtinSchema, builtinType } from "../../catalog/builtin-schemas.ts";
import { encodeAny } from "../json/encode-any.ts";
import { conform, decodeJson } from "../schema/decode.ts";
import { encodeObject } from "../schema/encode.ts";
import type { Field, Struct, Type } from "../schema/schema.ts";
import { decodeProtobuf } from "./decode.ts";
import { encodeProtobuf } from "./encode.ts";

const rounds = process.env.COXSWAIN_TEST_FULL ? 100 : 1;

/** Every type that has a message. */
const schemas = builtinDefinitionNames()
  .filter((name) => builtinType(name).kind === "struct")
  .map(builtinSchema)
  .filter(({ protobufName }) => protobufName !== undefined);

test(`decoding an encoded object returns the same object, SEED=${seed}`, () => {
  for (const [index, schema] of schemas.entries()) {
    const random = seededRandom(seed + index);
    for (let round = 0; round < rounds; round++) {
      const { object } = decodeJson(Buffer.from(encodeAny(randomObject(schema, random, 4))), schema);
      const bytes = encodeProtobuf(object, schema);
      const again = conform(decodeProtobuf(bytes, schema), schema).object;
      assert.equal(carried(again, schema), carried(object, schema), `${schema.definition} SEED=${seed}`);
      assert.ok(encodeProtobuf(again, schema).equals(bytes), `${schema.definition} SEED=${seed}`);
    }
  }
});

/** The JSON of the fields that protobuf has. */
function carried(object: Record<string, unknown>, schema: Struct): string {
  return encodeObject(prune(object, schema) as object, schema).json.toString();
}

/** Removes members that protobuf does not have: the kinds of nested objects. */
function prune(value: unknown, type: Type): unknown {
  if (type.kind === "any") return pruneForm(value, type.forms ?? []);
  if (typeof value !== "object" || value === null) return value;
  if (type.kind === "list") return (value as unknown[]).map((item) => prune(item, type.items));
  if (type.kind !== "struct" && type.kind !== "map") return value;
  const pruned: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) {
    if (type.kind === "map") pruned.push([key, prune(member, type.values)]);
    else if (isCarried(type.byName.get(key) as Field))
      pruned.push([key, prune(member, (type.byName.get(key) as Field).type)]);
  }
  return Object.fromEntries(pruned);
}

function pruneForm(value: unknown, forms: readonly Type[]): unknown {
  const form = forms.find(
    ({ kind }) => kind === (Array.isArray(value) ? "list" : typeof value === "object" ? "struct" : ""),
  );
  return form === undefined ? value : prune(value, form);
}

function isCarried({ protobuf, embedded }: Field): boolean {
  return protobuf !== undefined && (embedded === undefined || embedded.protobuf !== undefined);
}
