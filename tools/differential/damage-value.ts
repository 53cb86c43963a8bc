/** Damages JSON values at random places: other types, odd numbers, odd metadata, and odd directives of strategic merge patches. */
import { cloneJson, isObject } from "../../src/lib/json/values.ts";
import { raw } from "./body-text.ts";
import type { Random } from "./random.ts";

type Json = Record<string, unknown>;
export type Place = readonly (string | number)[];

const nested = (depth: number): unknown => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);

const oddValues: readonly unknown[] = [
  ...[null, true, false, 0, 1, -1, 1.5, 2_147_483_648, -2_147_483_649],
  ...["1e400", "-1e400", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "-0", "-0.0"].map(raw),
  ...["1e16", "1E2", "2.0", "1e-7", "123456789012345678901234567890", "0.1e1"].map(raw),
  ...["", "x", " ", "\u0000", "\u2028", "é", "\u{1f600}", "\ud800", "__proto__", "x".repeat(300), "1", "null", "{}"],
  ...["-1", "0x1", "1e9", "9Pi", "2020-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "1h", "10.0.0.1", "::1", "a=b", "a,b"],
  ...[[], {}, [null], [[]], [{}], [1], ["", ""], { a: 1 }, { "": null }, { a: { b: [] } }, { a: null }, nested(200)],
  ...[{ kind: "Pod" }, { apiVersion: "v1", kind: "Pod" }, { name: "a" }, [{ name: "a" }, { name: "a" }], { key: null }],
];

/** A value of any type, often of another than the replaced one. */
export function oddValue(random: Random, old?: unknown): unknown {
  const roll = random.below(12);
  if (old === undefined || roll > 4) return cloneJson(random.pick(oddValues));
  return [[old], { a: old }, [old, old], JSON.stringify(old), [old, null]][roll];
}

const metadataFields = [
  "managedFields",
  "ownerReferences",
  "finalizers",
  "labels",
  "annotations",
  "name",
  "namespace",
  "generateName",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
];

const fieldsV1 = {
  "f:metadata": { "f:labels": { ".": {}, "f:a": {} }, "f:finalizers": { 'v:"example.com/a"': {} } },
  "f:spec": { "f:containers": { 'k:{"name":"c"}': { ".": {}, "f:image": {} }, "i:0": {} }, "f:replicas": {} },
};
const wholeMetadata = {
  labels: { a: "b" },
  annotations: { a: "b" },
  finalizers: ["example.com/a"],
  ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid: "u", controller: true }],
  managedFields: [
    {
      manager: "m",
      operation: "Update",
      apiVersion: "v1",
      time: "2020-01-01T00:00:00Z",
      fieldsType: "FieldsV1",
      fieldsV1,
    },
    { manager: "n", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1, subresource: "status" },
  ],
};

/** @returns a copy with one to three damaged places, a third of them in its metadata; seldom another value */
export function damage(object: Json, random: Random): unknown {
  if (random.chance(0.01)) return cloneJson(random.pick(oddValues));
  let copy: unknown = cloneJson(object);
  for (let times = 1 + random.below(3); times > 0; times--)
    copy = random.chance(0.33) ? damageMetadata(copy, random) : damageOnePlace(copy, random);
  return copy;
}

function damageMetadata(object: unknown, random: Random): unknown {
  if (!isObject(object) || !isObject(object.metadata)) return object;
  const { metadata } = object;
  if (random.chance(0.5))
    return { ...object, metadata: { ...metadata, [random.pick(metadataFields)]: oddValue(random) } };
  const key = random.pick(Object.keys(wholeMetadata)) as keyof typeof wholeMetadata;
  const part = damageOnePlace({ [key]: cloneJson(wholeMetadata[key]) }, random);
  return { ...object, metadata: { ...metadata, ...(part as Json) } };
}

function damageOnePlace(value: unknown, random: Random): unknown {
  const places = placesIn(value).slice(1);
  return places.length === 0 ? value : damageAt(value, random.pick(places), random);
}

/** Changes the value. @returns it */
function damageAt(value: unknown, place: Place, random: Random): unknown {
  const holder = valueAt(value, place.slice(0, -1)) as Json;
  const key = place.at(-1) as string;
  const roll = random.below(10);
  if (roll > 1) holder[key] = oddValue(random, holder[key]);
  else if (Array.isArray(holder)) holder.splice(Number(key), roll, oddValue(random));
  else if (roll === 0) delete holder[key];
  else holder[random.pick(["", "a/b", "__proto__x", `${key}s`, "name", "metadata", "$patch"])] = holder[key];
  return value;
}

const directives = ["merge", "replace", "delete", "", "other", null, 1, {}, [], true];
const primitives: readonly unknown[] = [[], [null], ["a"], [1], {}, "a", null, [{}], [[]], [{ name: "a" }], 1];

/** @returns a copy with one or two directives, mostly odd ones */
export function withDirectives(patch: Json, random: Random): Json {
  const copy = cloneJson(patch);
  for (let times = 1 + random.below(2); times > 0; times--) {
    const holder = valueAt(copy, random.pick(placesIn(copy).filter((place) => isComposite(valueAt(copy, place)))));
    if (Array.isArray(holder)) holder.splice(random.below(holder.length + 1), 0, itemDirective(random));
    else addDirective(holder as Json, random);
  }
  return copy;
}

function itemDirective(random: Random): unknown {
  return random.pick([
    { $patch: random.pick(directives) },
    { $patch: random.pick(directives), name: "a" },
    { $retainKeys: [] },
  ]);
}

function addDirective(holder: Json, random: Random): void {
  const key = random.pick([...Object.keys(holder), "unknown", "finalizers", ""]);
  const name = random.pick(["$patch", "$retainKeys", `$deleteFromPrimitiveList/${key}`, `$setElementOrder/${key}`]);
  holder[name] = cloneJson(random.pick(name === "$patch" ? directives : primitives));
}

const operations = ["add", "remove", "replace", "move", "copy", "test", "other", "", null, 1];

/** Operations on places of the object, some of which do not exist. */
export function damagedJsonPatch(object: Json, random: Random): unknown {
  if (random.chance(0.03)) return random.pick(oddValues);
  const places = placesIn({ ...object, metadata: { ...wholeMetadata, ...(object.metadata as object) } });
  const pointer = (): unknown =>
    random.chance(0.06) ? random.pick(oddValues) : pointerTo(random.pick(places), random);
  return Array.from({ length: 1 + random.below(4) }, () => {
    const op = random.chance(0.9) ? random.pick(operations.slice(0, 6)) : random.pick(operations);
    const value = random.chance(0.9) && { value: oddValue(random, valueAt(object, random.pick(places))) };
    return { op, path: pointer(), ...((op === "move" || op === "copy") && { from: pointer() }), ...value };
  });
}

function pointerTo(place: Place, random: Random): string {
  const ends = ["", "", "", "", "/-", "/0", "/1", "/-1", "/01", "/a", "/", "~", "/~2"];
  const parts = place.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`);
  return `${parts.join("")}${random.pick(ends)}`;
}

/** The places of all values, the outermost first. */
function placesIn(value: unknown, place: Place = []): Place[] {
  if (Array.isArray(value)) return [place, ...value.flatMap((item, at) => placesIn(item, [...place, at]))];
  if (!isObject(value)) return [place];
  return [place, ...Object.entries(value).flatMap(([key, member]) => placesIn(member, [...place, key]))];
}

function valueAt(value: unknown, place: Place): unknown {
  return place.reduce<unknown>((part, key) => (isComposite(part) ? (part as Json)[key] : undefined), value);
}

function isComposite(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
