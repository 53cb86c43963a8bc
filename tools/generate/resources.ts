/** src/apimachinery/data/resources.json: every built-in resource, one row each. The format is in src/catalog/resources-table.ts. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { binaryMinor, defaultVersion, emulatedMinorMin } from "../../src/apimachinery/effective-version.ts";
import type { ResourceRow, ResourcesTable, SubresourceRow, VersionRow } from "../../src/catalog/resources-table.ts";
import { type Lifecycles, minorOf, readLifecycles } from "./lifecycles.ts";

interface FactRow {
  group: string;
  version: string;
  resource: string;
  subresource?: string;
  kind: string;
  kindGroupVersion?: { group: string; version: string };
  singular?: string;
  namespaced: boolean;
  verbs: string[];
  connect?: string[];
  shortNames?: string[];
  categories?: string[];
  deleteReturns?: string;
  responseKind?: null;
  query?: Record<string, string[]>;
  servedByDefault: boolean;
}

interface FactStorage {
  group: string;
  resource: string;
  persisted?: boolean;
  kind: string;
  storageGroup: string;
  storageVersion: string;
  key: string;
}

interface Facts {
  commonQuery: Record<string, string[]>;
  resources: FactRow[];
  groupPriority: { group: string; groupPriorityMinimum: number }[];
}

type Types = Record<
  string,
  { gvk?: { group: string; version: string; kind: string }[]; fields?: Record<string, unknown> }
>;

const allVerbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/**
 * Subresources with the verbs of objects whose storage upstream does not implement TableConvertor.
 * Source: pkg/registry.
 */
const withoutTables = new Set([
  "/namespaces/finalize",
  "/pods/ephemeralcontainers",
  "/pods/resize",
  "apiextensions.k8s.io/customresourcedefinitions/status",
  "apiregistration.k8s.io/apiservices/status",
  "certificates.k8s.io/certificatesigningrequests/approval",
  "resource.k8s.io/devicetaintrules/status",
  "resource.k8s.io/resourceclaims/status",
  "resource.k8s.io/resourcepoolstatusrequests/status",
  "scheduling.k8s.io/podgroups/status",
]);

/** PUT may create these. Source: `AllowCreateOnUpdate` of upstream's strategies. */
const createdByUpdate = new Set([
  "/endpoints",
  "/events",
  "/limitranges",
  "/services",
  "coordination.k8s.io/leasecandidates",
  "coordination.k8s.io/leases",
  "events.k8s.io/events",
  "node.k8s.io/runtimeclasses",
  "rbac.authorization.k8s.io/clusterrolebindings",
  "rbac.authorization.k8s.io/clusterroles",
  "rbac.authorization.k8s.io/rolebindings",
  "rbac.authorization.k8s.io/roles",
]);

/** PUT of these must carry a resourceVersion. Source: `AllowUnconditionalUpdate` of upstream's strategies. */
const updatedConditionally = new Set([
  "admissionregistration.k8s.io/mutatingadmissionpolicies",
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings",
  "admissionregistration.k8s.io/mutatingwebhookconfigurations",
  "admissionregistration.k8s.io/validatingadmissionpolicies",
  "admissionregistration.k8s.io/validatingadmissionpolicybindings",
  "admissionregistration.k8s.io/validatingwebhookconfigurations",
  "apiextensions.k8s.io/customresourcedefinitions",
  "apiregistration.k8s.io/apiservices",
  "certificates.k8s.io/clustertrustbundles",
  "certificates.k8s.io/podcertificaterequests",
  "coordination.k8s.io/leasecandidates",
  "coordination.k8s.io/leases",
  "internal.apiserver.k8s.io/storageversions",
  "node.k8s.io/runtimeclasses",
  "policy/poddisruptionbudgets",
  "resource.k8s.io/resourcepoolstatusrequests",
  "storage.k8s.io/csidrivers",
  "storage.k8s.io/csinodes",
  "storage.k8s.io/csistoragecapacities",
  "storage.k8s.io/volumeattachments",
  "storagemigration.k8s.io/storageversionmigrations",
]);

/**
 * Deletions of these return the object, although their description does not say so.
 * Source: `DELETE` in pkg/registry/core/namespace/storage/storage.go of Kubernetes 1.36.
 */
const deletedObjectsReturned = new Set(["/namespaces"]);

/** What the rows are made of. */
interface Sources {
  readonly facts: Facts;
  /** By `group/resource`. */
  readonly storage: ReadonlyMap<string, FactStorage>;
  readonly types: Types;
  readonly lifecycles: Lifecycles;
}

export function generateResources(factsDir: string, dataDir: string): void {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(factsDir, name), "utf8"));
  const facts = read("resources.json") as Facts;
  const storage = new Map((read("storage.json") as FactStorage[]).map((row) => [`${row.group}/${row.resource}`, row]));
  const types = read("types.json") as Types;
  const sources: Sources = { facts, storage, types, lifecycles: readLifecycles(factsDir) };
  const table: ResourcesTable = { commonQuery: facts.commonQuery, resources: resourceRows(sources) };
  const lines = table.resources.map((row) => JSON.stringify(row)).join(",\n");
  writeFileSync(
    join(dataDir, "resources.json"),
    `{\n"commonQuery":${JSON.stringify(table.commonQuery)},\n"resources":[\n${lines}\n]\n}\n`,
  );
}

function resourceRows(sources: Sources): ResourceRow[] {
  const { facts } = sources;
  const byResource = Map.groupBy(facts.resources, (row) => `${row.group}/${row.resource}`);
  const priority = new Map(facts.groupPriority.map(({ group, groupPriorityMinimum }) => [group, groupPriorityMinimum]));
  // The group of the aggregator comes before all others except the core group.
  priority.set("apiregistration.k8s.io", 18001);
  // kube-apiserver overrides this priority.
  priority.set("resource.k8s.io", 16200);
  const rows = [...byResource].map(([key, factRows]) => resourceRow(key, factRows, sources));
  const rank = (group: string): number => priority.get(group) ?? 0;
  return rows.sort(
    (a, b) => rank(b.group) - rank(a.group) || compare(a.group, b.group) || compare(a.resource, b.resource),
  );
}

function resourceRow(key: string, rows: FactRow[], { storage, types, lifecycles }: Sources): ResourceRow {
  const stored = storage.get(key);
  const main = rows.find((row) => row.subresource === undefined) as FactRow;
  const mains = rows
    .filter((row) => row.subresource === undefined)
    .sort((a, b) => compareVersions(a.version, b.version));
  const persisted = stored !== undefined && stored.persisted !== false ? stored : undefined;
  const stores = persisted && storageKind(types, persisted, mains);
  const same = (version: string): boolean =>
    stores === undefined || sameTypes(types, [main.group, version, main.kind], stores);
  return {
    group: main.group,
    resource: main.resource,
    singular: main.singular as string,
    kind: main.kind,
    ...(main.namespaced && { namespaced: true }),
    ...(main.shortNames && { shortNames: main.shortNames }),
    ...(main.categories && { categories: main.categories }),
    ...(createdByUpdate.has(key) && { createOnUpdate: true }),
    ...(updatedConditionally.has(key) && { conditionalUpdate: true }),
    ...((deletedObjectsReturned.has(key) || (main.deleteReturns ?? "Status") !== "Status") && {
      deleteReturnsObject: true,
    }),
    ...(persisted !== undefined &&
      stores !== undefined && {
        storage: {
          group: stores[0],
          version: stores[1],
          kind: stores[2],
          prefix: persisted.key.replace(/<.*$/, ""),
          hash: storageVersionHash(persisted),
          ...olderStorage(persisted, mains, lifecycles),
        },
      }),
    versions: mains.map((row) => versionRow(row, rows, { identical: same(row.version), lifecycles })),
  };
}

/** Source: `StorageVersionHash` in k8s.io/apiserver@v0.36.0/pkg/endpoints/discovery/storageversionhash.go. */
function storageVersionHash({ storageGroup, storageVersion, kind }: FactStorage): string {
  const digest = createHash("sha256").update(`${storageGroup}/${storageVersion}/${kind}`).digest();
  return digest.subarray(0, 8).toString("base64");
}

/**
 * Resources that upstream stores at one version, whichever releases share the store. Source: `NewStorageFactoryConfigEffectiveVersion` in
 * k8s.io/kubernetes@v1.36.0/pkg/kubeapiserver/default_storage_factory_builder.go.
 */
const storedAtOneVersion = new Set([
  "admissionregistration.k8s.io/mutatingadmissionpolicies",
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings",
  "certificates.k8s.io/clustertrustbundles",
  "certificates.k8s.io/podcertificaterequests",
  "coordination.k8s.io/leasecandidates",
  "resource.k8s.io/devicetaintrules",
  "resource.k8s.io/resourcepoolstatusrequests",
  "scheduling.k8s.io/podgroups",
  "scheduling.k8s.io/workloads",
]);

/**
 * The storage versions that other minimum compatibility versions choose: the preferred one of those that the release has.
 * Source: `emulatedStorageVersion` in k8s.io/apiserver@v0.36.0/pkg/server/storage/resource_encoding_config.go.
 */
function olderStorage(stored: FactStorage, mains: FactRow[], lifecycles: Lifecycles): Pick<StorageRow, "before"> {
  const { group, kind } = stored;
  if (storedAtOneVersion.has(`${group}/${stored.resource}`) || stored.storageGroup !== group) return {};
  const [preferred] = lifecycles.versions(group);
  const storedFor = (minCompatible: number): string | undefined => {
    const known = (version: string): boolean => {
      const { introduced } = lifecycles.kind(group, version, kind) ?? {};
      return introduced !== undefined && minorOf(introduced) <= minCompatible;
    };
    return lifecycles.versions(group).find(known) ?? preferred;
  };
  if (storedFor(defaultVersion.minCompatible) !== stored.storageVersion) return {};
  const before: [before: number, version: string, hash: string][] = [];
  for (let minor = binaryMinor; minor >= emulatedMinorMin; minor--) {
    const version = storedFor(minor) as string;
    const current = before.at(-1)?.[1] ?? stored.storageVersion;
    if (version === current) continue;
    if (!mains.some((row) => row.version === version)) throw new Error(`${group}/${version} ${kind} is not known`);
    before.push([minor + 1, version, storageVersionHash({ ...stored, storageVersion: version })]);
  }
  return before.length === 0 ? {} : { before };
}

/** The stored kind; the preferred version where upstream stores a version without types (CustomResourceDefinition v1beta1). */
function storageKind(types: Types, { storageGroup, storageVersion, kind }: FactStorage, mains: FactRow[]): KindName {
  const known = typeOf(types, storageGroup, storageVersion, kind) !== undefined;
  return [storageGroup, known ? storageVersion : (mains[0] as FactRow).version, kind];
}

function versionRow(
  main: FactRow,
  rows: FactRow[],
  { identical, lifecycles }: { identical: boolean; lifecycles: Lifecycles },
): VersionRow {
  const { introduced, deprecated, removed, replacement } = lifecycles.kind(main.group, main.version, main.kind) ?? {};
  return {
    version: main.version,
    ...(main.servedByDefault && { served: true }),
    ...(!identical && { converted: true }),
    ...(introduced !== undefined && minorOf(introduced) > emulatedMinorMin && { introduced: minorOf(introduced) }),
    ...(removed !== undefined && minorOf(removed) <= binaryMinor && { removed: minorOf(removed) }),
    ...(!isDeepStrictEqual(main.verbs, allVerbs) && { verbs: main.verbs }),
    ...(deprecated !== undefined && { deprecated: [deprecated, removed ?? "", replacement ?? ""] as const }),
    ...(rows.some((row) => row.subresource !== undefined && row.version === main.version) && {
      subresources: rows
        .filter((row) => row.subresource !== undefined && row.version === main.version)
        .map(subresourceRow),
    }),
  };
}

function subresourceRow(row: FactRow): SubresourceRow {
  return {
    name: row.subresource as string,
    verbs: row.verbs,
    kind: row.kind,
    ...(row.kindGroupVersion && { kindGroupVersion: row.kindGroupVersion }),
    ...(row.connect && { connect: row.connect }),
    ...(row.query && { query: row.query }),
    ...(row.responseKind === null && { plainText: true }),
    ...(withoutTables.has(`${row.group}/${row.resource}/${row.subresource}`) && { noTables: true }),
  };
}

/** The order in which versions of one group are preferred: v2, v1, v1beta2, v1beta1, v1alpha3. */
function compareVersions(a: string, b: string): number {
  const rank = (version: string): [number, number, number] => {
    const [, major, stage, minor] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) as RegExpExecArray;
    return [stage === undefined ? 2 : stage === "beta" ? 1 : 0, Number(major), Number(minor ?? 0)];
  };
  const [x, y] = [rank(a), rank(b)];
  return y[0] - x[0] || y[1] - x[1] || y[2] - x[2];
}

type StorageRow = NonNullable<ResourceRow["storage"]>;
type KindName = readonly [group: string, version: string, kind: string];

function typeOf(types: Types, group: string, version: string, kind: string): string | undefined {
  return Object.keys(types).find((name) =>
    types[name]?.gvk?.some((one) => one.group === group && one.version === version && one.kind === kind),
  );
}

/** Whether two kinds have the same JSON: the same fields at all levels, except for their packages. */
function sameTypes(types: Types, a: KindName, b: KindName): boolean {
  const [left, right] = [typeOf(types, ...a), typeOf(types, ...b)];
  return left !== undefined && right !== undefined && shapeOf(types, left) === shapeOf(types, right);
}

/** Properties that do not affect the JSON of a field, only its validation or its protobuf form. */
const aside = new Set(["dv", "typeDv", "pb", "pbType", "pbName", "enum", "featureGate"]);

/** All types that are reachable from a type within its group, as text without versions. */
function shapeOf(types: Types, name: string, seen = new Set<string>()): string {
  if (seen.has(name)) return "";
  seen.add(name);
  const group = name.split(".").slice(0, -2).join(".");
  const fields = JSON.stringify(types[name]?.fields ?? types[name], (key, value) =>
    aside.has(key) ? undefined : value,
  );
  const references = [...fields.matchAll(/"ref":"([^"]+)"/g)]
    .map(([, reference]) => reference as string)
    .filter((one) => one.startsWith(`${group}.v`));
  return [
    fields.replace(/("ref":"[^"]*\.)v\w+(\.\w+")/g, "$1$2"),
    ...references.map((one) => shapeOf(types, one, seen)),
  ].join("\n");
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
