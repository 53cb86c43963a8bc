/** Writes of all kinds and subresources with damage at random places: no answer may be an internal error. */
import { readResourcesTable, type SubresourceRow } from "../../../src/catalog/resources-table.ts";
import { goldenRows } from "../../../test/support/decoder-fuzz.ts";
import type { Area, Step } from "../contract.ts";
import { damage, damagedJsonPatch, oddValue, withDirectives } from "../damage-value.ts";
import type { Random } from "../random.ts";
import { builtinKinds } from "../samples.ts";
import { damagedThing, thingSteps } from "./damaged-thing.ts";
import { patchTypes, query, writeQuery } from "./steps.ts";

type Json = Record<string, unknown>;

/** What is written to a path. */
interface Endpoint {
  readonly path: string;
  readonly methods: readonly string[];
  readonly objects: readonly Json[];
}

interface Target {
  readonly collection: string;
  readonly object: Endpoint;
  readonly subresources: readonly Endpoint[];
  /** What is sent before the damaged requests; creates an object, if the kind has objects. */
  readonly setUp: (random: Random) => Step[];
  readonly isRisky: boolean;
}

/** @param everything also the versions that are not served by default */
export function damageOf({ everything }: { readonly everything: boolean }): Area {
  let targets: readonly Target[] | undefined;
  return {
    name: "damage",
    comparesOnlyStatus: true,
    make(random) {
      targets ??= [...builtinTargets(everything)];
      const target = random.chance(0.25) ? customTarget : random.pick(targets);
      return [...target.setUp(random), ...Array.from({ length: 14 }, () => damagedSteps(target, random)).flat()];
    },
  };
}

const customTarget: Target = {
  collection: damagedThing.collection,
  object: { path: `${damagedThing.collection}/a`, methods: ["PUT", "PATCH"], objects: [damagedThing.object] },
  subresources: ["status", "scale"].map((name) => ({
    path: `${damagedThing.collection}/a/${name}`,
    methods: ["PUT", "PATCH"],
    objects: [name === "status" ? damagedThing.object : damagedThing.scale],
  })),
  setUp: thingSteps,
  isRisky: false,
};

function* builtinTargets(everything: boolean): Generator<Target> {
  const samples = builtinKinds();
  const golden = goldenObjects();
  for (const { group, resource, kind, namespaced = false, versions } of readResourcesTable().resources) {
    for (const { version, served = false, verbs = ["create", "update"], subresources = [] } of versions) {
      if (!(served || everything) || !verbs.includes("create")) continue;
      const apiVersion = group === "" ? version : `${group}/${version}`;
      const collection = `${group === "" ? "/api" : "/apis"}/${apiVersion}/${namespaced ? "namespaces/$ns/" : ""}${resource}`;
      const same = samples.filter((one) => one.resource === resource && one.kind === kind);
      const valid: Json[] = same[0]?.samples.map(({ object }) => ({ ...object, apiVersion })) ?? [];
      const name = (valid[0]?.metadata as Json | undefined)?.name ?? (namespaced ? "a" : "$ns-a");
      const full = golden.get(`${apiVersion} ${kind}`);
      const objects = full === undefined ? valid : [...valid, { ...full, metadata: { name } }];
      const path = `${collection}/${String(name)}`;
      const isStored = verbs.includes("update");
      const first = valid[0];
      yield {
        collection,
        object: { path, methods: isStored ? ["PUT", "PATCH"] : [], objects },
        subresources: subresources.flatMap((row) => endpointOf(row, { path, apiVersion, objects, golden })),
        setUp: (random) =>
          first === undefined || !isStored ? [] : [{ method: "POST", path: collection, body: random.pick(valid) }],
        isRisky: same[0]?.isRisky ?? true,
      };
    }
  }
}

interface Owner {
  readonly path: string;
  readonly apiVersion: string;
  readonly objects: readonly Json[];
  readonly golden: ReadonlyMap<string, Json>;
}

/** Empty for those that are forwarded, and those that are read only. */
function endpointOf(row: SubresourceRow, { path, apiVersion, objects, golden }: Owner): Endpoint[] {
  const methods = row.verbs.flatMap((verb) => ({ create: "POST", update: "PUT", patch: "PATCH" })[verb] ?? []);
  if (methods.length === 0 || row.kind.endsWith("Options")) return [];
  const { group, version } = row.kindGroupVersion ?? { group: "", version: apiVersion };
  const own = group === "" ? version : `${group}/${version}`;
  const body = golden.get(`${own} ${row.kind}`) ?? {};
  const isOwnKind = objects.some(({ kind }) => kind === row.kind);
  const metadata = objects[0]?.metadata ?? {};
  return [
    {
      path: `${path}/${row.name}`,
      methods,
      objects: isOwnKind ? objects : [{ ...body, apiVersion: own, kind: row.kind, metadata }],
    },
  ];
}

/** An object with all fields for each kind. Their special characters are escaped in many messages: others areas have them. */
function goldenObjects(): Map<string, Json> {
  const plain = (json: Json): Json => JSON.parse(JSON.stringify(json).replaceAll(" é <&>", ""));
  return new Map(goldenRows().map(({ apiVersion, kind, json }) => [`${apiVersion} ${kind}`, plain(json)]));
}

function damagedSteps(target: Target, random: Random): Step[] {
  const roll = random.below(20);
  if (roll < 5) return [created(target, random)];
  if (roll === 5) return [deletion(target, random)];
  const places = [target.object, ...(random.chance(0.4) ? target.subresources : [])];
  const endpoint = random.pick(places.filter(({ methods }) => methods.length > 0));
  return endpoint === undefined ? [created(target, random)] : written(target, endpoint, random);
}

function created({ collection, object, isRisky }: Target, random: Random): Step {
  const body = damage(random.pick(object.objects), random);
  return { method: "POST", path: `${collection}${writeQuery(random, { isDry: isRisky || random.chance(0.5) })}`, body };
}

function written({ isRisky, object }: Target, { path, methods, objects }: Endpoint, random: Random): Step[] {
  const method = random.pick(methods);
  const sample = random.pick(objects);
  const place = `${path}${writeQuery(random, { isDry: isRisky || random.chance(0.5) })}`;
  if (method === "PATCH") return [damagedPatch(place, sample, random)];
  if (random.chance(0.5)) return [{ method, path: place, body: damage(sample, random) }];
  const resourceVersion = "{{now.metadata.resourceVersion}}";
  const current = { ...sample, metadata: { ...(sample.metadata as object), resourceVersion } };
  return [
    { id: "now", method: "GET", path: object.path, silent: true },
    { method, path: place, body: damage(current, random) },
  ];
}

function damagedPatch(path: string, sample: Json, random: Random): Step {
  const type = random.pick(["json", "merge", "strategic", "apply"] as const);
  const headers = { "content-type": patchTypes[type] };
  if (type === "json") return { method: "PATCH", path, headers, body: damagedJsonPatch(sample, random) };
  if (type === "apply") {
    const whole = `${path}${path.includes("?") ? "&" : "?"}fieldManager=${random.pick(["m", "n"])}&force=${random.chance(0.6)}`;
    return { method: "PATCH", path: whole, headers, body: damage(sample, random) };
  }
  const { apiVersion: _version, kind: _kind, ...rest } = sample;
  const part = random.chance(0.5) ? rest : Object.fromEntries(random.some(Object.entries(rest), 0.5));
  const directed = type === "strategic" && random.chance(0.6) ? withDirectives(part, random) : part;
  return {
    method: "PATCH",
    path,
    headers,
    body: random.chance(0.3) && directed !== part ? directed : damage(directed, random),
  };
}

const deleteOptions: Json = {
  apiVersion: "v1",
  kind: "DeleteOptions",
  gracePeriodSeconds: 0,
  propagationPolicy: "Background",
  preconditions: { uid: "u", resourceVersion: "1" },
  dryRun: ["All"],
  orphanDependents: true,
  ignoreStoreReadErrorWithClusterBreakingPotential: false,
};

/** Of an object, or of a collection in which nothing has the label. */
function deletion({ collection, object }: Target, random: Random): Step {
  const options = Object.fromEntries(random.some(Object.entries(deleteOptions), 0.5));
  const body = damage({ ...options, dryRun: ["All"] }, random);
  if (random.chance(0.4)) return { method: "DELETE", path: object.path, body };
  const selectors = ["labelSelector=none%3Dnone", "fieldSelector=metadata.name%3Dnone", "labelSelector=none&limit=-1"];
  const odd = `${random.pick(["limit", "resourceVersion", "continue", "timeoutSeconds"])}=${encodeURIComponent(JSON.stringify(oddValue(random)))}`;
  const odds = random.chance(0.5) && odd;
  return { method: "DELETE", path: `${collection}${query(random.pick(selectors), odds)}`, body };
}
