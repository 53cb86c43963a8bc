/**
 * Hashes the inputs of a document instead of its content, so that the index of all documents needs
 * their definitions only. The hash changes whenever the document changes.
 */
import { createHash, type Hash } from "node:crypto";
import { readDataFile } from "../apimachinery/data/data-file.ts";
import type { PublishedSchema } from "../catalog/contract.ts";
import type { ServedResource } from "../catalog/discovery.ts";
import type { DocumentSource, Part } from "./documents.ts";

/**
 * Incremented when documents of the same inputs change; clients cache documents by hash without
 * expiry.
 */
const documentsVersion = 1;

/**
 * Hashes the inputs of one document.
 *
 * @returns upper-case hexadecimal text, as long as upstream's hash of the content
 */
export function partHash(
  { name, resources }: Part,
  { release, cbor, enums }: Pick<DocumentSource, "release" | "cbor" | "enums">,
): string {
  const hash = createHash("sha512");
  update(hash, [documentsVersion, tablesHash(), release, cbor, enums, name]);
  for (const resource of resources) addResource(hash, resource);
  return hash.digest("hex").toUpperCase();
}

let cachedTablesHash: string | undefined;

function tablesHash(): string {
  if (cachedTablesHash === undefined) {
    const hash = createHash("sha512");
    for (const table of ["types.json", "resources.json"]) hash.update(readDataFile(table) as Buffer);
    cachedTablesHash = hash.digest("hex");
  }
  return cachedTablesHash;
}

/** The hash of several documents. */
export function joinedHash(hashes: readonly string[]): string {
  return createHash("sha512").update(hashes.join()).digest("hex").toUpperCase();
}

function addResource(hash: Hash, { definition, version }: ServedResource): void {
  const { resource, kind, listKind, namespaced, deleteReturnsObject, custom } = definition;
  update(hash, [resource, kind, listKind, namespaced, deleteReturnsObject, custom, version.version, version.verbs]);
  for (const { schema: _, ...subresource } of version.subresources) update(hash, subresource);
  // The schemas of built-in kinds are in the tables.
  if (version.openApi !== undefined) hash.update(publishedHash(version.openApi));
}

const publishedHashes = new WeakMap<PublishedSchema, string>();

function publishedHash(published: PublishedSchema): string {
  let cached = publishedHashes.get(published);
  if (cached === undefined) {
    const hash = createHash("sha512");
    update(hash, published);
    cached = hash.digest("hex");
    publishedHashes.set(published, cached);
  }
  return cached;
}

function update(hash: Hash, value: unknown): void {
  hash.update(JSON.stringify(value, (_, one) => (typeof one === "bigint" ? String(one) : one)));
}
