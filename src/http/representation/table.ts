/**
 * Tables of meta.k8s.io, `v1` and `v1beta1`. Columns are those of upstream's printers. See
 * Kubernetes docs, API Concepts, Receiving resources as Tables.
 */
import assert from "node:assert/strict";
import { internalMetadata, type KubeObject } from "../../apimachinery/object.ts";
import { defaultColumns } from "../../catalog/common-columns.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import type { Column, TimedCell } from "../../catalog/strategy-contract.ts";
import type { ListMeta, ListResult } from "../../registry/list.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { Shape } from "../contract.ts";
import type { Shown } from "./contract.ts";
import { type EncodedItems, type ListMemory, listPieces } from "./list-pieces.ts";
import { encodeMetadata, metadataOf } from "./partial-metadata.ts";
import type { Piece } from "./piece.ts";
import { encodeAtVersion, encodeWithVersion, entryAtVersion, type VersionedJson } from "./version.ts";

type TableForm = Pick<Shape & { kind: "table" }, "version" | "includeObject">;

/**
 * A Table.
 * @param json encodes it
 */
export function tableShown({ version }: Pick<TableForm, "version">, json: () => Buffer): Shown {
  return {
    apiVersion: `meta.k8s.io/${version}`,
    kind: "Table",
    json,
    message: () => assert.fail("a Table has no message"),
    schema: undefined,
  };
}

/**
 * Encodes a Table.
 * @param now milliseconds since 1970, for ages
 * @returns compact JSON
 */
export function tableBody(
  entries: Iterable<Entry>,
  resolved: Resolved,
  form: TableForm,
  meta: ListMeta,
  now: number,
): Buffer {
  return encodeTable(rowsOf(entries, resolved, form, now), columnsOf(resolved), form, meta);
}

/** Encodes a list while it is sent, in pieces of a limited number of bytes of its objects. */
export function tablePieces(
  { entries, meta }: ListResult,
  resolved: Resolved,
  form: TableForm,
  now: number,
  memory: ListMemory,
): Generator<Piece, void, void> {
  const columns = columnsOf(resolved);
  const headOf = rowHeads(resolved);
  const frame = {
    form: {
      view: resolved,
      encoding: `table ${form.version} ${form.includeObject}`,
      // Ages change with the time, most of them seldom.
      textOf: (some: readonly Entry[]) => some.map((entry) => headAt(headOf(entry), now)).join(""),
    },
    head: Buffer.from(`${tableHead(columns, form, meta)}[`),
    tail: Buffer.from("]}\n"),
    between: comma,
    empty: () => Buffer.concat([encodeTable([], columns, form, meta), newline]),
    items: (some: readonly Entry[]) => encodeItems([...rowsOf(some, resolved, form, now)]),
  };
  return listPieces(entries, frame, memory);
}

const newline = Buffer.from("\n");

function encodeItems(rows: readonly (readonly Buffer[])[]): EncodedItems {
  const parts = rows.flatMap((row, index) => (index === 0 ? row : [comma, ...row]));
  let length = 0;
  for (const part of parts) length += part.length;
  return {
    length,
    write(bytes, start) {
      let at = start;
      for (const part of parts) at += part.copy(bytes, at);
      return at;
    },
  };
}

/** One object of a watch. Only the first event contains the columns. */
export function tableEvent(entry: Entry, resolved: Resolved, form: TableForm, now: number, isFirst: boolean): Buffer {
  const meta = { resourceVersion: String(entry.revision) };
  return encodeTable(rowsOf([entry], resolved, form, now), isFirst ? columnsOf(resolved) : undefined, form, meta);
}

/**
 * A bookmark of a watch: the row of an object with only metadata. Like upstream, the annotation
 * that ends the initial events is sent even without objects.
 * @param object at the request's version; must not be used afterwards
 */
export function tableBookmark(
  object: KubeObject,
  resolved: Resolved,
  form: TableForm,
  now: number,
  isFirst: boolean,
): Buffer {
  const columns = columnsOf(resolved);
  const { resourceVersion = "", annotations } = object.metadata;
  const shown =
    form.includeObject === "None" && annotations !== undefined ? { ...form, includeObject: "Metadata" as const } : form;
  const row = encodeRow(
    headAt(rowHead(object, resolved, columns), now),
    () => encodeWithVersion(object, resolved.version.schema),
    () => encodeMetadata(object.metadata),
    shown,
  );
  return encodeTable([row], isFirst ? columns : undefined, form, { resourceVersion });
}

/**
 * An object that is not stored.
 * @param object in the storage version; must not be used afterwards
 */
export function tableOfObject(object: KubeObject, resolved: Resolved, form: TableForm, now: number): Buffer {
  const { resourceVersion } = object.metadata;
  return tableOfObjects([object], resolved, form, now, resourceVersion === undefined ? {} : { resourceVersion });
}

/**
 * Objects that are not stored.
 * @param objects in the storage version; must not be used afterwards
 */
export function tableOfObjects(
  objects: readonly KubeObject[],
  resolved: Resolved,
  form: TableForm,
  now: number,
  meta: Partial<ListMeta> = {},
): Buffer {
  const columns = columnsOf(resolved);
  const rows = objects.map((object) => {
    const head = headAt(rowHead(object, resolved, columns), now);
    const metadata = () => encodeMetadata(internalMetadata(object.metadata, resolved.resource.definition.strategy));
    return encodeRow(head, () => encodeAtVersion(object, resolved), metadata, form);
  });
  return encodeTable(rows, columns, form, meta);
}

/**
 * @param scale an autoscaling/v1 Scale; must not be used afterwards
 * @param encode encodes it as served
 */
export function tableOfScale(
  scale: KubeObject,
  columns: readonly Column[],
  encode: () => VersionedJson,
  form: TableForm,
  now: number,
): Buffer {
  const row = encodeRow(headAt(headOf(scale, columns, ""), now), encode, () => encodeMetadata(scale.metadata), form);
  return encodeTable([row], columns, form, { resourceVersion: scale.metadata.resourceVersion ?? "" });
}

function columnsOf({ resource }: Resolved): readonly Column[] {
  return resource.definition.strategy.columns ?? defaultColumns;
}

function* rowsOf(
  entries: Iterable<Entry>,
  resolved: Resolved,
  form: TableForm,
  now: number,
): Generator<readonly Buffer[]> {
  const headOf = rowHeads(resolved);
  for (const entry of entries)
    yield encodeRow(
      headAt(headOf(entry), now),
      () => entryAtVersion(entry, resolved),
      () => metadataOf(entry.json, resolved.resource.definition),
      form,
    );
}

/** @returns a function that returns the head of an entry's row, and keeps it */
function rowHeads(resolved: Resolved): (entry: Entry) => RowHead {
  const heads = headsOf(resolved);
  const store = resolved.resource.store as ResourceStore;
  const columns = columnsOf(resolved);
  const losses = resolved.version.conversion?.losses;
  return (entry) => {
    const existing = heads.get(entry);
    if (existing !== undefined) return existing;
    const head = rowHead(losses?.seen(store.decode(entry)) ?? store.decode(entry), resolved, columns);
    if (head.length * headPartMin <= entry.json.length) heads.set(entry, head);
    return head;
  };
}

/**
 * The minimal ratio of entry to head for a cached head, so that all heads are smaller than the
 * watch cache.
 */
const headPartMin = 2;

const headsByResource = new WeakMap<Resolved, WeakMap<Entry, RowHead>>(); // Memo of values that depend only on entries.

function headsOf(resolved: Resolved): WeakMap<Entry, RowHead> {
  let heads = headsByResource.get(resolved);
  if (heads === undefined) {
    heads = new WeakMap();
    headsByResource.set(resolved, heads);
  }
  return heads;
}

function encodeTable(
  rows: Iterable<readonly Buffer[]>,
  columns: readonly Column[] | undefined,
  form: TableForm,
  meta: Partial<ListMeta>,
): Buffer {
  const parts: Buffer[] = [Buffer.from(tableHead(columns, form, meta))];
  for (const row of rows) parts.push(parts.length === 1 ? openBracket : comma, ...row);
  if (parts.length > 1) parts.push(tail);
  else parts.push(columns === defaultColumns ? noRows : emptyRows);
  return Buffer.concat(parts);
}

/** @param columns undefined when the client has them already */
function tableHead(columns: readonly Column[] | undefined, { version }: TableForm, meta: Partial<ListMeta>): string {
  const definitions = columns === undefined ? "null" : `[${columns.map(encodeColumn).join(",")}]`;
  return `{"kind":"Table","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(meta)},"columnDefinitions":${definitions},"rows":`;
}

const openBracket = Buffer.from("[");
const comma = Buffer.from(",");
const tail = Buffer.from("]}");
const emptyRows = Buffer.from("[]}");
/** Upstream's printer of kinds without columns leaves the rows of an empty list unset. */
const noRows = Buffer.from("null}");

function encodeColumn({ name, type, format = "", description, priority }: Column): string {
  return JSON.stringify({ name, type, format, description, priority });
}

/** A row up to its object: texts, and between them the cells that depend on the current time. */
interface RowHead {
  readonly parts: readonly (string | TimedCell)[];
  /** The length of the texts. */
  readonly length: number;
}

function rowHead(object: KubeObject, { resource }: Resolved, columns: readonly Column[]): RowHead {
  const conditions = resource.definition.strategy.rowConditions(object);
  return headOf(object, columns, conditions.length === 0 ? "" : `,"conditions":${JSON.stringify(conditions)}`);
}

function headOf(object: KubeObject, columns: readonly Column[], conditions: string): RowHead {
  const parts: (string | TimedCell)[] = [];
  let text = '{"cells":[';
  let length = 0;
  for (const [index, { value }] of columns.entries()) {
    if (index > 0) text += ",";
    const cell = value(object);
    if (typeof cell !== "function") {
      text += encodeCell(cell);
      continue;
    }
    parts.push(text, cell as TimedCell);
    length += text.length;
    text = "";
  }
  text += `]${conditions},"object":`;
  return { parts: [...parts, text], length: length + text.length };
}

function headAt({ parts }: RowHead, now: number): string {
  let head = "";
  for (const part of parts) head += typeof part === "string" ? part : JSON.stringify(part(now));
  return head;
}

function encodeCell(value: unknown): string {
  return typeof value === "bigint" ? String(value) : JSON.stringify(value ?? null);
}

/**
 * @param whole encodes the object; called only when the row contains it
 * @param metadata encodes its metadata, likewise
 */
function encodeRow(
  head: string,
  whole: () => VersionedJson,
  metadata: () => Buffer,
  { includeObject, version }: TableForm,
): readonly Buffer[] {
  if (includeObject === "None") return [Buffer.from(`${head}null}`)];
  if (includeObject === "Object") return [Buffer.from(head), whole().json, closeBrace];
  const partial = `${head}{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":`;
  return [Buffer.from(partial), metadata(), closeBraces];
}

const closeBrace = Buffer.from("}");
const closeBraces = Buffer.from("}}");
