/** JSON Patch (RFC 6902) as kube-apiserver applies it, as lenient as its library, json-patch v4. */
import { encodeAny } from "../json/encode-any.ts";
import { cloneJson, identical, setMember } from "../json/values.ts";
import { retainedDepthMax } from "../schema/decode.ts";
import { cloneOpened, openAll } from "./encode-patched.ts";
import { LongList } from "./long-list.ts";

/**
 * The maximum bytes of JSON that all copies of one patch add.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/config.go, JSONPatchMaxCopyBytes
 */
export const copiedBytesMax = 3 * 1024 * 1024;

/** One operation. An operation with a null or missing path is rejected. */
export interface JsonPatchOperation {
  readonly op?: string | null;
  readonly path?: string | null;
  readonly from?: string | null;
  /** Absent means null. */
  readonly value?: unknown;
}

/** The patch cannot be applied to the document. */
export class JsonPatchError extends Error {
  /** The exceeded limit; undefined if the patch does not fit the document. */
  readonly limit: "copiedBytes" | "depth" | undefined;
  constructor(message: string, limit?: "copiedBytes" | "depth") {
    super(message);
    this.name = "JsonPatchError";
    this.limit = limit;
  }
}

/**
 * Applies all operations in order. It accepts more than the RFC: `replace` adds an absent member,
 * `copy` copies null for it, and `test` compares it with null; negative indices count from the end;
 * the part of a path before the first slash is ignored.
 *
 * @param document plain JSON, nested at most `retainedDepthMax` deep; not modified
 * @param operations not modified
 * @param opened receives the objects and arrays of the result that the patch opened
 * @returns a new document, nested at most `retainedDepthMax` deep
 * @throws JsonPatchError for the first operation that cannot be applied
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
  /**
   * The current items of long arrays to which items were added or from which items were removed.
   */
  readonly long: Map<unknown[], LongList>;
}

/** Longer arrays become a LongList: 10,000 operations on 500,000 items would take seconds. */
const arrayItemsMax = 4096;

type Container = unknown[] | Record<string, unknown>;

/** The container that the last part of a path refers to, and its key in it. */
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
  const value = withCurrentItems(state, valueAt(state, getPlace(state, from)));
  const target = getPlace(state, path);
  checkDepth(value, retainedDepthMax);
  state.copiedBytes += Buffer.byteLength(encodeAny(value));
  if (state.copiedBytes > copiedBytesMax) {
    throw new JsonPatchError(`copies of more than ${copiedBytesMax} bytes`, "copiedBytes");
  }
  insertAt(state, target, state.opened === undefined ? cloneJson(value) : cloneOpened(value, state.opened));
}

function test(state: State, { path, value }: JsonPatchOperation): void {
  const found = withCurrentItems(state, path === "" ? state.root : valueAt(state, getPlace(state, path)));
  if (!identical(found, value ?? null)) throw new JsonPatchError(`test failed: ${path}`);
  if (state.opened !== undefined) openAll(found, state.opened);
}

/**
 * Finds the container of a path's last part.
 *
 * @throws JsonPatchError if there is no path or no container
 */
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

/** @returns null for an absent member @throws JsonPatchError for an index out of range */
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

/** @returns undefined for a short array */
function listOf({ long }: State, array: unknown[]): LongList | undefined {
  const existing = long.get(array);
  if (existing !== undefined || array.length <= arrayItemsMax) return existing;
  const list = new LongList(array);
  long.set(array, list);
  return list;
}

/** Writes the current items of long arrays into the arrays inside a value. */
function withCurrentItems({ long }: State, value: unknown): unknown {
  if (long.size > 0) writeItems(long, value, retainedDepthMax);
  return value;
}

/**
 * @param levels deeper values are skipped: they can be neither copied nor equal to a value of the
 *   patch
 */
function writeItems(long: State["long"], value: unknown, levels: number): void {
  if (!isContainer(value) || levels === 0) return;
  if (Array.isArray(value)) long.get(value)?.writeTo(value);
  for (const member of Object.values(value)) writeItems(long, member, levels - 1);
}

/** Parses an index. Negative ones count from the end: -1 is `length - 1`. */
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
