/** Patches of all types, also damaged ones. */
import { isObject } from "../../../src/lib/json/values.ts";
import { raw } from "../body-text.ts";
import type { Area, Step } from "../contract.ts";
import type { Random } from "../random.ts";
import { builtinKinds, type Kind, type Sample } from "../samples.ts";
import { changedSample, create, patchTypes, pathOf, writeQuery } from "./steps.ts";

type Json = Record<string, unknown>;

export const patches: Area = {
  name: "patches",
  make(random) {
    const kind = random.pick(builtinKinds().filter(({ isRisky }) => !isRisky));
    const sample = random.pick(kind.samples);
    const steps: Step[] = [create(kind, sample.object, "first")];
    for (let count = 5 + random.below(8); count > 0; count--) steps.push(patchStep(kind, sample, random));
    return steps;
  },
};

function patchStep(kind: Kind, sample: Sample, random: Random): Step {
  const type = random.pick(["json", "merge", "strategic"] as const);
  const isStatus = kind.subresources.includes("status") && random.chance(0.2);
  const target = changedSample(sample, kind, isStatus ? "status" : "update", random, { unchanged: 0 });
  const contentType = random.chance(0.97) ? patchTypes[type] : random.pick(["application/json", "text/plain"]);
  const body = random.chance(0.1) ? random.pick(damaged) : patchTo(type, sample.object, target, random);
  return {
    method: "PATCH",
    path: `${pathOf(kind)}${isStatus ? "/status" : ""}${writeQuery(random)}`,
    headers: { "content-type": contentType },
    body,
  };
}

function patchTo(type: "json" | "merge" | "strategic", from: Json, to: Json, random: Random): unknown {
  if (type === "json") return jsonPatch(from, to, random);
  const merge = mergePatch(from, to) as Json;
  return type === "strategic" && random.chance(0.4) ? withDirective(merge, random) : merge;
}

/** The members that differ; lists are replaced. */
function mergePatch(from: unknown, to: unknown): unknown {
  if (!isObject(from) || !isObject(to)) return to;
  const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  const differing = keys.filter((key) => JSON.stringify(from[key]) !== JSON.stringify(to[key]));
  return Object.fromEntries(
    differing.map((key) => [key, to[key] === undefined ? null : mergePatch(from[key], to[key])]),
  );
}

const directives: readonly Json[] = [
  { $patch: "replace" },
  { $patch: "delete" },
  { $patch: "merge" },
  { $patch: "other" },
  { $retainKeys: ["name"] },
  { $patch: 1 },
];

function withDirective(patch: Json, random: Random): Json {
  const inner = Object.keys(patch).filter((key) => isObject(patch[key]));
  if (inner.length > 0 && random.chance(0.7)) {
    const key = random.pick(inner);
    return { ...patch, [key]: withDirective(patch[key] as Json, random) };
  }
  const lists = Object.keys(patch).filter((key) => Array.isArray(patch[key]));
  if (lists.length === 0 || random.chance(0.4)) return { ...patch, ...random.pick(directives) };
  const key = random.pick(lists);
  const list = patch[key] as unknown[];
  return random.pick<Json>([
    {
      ...patch,
      [`$setElementOrder/${key}`]: list
        .map((item) => (isObject(item) ? { name: item.name ?? item.key ?? "a" } : item))
        .reverse(),
    },
    {
      ...patch,
      [`$deleteFromPrimitiveList/${key}`]: ["a", ...list.filter((item) => !isObject(item))],
      [key]: undefined,
    },
    { ...patch, [key]: [...list, { $patch: "delete", name: "a" }] },
    { ...patch, [key]: [{ $patch: "replace" }, ...list] },
    { ...patch, $retainKeys: Object.keys(patch) },
  ]);
}

interface Operation {
  readonly op: string;
  readonly path?: string;
  readonly from?: string;
  readonly value?: unknown;
}

function jsonPatch(from: Json, to: Json, random: Random): unknown[] {
  const operations: Operation[] = operationsTo(from, to, "").slice(0, 6);
  if (random.chance(0.35)) operations.push(random.pick(odd));
  if (random.chance(0.2)) operations.unshift(random.pick(odd));
  return operations;
}

function operationsTo(from: unknown, to: unknown, path: string): Operation[] {
  if (!isObject(from) || !isObject(to)) return [{ op: "replace", path, value: to }];
  const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  return keys.flatMap((key) => {
    const inner = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (JSON.stringify(from[key]) === JSON.stringify(to[key])) return [];
    if (to[key] === undefined) return [{ op: "remove", path: inner }];
    return from[key] === undefined
      ? [{ op: "add", path: inner, value: to[key] }]
      : operationsTo(from[key], to[key], inner);
  });
}

const odd: readonly Operation[] = [
  { op: "test", path: "/metadata/name", value: "a" },
  { op: "test", path: "/metadata/labels", value: null },
  { op: "test", path: "/metadata/name", value: "other" },
  { op: "add", path: "/metadata/labels", value: { a: "b" } },
  { op: "add", path: "/metadata/annotations/a~1b", value: "c" },
  { op: "remove", path: "/metadata/labels/missing" },
  { op: "remove", path: "/metadata/finalizers/0" },
  { op: "add", path: "/metadata/finalizers/-", value: "example.com/a" },
  { op: "add", path: "/metadata/finalizers", value: ["example.com/a"] },
  { op: "replace", path: "/metadata/resourceVersion", value: "1" },
  { op: "replace", path: "/metadata/uid", value: "a" },
  { op: "copy", from: "/metadata/name", path: "/metadata/generateName" },
  { op: "copy", from: "/spec", path: "/metadata/annotations" },
  { op: "move", from: "/metadata/labels", path: "/metadata/annotations" },
  { op: "move", from: "/missing", path: "/metadata/annotations" },
  { op: "replace", path: "", value: {} },
  { op: "remove", path: "" },
  { op: "add", path: "/metadata/labels/~2", value: "" },
  { op: "add", path: "metadata/labels", value: {} },
  { op: "add", path: "/metadata/ownerReferences/1", value: {} },
  { op: "add", path: "/metadata/ownerReferences/01", value: {} },
  { op: "other", path: "/a", value: 1 },
  { op: "add", value: 1 },
  { op: "add", path: "/metadata/labels" },
  { op: "replace", path: "/kind", value: "Other" },
  { op: "replace", path: "/apiVersion", value: "v2" },
];

const damaged: readonly unknown[] = [
  "",
  "{",
  "null",
  "[]",
  "{}",
  "[{}]",
  "[null]",
  "[1]",
  "true",
  '"a"',
  "{}{}",
  '{"metadata":null}',
  '{"metadata":[]}',
  '{"spec":null}',
  '{"spec":"a"}',
  '{"metadata":{"labels":{"a":1}}}',
  '{"metadata":{"labels":{"a":{}}}}',
  '{"kind":null}',
  '{"kind":"Other"}',
  '{"apiVersion":"v2"}',
  '{"metadata":{"name":"other"}}',
  '{"metadata":{"resourceVersion":"1"}}',
  '{"metadata":{"resourceVersion":""}}',
  '{"metadata":{"managedFields":[{}]}}',
  '{"a":1,"a":2}',
  '{"$patch":"replace","metadata":{"name":"a"}}',
  { metadata: { generation: raw("1e3") } },
  { metadata: { annotations: { a: raw("1.0") } } },
  { metadata: { deletionTimestamp: "2020-01-01T00:00:00Z" } },
];
