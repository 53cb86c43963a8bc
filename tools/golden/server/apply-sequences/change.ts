/** Changes of objects and managed fields, most of them unusual. */
import { cloneJson } from "../../../../src/lib/json/values.ts";

/** An integer from 0 to below the argument. */
export type Random = (below: number) => number;
// biome-ignore lint/suspicious/noExplicitAny: objects of any kind.
export type Json = any;
type Place = readonly (string | number)[];

export const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)] as T;
export const chance = (random: Random, percent: number): boolean => random(100) < percent;

const isMap = (value: Json): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

/** Fields that can be keys of list items. */
const keys = ["name", "uid", "containerPort", "port", "type", "key", "ip", "id", "topologyKey", "mountPath"];

/** Merges a part into an object. List items are matched by a likely key, and sometimes not at all. */
export function lay(object: Json, part: Json, random: Random): Json {
  if (isMap(object) && isMap(part)) {
    for (const name of Object.keys(part))
      object[name] = name in object ? lay(object[name], part[name], random) : cloneJson(part[name]);
    return object;
  }
  if (!Array.isArray(object) || !Array.isArray(part)) return cloneJson(part);
  if (chance(random, 5)) return [...object, ...cloneJson(part)];
  if (!part.every(isMap)) return chance(random, 50) ? cloneJson(part) : [...new Set([...object, ...part])];
  for (const item of part) {
    const key = keys.find((name) => name in item);
    const at = key === undefined ? -1 : object.findIndex((one) => isMap(one) && one[key] === item[key]);
    if (at < 0) object.push(cloneJson(item));
    else object[at] = lay(object[at], item, random);
  }
  return object;
}

/** All positions in a value, outermost first. */
export function places(value: Json, path: Place = [], found: Place[] = []): Place[] {
  if (typeof value !== "object" || value === null) return found;
  for (const key of Object.keys(value)) {
    const inside = [...path, Array.isArray(value) ? Number(key) : key];
    found.push(inside);
    places(value[key], inside, found);
  }
  return found;
}

export const valueAt = (value: Json, place: Place): Json => place.reduce((inside, key) => inside?.[key], value);

const systemFields = [
  "name namespace uid resourceVersion managedFields",
  "creationTimestamp generation deletionTimestamp deletionGracePeriodSeconds",
].flatMap((names) => names.split(" "));

/** Positions that can change without changing the target of the request. */
export function freePlaces(object: Json): Place[] {
  return places(object).filter(([first, second]) => {
    if (first === "apiVersion" || first === "kind") return false;
    return first !== "metadata" || (second !== undefined && !systemFields.includes(String(second)));
  });
}

export function removeAt(object: Json, place: Place): void {
  const parent = valueAt(object, place.slice(0, -1));
  const key = place.at(-1) as never;
  if (Array.isArray(parent)) parent.splice(key, 1);
  else delete parent[key];
}

/** Corrupts one position: null, empty, another type, duplicated, or without its key. */
export function spoil(object: Json, random: Random): void {
  const free = freePlaces(object);
  if (free.length === 0) return;
  const place = pick(random, free);
  const parent = valueAt(object, place.slice(0, -1));
  const key = place.at(-1) as never;
  const value = parent[key];
  const changes: (() => unknown)[] = [
    () => (parent[key] = null as never),
    () => (parent[key] = {} as never),
    () => (parent[key] = [] as never),
    () => (parent[key] = pick<unknown>(random, ["x", 5, true, "", 0, 1.5]) as never),
    () => removeAt(object, place),
    () => removeAt(object, place),
    () => Array.isArray(value) && value.length > 0 && value.push(cloneJson(value[0])),
    () => Array.isArray(value) && value.reverse(),
    () => isMap(value) && Object.assign(value, { unknownField: 1 }),
    () => Array.isArray(value) && isMap(value[0]) && delete value[0][keys.find((name) => name in value[0]) ?? ""],
    () => Array.isArray(value) && value.push(null),
    () => isMap(value) && Object.assign(value, { [pick(random, [...Object.keys(value), "x"])]: null }),
  ];
  pick(random, changes)();
}

const oddFields = [
  null,
  {},
  { "f:bogus": {} },
  { "f:data": { "f:zz": {} } },
  { bad: {} },
  { "k:{bad": {} },
  { "v:x": {} },
  { ".": {} },
];
const oddEntry = (random: Random): object => ({
  manager: "given",
  operation: pick(random, ["Apply", "Update"]),
  apiVersion: pick(random, ["v1", "apps/v1", "example.com/v1"]),
  fieldsType: "FieldsV1",
  fieldsV1: pick(random, [
    { "f:data": { "f:a": {} } },
    { "f:spec": { "f:str": {} } },
    { "f:metadata": { "f:labels": { ".": {}, "f:l1": {} } } },
  ]),
  time: "2021-01-01T00:00:00Z",
});

/** Managed fields that a client may send. No entries are sent as one empty entry, because this server treats an empty list differently. */
export function tamper(entries: Json, random: Random): Json {
  const list: Json[] = cloneJson(entries ?? []);
  const entry = list.length > 0 ? pick(random, list) : {};
  const changes: (() => unknown)[] = [
    () => list.splice(0, list.length, {}),
    () => list.shift(),
    () => list.push({}),
    () => list.push(cloneJson(entry)),
    () => (entry.manager = pick(random, ["m1", "m9", "", "kubectl"])),
    () => (entry.operation = pick(random, ["Apply", "Update", "X", ""])),
    () => (entry.apiVersion = pick(random, ["bogus/v9", "", "v1", "apps/v1", "a/b/c", "example.com/v2"])),
    () => (entry.fieldsType = pick(random, ["", "X"])),
    () =>
      (entry.fieldsV1 = pick<unknown>(random, [
        ...oddFields,
        { "f:metadata": { "f:name": {} } },
        { "f:x": 5 },
        [],
        "x",
      ])),
    () => (entry.time = pick(random, ["2020-01-01T00:00:00Z", null, "bad", "2030-01-01T00:00:00Z"])),
    () => delete entry.time,
    () => (entry.subresource = pick(random, ["status", "scale", "foo", ""])),
    ...[1, 2, 3].map(() => () => changeField(entry.fieldsV1, random)),
    () =>
      isMap(entry.fieldsV1) &&
      Object.assign(entry.fieldsV1, { "f:spec": { ...entry.fieldsV1["f:spec"], "f:replicas": {} } }),
    () => list.push(oddEntry(random)),
    () => delete entry.manager,
    () => list.reverse(),
    () => (entry.unknown = 1),
  ];
  pick(random, changes)();
  if (chance(random, 4)) return null;
  return list.length === 0 ? [{}] : list;
}

function changeField(fields: Json, random: Random): void {
  const all = places(fields);
  if (all.length === 0) return;
  const place = pick(random, all);
  if (random(2) === 0) removeAt(fields, place);
  else valueAt(fields, place.slice(0, -1))[place.at(-1) as never] = {};
}
