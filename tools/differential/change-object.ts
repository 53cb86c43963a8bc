/** Changes objects at random places, so that most of each stays valid. */
import { cloneJson, isObject } from "../../src/lib/json/values.ts";
import type { Struct, Type } from "../../src/lib/schema/schema.ts";
import { repeatedMembers } from "./body-text.ts";
import type { Random } from "./random.ts";
import { keyOf, valueNear } from "./values.ts";

type Json = Record<string, unknown>;

/** Fields with an effect on other sequences: defaults of the cluster. */
const avoided: ReadonlySet<string> = new Set(["globalDefault", "metadata"]);

/** @returns a copy of which one place is changed */
export function changeObject(object: Json, schema: Struct, random: Random): Json {
  const copy = cloneJson(object);
  changeStruct(copy, schema, random);
  return copy;
}

function changeStruct(object: Json, { fields, byName }: Struct, random: Random): void {
  const present = Object.keys(object).filter((name) => byName.has(name) && !avoided.has(name));
  const composite = present.filter((name) => typeof object[name] === "object" && object[name] !== null);
  if (composite.length > 0 && random.chance(0.75)) {
    const name = random.pick(composite);
    return changeValue(object, name, byName.get(name)?.type as Type, random);
  }
  if (random.chance(0.06)) return void Object.assign(object, { unknownField: 1 });
  if (present.length > 0 && random.chance(0.25)) {
    delete object[random.pick(present)];
    return;
  }
  if (present.length > 0 && random.chance(0.05)) return repeatMember(object, random.pick(present));
  const candidates = fields.filter(({ name }) => !avoided.has(name));
  const field = random.pick(candidates.length > 0 ? candidates : fields);
  if (field !== undefined && !avoided.has(field.name)) object[field.name] = valueNear(field.type, random);
}

/** The whole object becomes a list of members, in which one key is twice. */
function repeatMember(object: Json, name: string): void {
  const members = [...Object.entries(object), [name, object[name]] as const];
  for (const key of Object.keys(object)) delete object[key];
  Object.assign(object, repeatedMembers(members));
}

function changeValue(holder: Json, key: string, type: Type, random: Random): void {
  const value = holder[key];
  if (type.kind === "struct" && isObject(value)) return changeStruct(value, type, random);
  if (type.kind === "map" && isObject(value)) return changeMap(value, type.values, random);
  if (type.kind === "list" && Array.isArray(value)) {
    holder[key] = changeList(value, type.items, random);
    return;
  }
  holder[key] = valueNear(type, random);
}

function changeMap(map: Json, values: Type, random: Random): void {
  const keys = Object.keys(map);
  if (keys.length > 0 && random.chance(0.6)) return changeValue(map, random.pick(keys), values, random);
  map[keyOf(random)] = valueNear(values, random);
}

function changeList(list: readonly unknown[], items: Type, random: Random): unknown[] {
  const roll = random.below(8);
  if (roll === 0) return [...list, valueNear(items, random)];
  if (list.length === 0 || roll === 1) return [];
  const at = random.below(list.length);
  if (roll === 2) return [...list, cloneJson(list[at])];
  if (roll === 3) return list.filter((_item, index) => index !== at);
  if (roll === 4) return list.toReversed();
  const holder = { item: cloneJson(list[at]) };
  changeValue(holder, "item", items, random);
  return list.with(at, holder.item);
}

const owner = { apiVersion: "v1", kind: "ConfigMap", name: "a", uid: "11111111-0000-0000-0000-000000000000" };
const metadataChanges: readonly Json[] = [
  { labels: { a: "b", "example.com/c": "" } },
  { labels: { "-a": "b" } },
  { labels: { a: "x".repeat(64) } },
  { labels: { a: 1 } },
  { labels: null },
  { annotations: { a: "b", "Example.com/C": "x".repeat(3000) } },
  { annotations: { "a b": "c" } },
  { annotations: { a: "x".repeat(262_145) } },
  { finalizers: ["example.com/a"] },
  { finalizers: ["example.com/a", "example.com/a"] },
  { finalizers: ["a", "foregroundDeletion", "orphan"] },
  { finalizers: [""] },
  { ownerReferences: [owner] },
  { ownerReferences: [owner, { ...owner, controller: true }] },
  {
    ownerReferences: [
      { ...owner, controller: true },
      { ...owner, uid: "2", controller: true },
    ],
  },
  { ownerReferences: [{ ...owner, uid: "" }] },
  { ownerReferences: [{ ...owner, apiVersion: "a/b/c" }] },
  { ownerReferences: [{ ...owner, apiVersion: "v1", kind: "Event" }] },
  { ownerReferences: [{ ...owner, blockOwnerDeletion: true, unknown: 1 }] },
  { resourceVersion: "1" },
  { resourceVersion: "a" },
  { resourceVersion: "0" },
  { resourceVersion: "18446744073709551616" },
  { uid: "11111111-0000-0000-0000-000000000000" },
  { generation: 7 },
  { creationTimestamp: "2020-01-01T00:00:00Z" },
  { creationTimestamp: null },
  { deletionTimestamp: "2020-01-01T00:00:00Z" },
  { deletionGracePeriodSeconds: 5 },
  { selfLink: "/a" },
  { namespace: "other" },
  { namespace: "" },
  { generateName: "g-" },
  { generateName: "G_" },
  { managedFields: [{}] },
  { managedFields: [{ manager: "m", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} }] },
  {
    managedFields: [
      { manager: "m", operation: "Other", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: { "f:a": {} } },
    ],
  },
  { managedFields: [{ manager: "m".repeat(129), operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV2" }] },
  {
    managedFields: [
      { manager: "m", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: { x: {} } },
    ],
  },
  { unknown: 1 },
  { name: 1 },
  { clusterName: "a" },
];

/** @returns a copy whose metadata is damaged or unusual */
export function changeMetadata(object: Json, random: Random): Json {
  return { ...object, metadata: { ...(object.metadata as object), ...random.pick(metadataChanges) } };
}
