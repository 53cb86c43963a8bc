/** Writes a collection as YAML, in pieces: its keys in order are apiVersion, items, kind and metadata. */
import { formatGroupVersion } from "../../api/object.ts";
import { yamlItemOfJson, yamlOfJson } from "../../lib/yaml/encode.ts";
import { yamlType } from "../../lib/yaml/media-type.ts";
import type { ListMeta, ListResult } from "../../registry/list.ts";
import type { Resolved } from "../../resource/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { RequestContext } from "../contract.ts";
import { type Piece, type PieceMemory, pieceBytes, sendPieces } from "../representation/pieces.ts";
import { entryAtVersion } from "../representation/version.ts";

export async function sendYamlList(context: RequestContext, { meta, entries }: ListResult, memory: PieceMemory): Promise<void> {
  await sendPieces(context, piecesOf(context.resolved as Resolved, entries, meta), { memory, contentType: yamlType });
}

/** Making YAML takes some ten times as long as copying JSON, so that a piece is less. */
const yamlPieceBytes = pieceBytes / 8;

function* piecesOf(resolved: Resolved, entries: Iterable<Entry>, meta: ListMeta): Generator<Piece, void, void> {
  const { definition } = resolved.resource;
  let text = yamlOf({ apiVersion: formatGroupVersion(definition.group, resolved.version.version) });
  let first = true;
  for (const entry of entries) {
    if (first) text += "items:\n";
    first = false;
    text += yamlItemOfJson(itemJson(resolved, entry));
    if (text.length < yamlPieceBytes) continue;
    yield { bytes: Buffer.from(text), last: false };
    text = "";
  }
  if (first) text += "items: []\n";
  const metadata = definition.custom ? { continue: "", ...meta } : meta;
  yield { bytes: Buffer.from(text + yamlOf({ kind: definition.listKind, metadata })), last: true };
}

/** Items of built-ins leave out what they are. */
function itemJson(resolved: Resolved, entry: Entry): Buffer {
  const { json, itemOffset } = entryAtVersion(entry, resolved);
  return resolved.resource.definition.custom ? json : Buffer.concat([openBrace, json.subarray(itemOffset)]);
}

const openBrace = Buffer.from("{");

function yamlOf(value: object): string {
  return yamlOfJson(Buffer.from(JSON.stringify(value)));
}
