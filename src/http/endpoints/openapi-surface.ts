/** The parts of the OpenAPI documents, before they are encoded. */

import type { Catalog } from "../../catalog/contract.ts";
import { type ServedGroup, servedGroups } from "../../catalog/discovery.ts";
import type { RemoteDocument, RemoteEntry, RemoteOpenApi } from "../../forwarding/aggregator/openapi/contract.ts";
import type { Json } from "../../lib/json/values.ts";
import { type DocumentSource, type Part, partsOf } from "../../openapi/documents.ts";
import { joinedHash, partHash } from "../../openapi/part-hash.ts";
import { whileUnchanged } from "./while-unchanged.ts";

/** The content for one generation of the catalog and of other servers. */
export interface Surface {
  readonly groups: readonly ServedGroup[];
  /** By document name. */
  readonly parts: ReadonlyMap<string, { readonly part: Part; readonly hash: string }>;
  /** v2 documents of other servers. */
  readonly others: readonly RemoteDocument[];
  /** v3 documents of other servers by name, which replace parts of this server. */
  readonly entries: ReadonlyMap<string, RemoteEntry>;
  /** Of all parts, and of the v2 documents of other servers. */
  readonly hash: string;
  /** Of the index of v3 documents. */
  readonly indexHash: string;
  readonly changedAt: number;
}

/** A v3 document that this server encodes. */
export interface FoundV3 {
  readonly content: Part | RemoteDocument;
  readonly hash: string;
}

/** @returns undefined if there is no such document, or another server has it */
export function findV3({ parts, entries }: Surface, path: string): FoundV3 | undefined {
  const converted = entries.get(path)?.converted;
  if (converted !== undefined) return { content: converted, hash: converted.hash };
  const found = parts.get(path);
  return found && { content: found.part, hash: found.hash };
}

/**
 * The v2 documents with the paths of their APIServices only. APIServices with equal documents that
 * follow each other share one.
 */
export async function readOthers(others: readonly RemoteDocument[]): Promise<Json[]> {
  if (others.length === 0) return [];
  const { filterPaths } = await import("../../lib/swagger/filter-paths.ts");
  const read: Json[] = [];
  for (let at = 0; at < others.length; ) {
    const { hash, read: readOther } = others[at] as RemoteDocument;
    const owned = new Set<string>();
    for (; others[at]?.hash === hash; at++) owned.add(prefixOf((others[at] as RemoteDocument).remote));
    read.push(filterPaths(await readOther(), (path) => owned.has(prefixIn(path))));
  }
  return read;
}

/** The start of all paths of an APIService. */
function prefixOf({ group, version }: RemoteDocument["remote"]): string {
  return `/apis/${group}/${version}/`;
}

/** The path up to the slash after the version; the whole path without such a slash. */
function prefixIn(path: string): string {
  return path.split(/(?<=\/)/, 4).join("");
}

type Settings = Pick<DocumentSource, "release" | "cbor" | "enums" | "issuer">;

/** @returns a function that returns the same value until a document changes */
export function currentSurface(catalog: Catalog, settings: Settings, remote: RemoteOpenApi | undefined): () => Surface {
  return whileUnchanged(
    () => [catalog.generation, remote?.generation],
    () => surfaceOf(catalog, settings, remote),
  );
}

function surfaceOf(catalog: Catalog, settings: Settings, remote: RemoteOpenApi | undefined): Surface {
  const groups = servedGroups(catalog.definitions());
  const parts = new Map(partsOf(groups, settings).map((part) => [part.name, { part, hash: partHash(part, settings) }]));
  const others = remote?.documents() ?? [];
  const hashes = [
    ...[...parts.values()].map(({ hash }) => hash),
    ...others.map(({ remote, hash }) => remote.name + hash),
  ];
  const hash = joinedHash(hashes);
  const entries = [...(remote?.entries() ?? [])].filter(([name]) => isVersion(name) || !parts.has(name));
  const urls = entries.flatMap(([name, { serverRelativeUrl }]) => [name, serverRelativeUrl]);
  return {
    groups,
    parts,
    others,
    entries: new Map(entries),
    hash,
    indexHash: joinedHash([hash, ...urls, "index"]),
    changedAt: Date.now(),
  };
}

/** Whether a document is that of a group version, such as `apis/apps/v1`. */
function isVersion(name: string): boolean {
  return name.split("/").length === 3;
}

/** The index of the v3 documents, sorted by name. */
export function indexOf({ parts, entries }: Surface): object {
  const own = [...parts].map(([path, part]) => [path, relativeUrl(path, part.hash)] as const);
  const others = [...entries].map(([path, { serverRelativeUrl }]) => [path, serverRelativeUrl] as const);
  const paths = [...new Map([...own, ...others])]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, serverRelativeURL]) => [path, { serverRelativeURL }]);
  return { paths: Object.fromEntries(paths) };
}

/** Where clients find a document. */
export function relativeUrl(path: string, hash: string): string {
  return `/openapi/v3/${path}?hash=${hash}`;
}
