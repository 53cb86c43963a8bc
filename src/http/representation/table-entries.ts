/** Rows of stored objects: their cells are made once, from the few members that the columns of the kind read. */
import type { KubeObject } from "../../apimachinery/object.ts";
import { defaultColumns } from "../../catalog/common-columns.ts";
import type { Resolved, ResourceDefinition, ResourceStore } from "../../catalog/contract.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { type PathTree, type Projection, pathTree, project } from "../../lib/json/project.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { metadataOf } from "./partial-metadata.ts";
import { headOf, headsAt, makeRow, type Row, type RowHead, type Slice, sliceOf, type TableForm } from "./table-row.ts";
import { entryAtVersion } from "./version.ts";

/** The columns of a kind. */
export function columnsOf({ resource }: Resolved): readonly Column[] {
  return resource.definition.strategy.columns ?? defaultColumns;
}

/** The head of the row of an object. */
export function rowHead(object: KubeObject, resolved: Resolved): RowHead {
  const conditions = resolved.resource.definition.strategy.rowConditions(object);
  const text = conditions.length === 0 ? "" : `,"conditions":${JSON.stringify(conditions)}`;
  return headOf(object, columnsOf(resolved), text);
}

/** Makes rows of entries. */
interface EntryRows {
  /** The text of the cells, which changes with the time only. */
  cells(entry: Entry): string;
  row(entry: Entry): Row;
}

/** @param now milliseconds since 1970, for ages */
export function entryRows(resolved: Resolved, form: TableForm, now: number): EntryRows {
  const kept = keptHeads(resolved);
  const textOf = headsAt(now);
  const { definition } = resolved.resource;
  return {
    cells: (entry) => textOf(kept(entry)),
    row(entry) {
      const head = kept(entry);
      const metadata = (): Slice => metadataSlice(entry, head, definition);
      return makeRow(head, textOf(head), { whole: () => entryAtVersion(entry, resolved).json, metadata }, form);
    },
  };
}

function metadataSlice({ json }: Entry, { start, end }: EntryHead, definition: ResourceDefinition): Slice {
  return end > 0 ? { bytes: json, start, end } : sliceOf(metadataOf(json, definition));
}

/** The head of an entry's row. */
interface EntryHead extends RowHead {
  /** Where the entry's JSON has the metadata that rows contain; 0 where it has to be encoded. */
  readonly start: number;
  readonly end: number;
}

/** @returns a function that returns the head of an entry's row, and keeps it */
function keptHeads(resolved: Resolved): (entry: Entry) => EntryHead {
  const heads = headsOf(resolved);
  const make = headMaker(resolved);
  return (entry) => {
    const existing = heads.get(entry);
    if (existing !== undefined) return existing;
    const head = make(entry);
    if (head.length * headPartMin <= entry.json.length) heads.set(entry, head);
    return head;
  };
}

/**
 * The minimal ratio of entry to head for a cached head, so that all heads are smaller than the
 * watch cache.
 */
const headPartMin = 2;

const headsByResource = new WeakMap<Resolved, WeakMap<Entry, EntryHead>>(); // Memo of values that depend only on entries.

function headsOf(resolved: Resolved): WeakMap<Entry, EntryHead> {
  let heads = headsByResource.get(resolved);
  if (heads === undefined) {
    heads = new WeakMap();
    headsByResource.set(resolved, heads);
  }
  return heads;
}

function headMaker(resolved: Resolved): (entry: Entry) => EntryHead {
  const { definition, store } = resolved.resource;
  const losses = resolved.version.conversion?.losses;
  const decoded = (entry: Entry): EntryHead => {
    const object = (store as ResourceStore).decode(entry);
    return { ...rowHead(losses?.seen(object) ?? object, resolved), ...nowhere };
  };
  if (definition.custom) return decoded;
  const paths = pathsOf(definition);
  return (entry) => {
    const found = project(entry.json, paths, "metadata");
    if (found === undefined) return decoded(entry);
    const { start, end } = showsStored(entry.json, found, definition) ? found : nowhere;
    return { ...rowHead(found.value as KubeObject, resolved), start, end };
  };
}

const nowhere = { start: 0, end: 0 };

/** Whether rows contain the metadata as it is stored. */
function showsStored(
  json: Buffer,
  { start, end }: Projection,
  { strategy: { fieldAnnotation } }: ResourceDefinition,
): boolean {
  return fieldAnnotation === undefined || !json.subarray(start, end).includes(fieldAnnotation);
}

const pathsByDefinition = new WeakMap<ResourceDefinition, PathTree>(); // Memo of values that depend only on definitions.

function pathsOf(definition: ResourceDefinition): PathTree {
  let paths = pathsByDefinition.get(definition);
  if (paths === undefined) {
    paths = pathTree(definition.strategy.cellPaths);
    pathsByDefinition.set(definition, paths);
  }
  return paths;
}
