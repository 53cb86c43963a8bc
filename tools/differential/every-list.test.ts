/**
 * Each list and map of each kind, with so many different items that a comparison of all with each other takes long.
 * The objects are those of upstream's golden data, most of which
 * are invalid, so that it is validation that reads them. Updates begin with valid objects.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { goldenRows } from "../../test/support/decoder-fuzz.ts";
import { leastOf, timeOf } from "../../test/support/measure-growth.ts";
import { skipWithout } from "../../test/support/needs.ts";
import type { RawClient } from "../../test/support/raw-client.ts";
import { startServerWithClient } from "../../test/support/server-with-client.ts";
import { builtinKinds } from "./samples.ts";

type Part = Record<string, unknown>;
type Path = readonly (string | number)[];

/** Less than a request can contain. */
const bytesMax = 500_000;
const itemsMax = 12_000;
/** Shorter requests are not compared with a quarter of their items. */
const suspiciousMs = 200;
const growthMax = 10;
/** Errors that show the form of large items take this long. */
const requestMsMax = 2_000;

interface ServedKind {
  readonly path: string;
  readonly object: Part;
}

async function servedKinds(client: RawClient): Promise<ReadonlyMap<string, ServedKind>> {
  const kinds = new Map<string, ServedKind>();
  const fullestFirst = goldenRows().sort((a, b) => b.protobuf.length - a.protobuf.length);
  const groups = (await client.send({ path: "/apis" })).body.groups as { versions: { groupVersion: string }[] }[];
  const roots = groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => `/apis/${groupVersion}`));
  for (const root of ["/api/v1", ...roots]) {
    const { groupVersion, resources } = (await client.send({ path: root })).body as {
      groupVersion: string;
      resources: { name: string; kind: string; namespaced: boolean; verbs: string[] }[];
    };
    for (const { name, kind, namespaced, verbs } of resources) {
      const row = fullestFirst.find(({ json }) => json.apiVersion === groupVersion && json.kind === kind);
      if (row === undefined || name.includes("/") || !verbs.includes("create")) continue;
      const object = { ...(withSingleItems(row.json) as Part), metadata: { name: "a" }, status: undefined };
      kinds.set(`${groupVersion} ${kind}`, {
        path: `${root}${namespaced ? "/namespaces/default" : ""}/${name}`,
        object,
      });
    }
  }
  return kinds;
}

function withSingleItems(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(withSingleItems);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withSingleItems(member)]));
}

/** The paths of lists with an item, and of objects whose single member is a text, which are maps. */
function* listsOf(value: unknown, path: Path = []): Generator<Path> {
  if (typeof value !== "object" || value === null) return;
  const members = Object.entries(value);
  if (Array.isArray(value) ? value.length > 0 : members.length === 1 && typeof members[0]?.[1] === "string") yield path;
  for (const [name, member] of members) yield* listsOf(member, [...path, name]);
}

const isFixed = (text: string): boolean => /^\d{4}-\d\d-/.test(text);

/** A copy that differs in all texts, except times. */
function variant(value: unknown, index: number): unknown {
  if (typeof value === "string") return isFixed(value) ? value : `${value}${index.toString(36)}`;
  if (Array.isArray(value)) return value.map((item) => variant(item, index));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, variant(member, index)]));
}

/** Returns a copy of an object with a list of many different items. */
function enlarged(object: Part, path: Path, count: number, first = 0): Part {
  const copy = structuredClone(object);
  const name = path.at(-1) as string;
  const parent = path.slice(0, -1).reduce<Part>((part, key) => part[key] as Part, copy);
  const list = parent[name];
  const numbers = Array.from({ length: count }, (_, index) => index + first);
  parent[name] = Array.isArray(list)
    ? numbers.map((index) => variant(list[0], index))
    : Object.fromEntries(numbers.map((index) => [`k${index}`, Object.values(list as Part)[0]]));
  return copy;
}

async function declareTests(): Promise<void> {
  const { client } = await startServerWithClient({
    runtimeConfig: "api/all=true",
    featureGates: "AllAlpha=true,AllBeta=true",
  });
  const kinds = await servedKinds(client);
  const account = { metadata: { name: "default" } }; // Pods need it.
  await client.send({ method: "POST", path: "/api/v1/namespaces/default/serviceaccounts", body: account });
  for (const [kind, { path, object }] of kinds) {
    test(`writes each list of ${kind} in linear time`, async () => {
      const target = `${path}?dryRun=All&fieldValidation=Ignore`;
      for (const list of listsOf(object)) {
        await check(list.join("."), async (count) => {
          const body = enlarged(object, list, count);
          const send = (): Promise<unknown> => client.send({ method: "POST", path: target, body });
          return { bytes: JSON.stringify(body).length, send };
        });
      }
    });
  }
  declareUpdates(client);
}

/** Updates of valid objects: each list is stored with many items, if that is valid, and replaced by many others. */
function declareUpdates(client: RawClient): void {
  for (const { apiVersion, kind, collection, samples, isRisky } of builtinKinds()) {
    if (isRisky) continue; // Its objects would affect the others.
    const path = collection.replace("$ns", "default");
    const object = JSON.parse(JSON.stringify(samples[0]?.object).replaceAll("$ns", "default")) as Part;
    const name = String((object.metadata as Part).name);
    test(`updates each list of ${apiVersion} ${kind} in linear time`, async () => {
      const remove = (): Promise<unknown> => client.send({ method: "DELETE", path: `${path}/${name}`, body: deletion });
      for (const list of listsOf(object)) {
        await check(`update of ${list.join(".")}`, async (count) => {
          await remove();
          const stored = await client.send({ method: "POST", path, body: enlarged(object, list, count) });
          if (stored.status !== 201) await client.send({ method: "POST", path, body: object });
          const { resourceVersion } = (await client.send({ path: `${path}/${name}` })).body.metadata ?? {};
          const next = enlarged(object, list, count, Math.floor(count / 2));
          const body = { ...next, metadata: { ...(next.metadata as Part), resourceVersion } };
          const target = `${path}/${name}?dryRun=All&fieldValidation=Ignore`;
          return {
            bytes: JSON.stringify(body).length,
            send: () => client.send({ method: "PUT", path: target, body }),
          };
        });
      }
      await remove();
    });
  }
}

const deletion = { gracePeriodSeconds: 0, propagationPolicy: "Background" };

interface Write {
  readonly bytes: number;
  readonly send: () => Promise<unknown>;
}

async function check(what: string, prepare: (count: number) => Promise<Write>): Promise<void> {
  const itemBytes = (await prepare(4)).bytes - (await prepare(2)).bytes;
  const count = Math.min(itemsMax, Math.floor((2 * bytesMax) / itemBytes));
  const { send } = await prepare(count);
  if ((await timeOf(send)) < suspiciousMs) return;
  const time = await leastOf(send);
  assert.ok(time < requestMsMax, `${what}: ${time} ms`);
  const growth = time / (await leastOf((await prepare(Math.floor(count / 4))).send));
  assert.ok(time < suspiciousMs || growth < growthMax, `${what}: ${time} ms, ${growth} times that of a quarter`);
}

const skip = skipWithout("full");
if (skip === false) await declareTests();
else test("writes each list of all kinds in linear time", { skip });
