/**
 * Valid objects of the built-in kinds, and changes of them: those of the fixtures of writes (test/support/write-golden.ts),
 * whose single changes have known answers, and a few more.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { builtinSchema, definitionOf } from "../../src/catalog/builtin-schemas.ts";
import { readResourcesTable } from "../../src/catalog/resources-table.ts";
import type { Struct } from "../../src/lib/schema/schema.ts";
import type { Change, WriteGolden } from "../../test/support/write-golden.ts";
import { moreSamples } from "./more-samples.ts";

export interface Kind {
  /** Such as `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly resource: string;
  readonly namespaced: boolean;
  /** `/apis/apps/v1/namespaces/$ns/deployments` */
  readonly collection: string;
  readonly subresources: readonly string[];
  readonly schema: Struct;
  /** Not empty. With apiVersion, kind and name. */
  readonly samples: readonly Sample[];
  /** Its objects affect all requests to a server: it is written in dry runs only. */
  readonly isRisky: boolean;
}

export interface Sample {
  readonly object: Record<string, unknown>;
  /** Changes of this object by verb; some make it invalid. */
  readonly changes: Readonly<Record<"create" | "update" | "status", readonly (readonly Change[])[]>>;
}

const risky: ReadonlySet<string> = new Set([
  "mutatingwebhookconfigurations",
  "validatingwebhookconfigurations",
  "validatingadmissionpolicybindings",
  "mutatingadmissionpolicybindings",
  "apiservices",
  "servicecidrs",
  "ipaddresses",
  "flowschemas",
  "prioritylevelconfigurations",
]);

let known: readonly Kind[] | undefined;

/** All kinds that are served by default and stored, in the order of the table of resources. */
export function builtinKinds(): readonly Kind[] {
  known ??= readKinds();
  return known;
}

/** @throws Error if the resource is not among {@link builtinKinds} */
export function kindOf(resource: string): Kind {
  const found = builtinKinds().find((kind) => kind.resource === resource);
  if (found === undefined) throw new Error(`there are no samples of ${resource}`);
  return found;
}

function readKinds(): Kind[] {
  const goldens = readGoldens();
  return readResourcesTable().resources.flatMap(({ group, resource, kind, namespaced = false, versions }) =>
    versions
      .filter(({ served }) => served)
      .flatMap(({ version, subresources = [] }): Kind[] => {
        const apiVersion = group === "" ? version : `${group}/${version}`;
        const place = `${group === "" ? "/api" : "/apis"}/${apiVersion}`;
        const collection = `${place}/${namespaced ? "namespaces/$ns/" : ""}${resource}`;
        const definition = definitionOf(group, version, kind);
        const raw = [...(goldens.get(collection) ?? []), ...(moreSamples[resource] ?? []).map(plainSample)];
        if (definition === undefined || raw.length === 0) return [];
        const names = { apiVersion, kind, namespaced };
        return [
          {
            apiVersion,
            kind,
            resource,
            namespaced,
            collection,
            subresources: subresources.map(({ name }) => name),
            schema: builtinSchema(definition),
            samples: raw.map((sample) => withNames(sample, names)),
            isRisky: risky.has(resource),
          },
        ];
      }),
  );
}

function readGoldens(): Map<string, Sample[]> {
  const root = join(import.meta.dirname, "../../src/apis");
  const found = new Map<string, Sample[]>();
  for (const file of globSync("**/testdata/*.json.gz", { cwd: root }).sort()) {
    const golden: Partial<WriteGolden> = JSON.parse(gunzipSync(readFileSync(join(root, file))).toString());
    if (golden.bases === undefined || golden.path === undefined || file.includes("dual-stack")) continue;
    const namespace = /\/namespaces\/([^/]+)\//.exec(golden.path)?.[1];
    const collection = golden.path.replace(/\/namespaces\/[^/]+\//, "/namespaces/$ns/");
    const samples = samplesOf(golden as WriteGolden, namespace);
    found.set(collection, [...(found.get(collection) ?? []), ...samples]);
  }
  return found;
}

/** Objects that were written to the store directly cannot be created. */
function samplesOf({ bases, rows }: WriteGolden, namespace: string | undefined): Sample[] {
  return bases.flatMap((base, index) => {
    if (base.key !== undefined || isDefault(base.object)) return [];
    const changes = (verb: string): Change[][] =>
      rows
        .filter((row) => row[0] === verb && row[1] === index && !isDefault(row[2]))
        .map((row) => inNamespace([...row[2]], namespace));
    return [
      {
        object: inNamespace(base.object, namespace),
        changes: { create: changes("create"), update: changes("update"), status: changes("status") },
      },
    ];
  });
}

/** Defaults of the cluster, and addresses of its range, affect the objects of other sequences. */
function isDefault(value: unknown): boolean {
  return /globalDefault|is-default-class|"10\.0\.\d+\.\d+"|odePort":3\d{4}/.test(JSON.stringify(value));
}

function inNamespace<Value>(value: Value, namespace: string | undefined): Value {
  return namespace === undefined ? value : JSON.parse(JSON.stringify(value).replaceAll(`"${namespace}"`, '"$ns"'));
}

function plainSample(object: Record<string, unknown>): Sample {
  return { object, changes: { create: [], update: [], status: [] } };
}

/** Names of cluster-scoped objects belong to the sequence, except where the name has a meaning. */
function withNames(
  { object, changes }: Sample,
  {
    apiVersion,
    kind,
    namespaced,
  }: { readonly apiVersion: string; readonly kind: string; readonly namespaced: boolean },
): Sample {
  const { namespace: _namespace, ...metadata } = (object.metadata ?? {}) as Record<string, unknown>;
  const name = namespaced ? "a" : "$ns-a";
  const hasMeaning = kind === "IPAddress" || kind === "APIService" || kind === "CustomResourceDefinition";
  const named = { ...metadata, name: hasMeaning ? metadata.name : name };
  const allowed = ([pointer]: Change): boolean => namespaced || pointer !== "/metadata/name";
  const kept = (list: readonly (readonly Change[])[]): (readonly Change[])[] =>
    list.filter((one) => one.every(allowed));
  return {
    object: { apiVersion, kind, ...object, metadata: named },
    changes: { create: kept(changes.create), update: kept(changes.update), status: kept(changes.status) },
  };
}
