/** Calls of upstream's tests of admission, as tools/golden/admission-tests records them. */
import { readFileSync } from "node:fs";
import type { Match } from "../../src/admission/matching/contract.ts";
import type { GroupVersionKind, GroupVersionResource, KubeObject } from "../../src/apimachinery/object.ts";
import type { Catalog, Resolved, ResourceDefinition } from "../../src/catalog/contract.ts";
import type { AdmissionAttributes, AdmissionOperation } from "../../src/registry/admission-attributes.ts";

/** The attributes of a request. */
export interface RecordedRequest {
  readonly operation: AdmissionOperation;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly dryRun?: boolean;
  readonly object?: KubeObject;
  readonly oldObject?: KubeObject;
}

/** Reads the calls of a fixture. */
export function readCalls<T>(file: string): T[] {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** @param target the resource of the request */
export function attributesOf(request: RecordedRequest, target: Resolved): AdmissionAttributes {
  const { operation, subresource = "", namespace = "", name = "", dryRun = false } = request;
  return {
    ...{
      operation,
      target,
      subresource,
      namespace,
      name,
      dryRun,
      pathName: name,
      warnings: [],
      undo: [],
      done: [],
      joint: [],
    },
    object: request.object,
    oldObject: request.oldObject,
    user: { name: "", uid: "", groups: [], extra: new Map() },
    options: () => ({ kind: optionKinds[operation], apiVersion: "meta.k8s.io/v1" }),
  };
}

const optionKinds: Readonly<Record<AdmissionOperation, string>> = {
  CREATE: "CreateOptions",
  UPDATE: "UpdateOptions",
  DELETE: "DeleteOptions",
  CONNECT: "",
};

/**
 * Returns a catalog that has only the resource of a request, and those as which it can match.
 *
 * @param namespaces labels by name
 */
export function recordedCatalog(
  { kind, resource, subresource = "" }: RecordedRequest,
  equivalents: readonly Match[],
  namespaces: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map(),
): Catalog {
  const isRequested = (one: Match): boolean => JSON.stringify(one.resource) === JSON.stringify(resource);
  const known = equivalents.map((one) => (isRequested(one) ? { resource, kind } : one));
  const all = known.some(isRequested) ? known : [{ resource, kind }, ...known];
  const groups = [...new Set(all.map((one) => one.resource.group))];
  const definitions = groups.map((group) =>
    definitionOf(
      all.filter((one) => one.resource.group === group),
      subresource,
    ),
  );
  const find: Catalog["find"] = (group, version, plural) => {
    const definition = definitions.find((one) => one.group === group && one.resource === plural);
    const found = definition?.versions.find((one) => one.version === version);
    return found && ({ resource: { definition }, version: found } as unknown as Resolved);
  };
  const findResource = (): unknown => ({ store: namespaceStore(namespaces) });
  return { generation: 0, definitions: () => definitions, find, findServed: find, findResource } as unknown as Catalog;
}

/** The resource of one group. Resources with the same key prefix are equivalent. */
function definitionOf(versions: readonly Match[], subresource: string): ResourceDefinition {
  const [{ resource, kind }] = versions as [Match];
  return {
    ...{ group: resource.group, resource: resource.resource, kind: kind.kind, storage: { prefix: "/" }, custom: false },
    versions: versions.map((one) => ({
      version: one.resource.version,
      served: true,
      subresources: subresource === "" ? [] : [subresourceOf(subresource, one.kind)],
    })),
  } as unknown as ResourceDefinition;
}

function subresourceOf(name: string, { group, version, kind }: GroupVersionKind): object {
  return { name, kind, kindGroupVersion: { group, version } };
}

function namespaceStore(namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>): object {
  const entries = [...namespaces].map(([name, labels]) => {
    const entry = { index: { labels: new Map(Object.entries(labels)) } };
    return [name, entry] as const;
  });
  const snapshot = new Map(entries);
  const cache = { latest: () => snapshot, currentEntry: async (key: string) => snapshot.get(key) };
  return { keyOf: (_namespace: string, name: string) => name, cache };
}
