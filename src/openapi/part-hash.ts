/**
 * What a document is made of, as a hash: it changes when the document does, and is known without making the document. An index of a thousand
 * documents costs no more than reading their definitions once.
 */
import { createHash, type Hash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { PublishedSchema } from "../catalog/contract.ts";
import type { ServedResource } from "../catalog/discovery.ts";
import { dataFile } from "../data/data-file.ts";
import type { DocumentSource, Part } from "./documents.ts";

/** Raised when the same definitions and tables give other documents than before; clients keep what they got under a hash for good. */
const documentsVersion = 1;

/** @returns upper-case hexadecimal text, as long as that of the content's hash would be */
export function partHash(
  { name, resources }: Part,
  { release, cbor, enums }: Pick<DocumentSource, "release" | "cbor" | "enums">,
): string {
  const hash = createHash("sha512");
  update(hash, [documentsVersion, tablesHash(), release, cbor, enums, name]);
  for (const resource of resources) addResource(hash, resource);
  return hash.digest("hex").toUpperCase();
}

let knownTables: string | undefined;

function tablesHash(): string {
  if (knownTables === undefined) {
    const hash = createHash("sha512");
    for (const table of ["types.json", "resources.json"]) hash.update(readFileSync(dataFile(table)));
    knownTables = hash.digest("hex");
  }
  return knownTables;
}

/** Of several documents in one. */
export function joinedHash(hashes: readonly string[]): string {
  return createHash("sha512").update(hashes.join()).digest("hex").toUpperCase();
}

function addResource(hash: Hash, { definition, version }: ServedResource): void {
  const { resource, kind, listKind, namespaced, deleteReturnsObject, custom } = definition;
  update(hash, [resource, kind, listKind, namespaced, deleteReturnsObject, custom, version.version, version.verbs]);
  for (const { schema: _, ...subresource } of version.subresources) update(hash, subresource);
  // What a built-in kind looks like is in the tables.
  if (version.openApi !== undefined) hash.update(publishedHash(version.openApi));
}

const publishedHashes = new WeakMap<PublishedSchema, string>();

function publishedHash(published: PublishedSchema): string {
  let known = publishedHashes.get(published);
  if (known === undefined) {
    const hash = createHash("sha512");
    update(hash, published);
    known = hash.digest("hex");
    publishedHashes.set(published, known);
  }
  return known;
}

function update(hash: Hash, value: unknown): void {
  hash.update(JSON.stringify(value, (_, one) => (typeof one === "bigint" ? String(one) : one)));
}
