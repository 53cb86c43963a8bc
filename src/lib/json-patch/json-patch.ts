/** JSON Patch (RFC 6902) as Kubernetes applies it, with the leniencies of the library it uses (json-patch v4). */
import { encodeAny } from "../json/encode-any.ts";
import { cloneJson, identical, setMember } from "../json/values.ts";
import { retainedDepthMax } from "../schema/decode.ts";
import { cloneOpened, openAll } from "./describe.ts";
import { LongList } from "./long-list.ts";

/** How many bytes of JSON all copies of one patch may add. Source: apiserver's JSONPatchMaxCopyBytes. */
export const copiedBytesMax = 3 * 1024 * 1024;

/** As it was read: what is no text where one belongs refuses the operation. */
export interface JsonPatchOperation {
  readonly op?: string | null;
  readonly path?: string | null;
  readonly from?: string | null;
  /** Absent means null. */
  readonly value?: unknown;
}

/** The patch does not fit the document; nothing of it counts. */
export class JsonPatchError extends Error {
  /** Which limit was passed; unset when the patch is wrong. */
  readonly limit: "copiedBytes" | "depth" | undefined;
  constructor(message: string, limit?: "copiedBytes" | "depth") {
    super(message);
    this.name = "JsonPatchError";
    this.limit = limit;
  }
}

/**
 * Applies all operations in turn. More is accepted than the RFC does: `replace` of an absent member adds it, `copy` of one copies null, `test` takes it
 * for null, negative indices count from the end, and what stands before a path's first slash is ignored.
 * @param document plain JSON nested at most `retainedDepthMax` deep; left as it is
 * @param operations read from one body, whose size and depth are bounded; left as they are
 * @param opened receives those objects of the outcome that the patch looked into
 * @returns a document that shares nothing with either, nested at most `retainedDepthMax` deep
 * @throws JsonPatchError at the first operation that does not apply
 */
export function applyJsonPatch(
  document: unknown,
  operations: readonly JsonPatchOperation[],
  opened?: Set<object>,
): unknown {
  const state: State = { root: cloneJson(document), copiedBytes: 0, opened, long: new Map() };
  for (const operation of operations) {
    const apply = operators.get(operation.op ?? "");
    if (apply === undefined) throw new JsonPatchError(`unknown operation: ${operation.op ?? "none"}`);
    apply(state, operation);
  }
  for (const [array, list] of state.long) list.writeTo(array);
  checkDepth(state.root, retainedDepthMax);
  if (isContainer(state.root)) opened?.add(state.root);
  return state.root;
}

interface State {
  root: unknown;
  copiedBytes: number;
  readonly opened: Set<object> | undefined;
  /** What long arrays hold by now, once an item was put in or taken out. */
  readonly long: Map<unknown[], LongList>;
}

/** Longer arrays are kept in pieces: ten thousand operations on half a million items would take seconds. */
const arrayItemsMax = 4096;

type Container = unknown[] | Record<string, unknown>;

/** Where the last part of a path is to be found. */
interface Place {
  readonly container: Container;
  readonly key: string;
}

const operators: ReadonlyMap<string, (state: State, operation: JsonPatchOperation) => void> = new Map([
  ["add", add],
  ["remove", remove],
  ["replace", replace],
  ["move", move],
  ["copy", copy],
  ["test", test],
]);

function add(state: State, { path, value }: JsonPatchOperation): void {
  insertAt(state, getPlace(state, path), cloneJson(value ?? null));
}

function remove(state: State, { path }: JsonPatchOperation): void {
  removeAt(state, getPlace(state, path));
}

function replace(state: State, { path, value }: JsonPatchOperation): void {
  if (path === "") {
    if (!isContainer(value))
      throw new JsonPatchError("the whole document can only be replaced by an object or an array");
    state.root = cloneJson(value);
    return;
  }
  const { container, key } = getPlace(state, path);
  const next = cloneJson(value ?? null);
  if (Array.isArray(container)) setItem(state, container, key, next);
  else setMember(container, key, next);
}

function move(state: State, { path, from }: JsonPatchOperation): void {
  const source = getPlace(state, from);
  const value = valueAt(state, source);
  removeAt(state, source);
  insertAt(state, getPlace(state, path), value);
}

function copy(state: State, { path, from }: JsonPatchOperation): void {
  const value = inArrays(state, valueAt(state, getPlace(state, from)));
  const target = getPlace(state, path);
  checkDepth(value, retainedDepthMax);
  state.copiedBytes += Buffer.byteLength(encodeAny(value));
  if (state.copiedBytes > copiedBytesMax) {
    throw new JsonPatchError(`copies of more than ${copiedBytesMax} bytes`, "copiedBytes");
  }
  insertAt(state, target, state.opened === undefined ? cloneJson(value) : cloneOpened(value, state.opened));
}

function test(state: State, { path, value }: JsonPatchOperation): void {
  const found = inArrays(state, path === "" ? state.root : valueAt(state, getPlace(state, path)));
  if (!identical(found, value ?? null)) throw new JsonPatchError(`test failed: ${path}`);
  if (state.opened !== undefined) openAll(found, state.opened);
}

/** Walks to the container of a path's last part. @throws JsonPatchError when there is no path or nothing there to hold it */
function getPlace(state: State, path: string | null | undefined): Place {
  if (typeof path !== "string") throw new JsonPatchError("an operation lacks its path");
  const parts = path.split("/").slice(1).map(unescapePart);
  const key = parts.pop();
  let container = state.root;
  for (const part of parts) {
    container = isContainer(container) ? valueAt(state, { container, key: part }) : undefined;
    if (state.opened !== undefined && isContainer(container)) state.opened.add(container);
  }
  if (key === undefined || !isContainer(container)) throw new JsonPatchError(`the document is missing path ${path}`);
  return { container, key };
}

function unescapePart(part: string): string {
  return part.includes("~") ? part.replace(/~[01]/g, (escaped) => (escaped === "~1" ? "/" : "~")) : part;
}

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null;
}

/** @returns null for an absent member @throws JsonPatchError for an index that is not there */
function valueAt({ long }: State, { container, key }: Place): unknown {
  if (!Array.isArray(container)) return Object.hasOwn(container, key) ? (container[key] ?? null) : null;
  const list = long.get(container);
  return list === undefined ? container[indexBelow(container.length, key)] : list.at(indexBelow(list.length, key));
}

function setItem({ long }: State, array: unknown[], key: string, value: unknown): void {
  const list = long.get(array);
  if (list === undefined) array[indexBelow(array.length, key)] = value;
  else list.set(indexBelow(list.length, key), value);
}

function insertAt(state: State, { container, key }: Place, value: unknown): void {
  if (!Array.isArray(container)) return setMember(container, key, value);
  const list = listOf(state, container);
  const { length } = list ?? container;
  const index = key === "-" ? length : indexBelow(length + 1, key);
  if (list === undefined) container.splice(index, 0, value);
  else list.insert(index, value);
}

function removeAt(state: State, { container, key }: Place): void {
  if (Array.isArray(container)) {
    const list = listOf(state, container);
    if (list === undefined) container.splice(indexBelow(container.length, key), 1);
    else list.remove(indexBelow(list.length, key));
    return;
  }
  if (!Object.hasOwn(container, key)) throw new JsonPatchError(`nothing to remove at ${key}`);
  delete container[key];
}

/** @returns undefined for an array that is short */
function listOf({ long }: State, array: unknown[]): LongList | undefined {
  const known = long.get(array);
  if (known !== undefined || array.length <= arrayItemsMax) return known;
  const list = new LongList(array);
  long.set(array, list);
  return list;
}

/** Brings the long arrays within a value up to date. */
function inArrays({ long }: State, value: unknown): unknown {
  if (long.size > 0) bringUpToDate(long, value, retainedDepthMax);
  return value;
}

/** @param levels what lies deeper stays as it is: it can be neither copied nor equal to what a patch says */
function bringUpToDate(long: State["long"], value: unknown, levels: number): void {
  if (!isContainer(value) || levels === 0) return;
  if (Array.isArray(value)) long.get(value)?.writeTo(value);
  for (const member of Object.values(value)) bringUpToDate(long, member, levels - 1);
}

/** Negative indices count back from `length`: -1 is the last place. */
function indexBelow(length: number, key: string): number {
  const index = /^[+-]?[0-9]+$/.test(key) ? Number(key) : Number.NaN;
  if (index >= 0 ? index < length : index >= -length) return index < 0 ? index + length : index;
  throw new JsonPatchError(`no such index: ${key}`);
}

function checkDepth(value: unknown, levels: number): void {
  if (!isContainer(value)) return;
  if (levels === 0) throw new JsonPatchError("the patched document nests too deep", "depth");
  for (const member of Object.values(value)) checkDepth(member, levels - 1);
}
