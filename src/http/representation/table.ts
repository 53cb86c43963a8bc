/**
 * Tables of meta.k8s.io, `v1` and `v1beta1`. Columns are those of upstream's printers. See
 * Kubernetes docs, API Concepts, Receiving resources as Tables.
 */
import assert from "node:assert/strict";
import { internalMetadata, type KubeObject } from "../../apimachinery/object.ts";
import { defaultColumns } from "../../catalog/common-columns.ts";
import type { Resolved } from "../../catalog/contract.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import type { ListMeta, ListResult } from "../../registry/list.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { Shown } from "./contract.ts";
import { type ListMemory, listPieces } from "./list-pieces.ts";
import { encodeMetadata } from "./partial-metadata.ts";
import type { Piece } from "./piece.ts";
import { columnsOf, entryRows, rowHead } from "./table-entries.ts";
import {
  encodeRows,
  headOf,
  headsAt,
  makeRow,
  type Row,
  type RowObject,
  type Slice,
  sliceOf,
  type TableForm,
} from "./table-row.ts";
import { encodeAtVersion, encodeWithVersion, type VersionedJson } from "./version.ts";

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
  const rows = [...entries].map(entryRows(resolved, form, now).row);
  return encodeTable(rows, columnsOf(resolved), form, meta);
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
  const rows = entryRows(resolved, form, now);
  const frame = {
    form: {
      view: resolved,
      encoding: `table ${form.version} ${form.includeObject}`,
      // Ages change with the time, most of them seldom.
      textOf: (some: readonly Entry[]) => some.map(rows.cells).join(""),
    },
    head: Buffer.from(`${tableHead(columns, form, meta)}[`),
    tail: Buffer.from("]}\n"),
    between: comma,
    empty: () => Buffer.concat([encodeTable([], columns, form, meta), newline]),
    items: (some: readonly Entry[]) => encodeRows(some.map(rows.row)),
  };
  return listPieces(entries, frame, memory);
}

const newline = Buffer.from("\n");

/** One object of a watch. Only the first event contains the columns. */
export function tableEvent(entry: Entry, resolved: Resolved, form: TableForm, now: number, isFirst: boolean): Buffer {
  const meta = { resourceVersion: String(entry.revision) };
  const row = entryRows(resolved, form, now).row(entry);
  return encodeTable([row], isFirst ? columnsOf(resolved) : undefined, form, meta);
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
  const { resourceVersion = "", annotations } = object.metadata;
  const shown =
    form.includeObject === "None" && annotations !== undefined ? { ...form, includeObject: "Metadata" as const } : form;
  const row = rowOf(object, resolved, shown, now, {
    whole: () => encodeWithVersion(object, resolved.version.schema).json,
    metadata: () => sliceOf(encodeMetadata(object.metadata)),
  });
  return encodeTable([row], isFirst ? columnsOf(resolved) : undefined, form, { resourceVersion });
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
  const { strategy } = resolved.resource.definition;
  const rows = objects.map((object) =>
    rowOf(object, resolved, form, now, {
      whole: () => encodeAtVersion(object, resolved).json,
      metadata: () => sliceOf(encodeMetadata(internalMetadata(object.metadata, strategy))),
    }),
  );
  return encodeTable(rows, columnsOf(resolved), form, meta);
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
  const head = headOf(scale, columns);
  const metadata = (): Slice => sliceOf(encodeMetadata(scale.metadata));
  const row = makeRow(head, headsAt(now)(head), { whole: () => encode().json, metadata }, form);
  return encodeTable([row], columns, form, { resourceVersion: scale.metadata.resourceVersion ?? "" });
}

/** The row of an object that is not stored. */
function rowOf(object: KubeObject, resolved: Resolved, form: TableForm, now: number, from: RowObject): Row {
  const head = rowHead(object, resolved);
  return makeRow(head, headsAt(now)(head), from, form);
}

function encodeTable(
  rows: readonly Row[],
  columns: readonly Column[] | undefined,
  form: TableForm,
  meta: Partial<ListMeta>,
): Buffer {
  const head = tableHead(columns, form, meta);
  // Upstream's printer of kinds without columns leaves the rows of an empty list unset.
  if (rows.length === 0) return Buffer.from(`${head}${columns === defaultColumns ? "null" : "[]"}}`);
  const { length, write } = encodeRows(rows);
  const start = Buffer.from(`${head}[`);
  const bytes = Buffer.allocUnsafe(start.length + length + tail.length);
  tail.copy(bytes, write(bytes, start.copy(bytes)));
  return bytes;
}

/** @param columns undefined when the client has them already */
function tableHead(columns: readonly Column[] | undefined, { version }: TableForm, meta: Partial<ListMeta>): string {
  const definitions = columns === undefined ? "null" : `[${columns.map(encodeColumn).join(",")}]`;
  return `{"kind":"Table","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(meta)},"columnDefinitions":${definitions},"rows":`;
}

const comma = Buffer.from(",");
const tail = Buffer.from("]}");

function encodeColumn({ name, type, format = "", description, priority }: Column): string {
  return JSON.stringify({ name, type, format, description, priority });
}
