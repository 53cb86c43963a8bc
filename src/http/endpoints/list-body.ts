/** Writes a collection as JSON: slices of what the cache holds, in pieces, so that its memory does not grow with the number of objects. */
import { formatGroupVersion } from "../../api/object.ts";
import type { ListMeta, ListResult } from "../../registry/list.ts";
import type { Resolved } from "../../resource/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { RequestContext } from "../contract.ts";
import { type Piece, type PieceMemory, pieceBytes, sendPieces } from "../representation/pieces.ts";
import { entryAtVersion, type VersionedJson } from "../representation/version.ts";

const openBrace = 0x7b;
const comma = 0x2c;

export async function sendList(context: RequestContext, { meta, entries }: ListResult, memory: PieceMemory): Promise<void> {
  const { head, tail } = envelope(context.resolved as Resolved, meta);
  await sendPieces(context, piecesOf(context.resolved as Resolved, entries, { head, tail, memory }), { memory });
}

/** What stands before and after the items. Custom resources have all keys sorted, as upstream writes them. */
function envelope({ resource, version }: Resolved, meta: ListMeta): { head: Buffer; tail: Buffer } {
  const { definition } = resource;
  const kind = JSON.stringify(definition.listKind);
  const apiVersion = JSON.stringify(formatGroupVersion(definition.group, version.version));
  if (definition.custom) {
    const { resourceVersion, continue: next = "", remainingItemCount } = meta;
    const metadata = { continue: next, ...(remainingItemCount !== undefined && { remainingItemCount }), resourceVersion };
    return {
      head: Buffer.from(`{"apiVersion":${apiVersion},"items":[`),
      tail: Buffer.from(`],"kind":${kind},"metadata":${JSON.stringify(metadata)}}\n`),
    };
  }
  return { head: Buffer.from(`{"kind":${kind},"apiVersion":${apiVersion},"metadata":${JSON.stringify(meta)},"items":[`), tail: Buffer.from("]}\n") };
}

interface Around {
  readonly head: Buffer;
  readonly tail: Buffer;
  readonly memory: PieceMemory;
}

function* piecesOf(resolved: Resolved, entries: Iterable<Entry>, { head, tail, memory }: Around): Generator<Piece, void, void> {
  const { custom } = resolved.resource.definition;
  const atVersion = isStored(resolved) ? (entry: Entry): VersionedJson => entry : (entry: Entry): VersionedJson => entryAtVersion(entry, resolved);
  let items: VersionedJson[] = [];
  let size = head.length;
  let before: Buffer | undefined = head;
  for (const entry of entries) {
    const item = atVersion(entry);
    items.push(item);
    size += item.json.length + 1;
    if (size < pieceBytes) continue;
    yield { bytes: pack(items, { custom, before, after: undefined, memory }), last: false };
    items = [];
    size = 0;
    before = undefined;
  }
  yield { bytes: pack(items, { custom, before, after: tail, memory }), last: true };
}

function isStored({ resource: { definition, store }, version }: Resolved): boolean {
  return store?.form.version === version.version && store.form.group === definition.group;
}

interface Packing {
  readonly custom: boolean;
  /** What the first item follows; when undefined it follows another item. */
  readonly before: Buffer | undefined;
  readonly after: Buffer | undefined;
  readonly memory: PieceMemory;
}

function pack(items: readonly VersionedJson[], { custom, before, after, memory }: Packing): Buffer {
  let length = (before?.length ?? 0) + (after?.length ?? 0) + items.length;
  for (const { json, itemOffset } of items) length += custom ? json.length : json.length - itemOffset + 1;
  if (before !== undefined && items.length > 0) length -= 1;
  const bytes = memory.take(length);
  let at = before?.copy(bytes) ?? 0;
  let follows = before === undefined;
  for (const { json, itemOffset } of items) {
    if (follows) bytes[at++] = comma;
    follows = true;
    if (custom) {
      at += json.copy(bytes, at);
    } else {
      bytes[at++] = openBrace;
      at += json.copy(bytes, at, itemOffset);
    }
  }
  after?.copy(bytes, at);
  return bytes;
}
