/** JSON Patch (RFC 6902) as kube-apiserver applies it, as lenient as its library, json-patch v4. */
import { encodeAny } from "../json/encode-any.ts";
import { goKindOf } from "../json/parse.ts";
import { quoteGo } from "../json/quote.ts";
import { cloneJson, identical, isObject, setMember } from "../json/values.ts";
import { retainedDepthMax } from "../schema/decode.ts";
import { cloneNoted, encodePatched, openAll, type PatchNotes } from "./encode-patched.ts";
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

/** The patch cannot be applied to the document. The message is that of json-patch v4. */
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
 * @param notes what the text of the result depends on; changed
 * @returns a new document, nested at most `retainedDepthMax` deep
 * @throws JsonPatchError for the first operation that cannot be applied
 */
export function applyJsonPatch(
  document: unknown,
  operations: readonly JsonPatchOperation[],
  notes?: PatchNotes,
): unknown {
  const state: State = {
    root: document,
    owned: new Set(),
    copiedBytes: 0,
    notes,
    long: new Map(),
    measured: undefined,
  };
  for (const operation of operations) {
    const apply = operators.get(kindOf(operation));
    if (apply === undefined) throw new JsonPatchError(`Unexpected kind: ${kindOf(operation)}`);
    if (apply !== copy && apply !== test) state.measured = undefined;
    apply(state, operation);
  }
  for (const [array, list] of state.long) list.writeTo(array);
  checkDepth(state.root, retainedDepthMax);
  if (isContainer(state.root)) notes?.opened.add(state.root);
  return cloneIn(state, state.root);
}

/** The operation; `unknown` if it is missing or no text. */
function kindOf({ op }: { readonly op?: unknown }): string {
  return typeof op === "string" ? op : "unknown";
}

interface State {
  root: unknown;
  /**
   * The objects and arrays of the result that may be changed: those that the patch has copied for itself. Others belong
   * to the document or to an operation, or are at several places of the result. The container of an owned one is owned.
   */
  readonly owned: Set<object>;
  copiedBytes: number;
  readonly notes: PatchNotes | undefined;
  /**
   * The current items of long arrays to which items were added or from which items were removed.
   */
  readonly long: Map<unknown[], LongList>;
  /** The value that was copied last, and its bytes of JSON, until it may have changed. */
  measured: { readonly value: unknown; readonly bytes: number } | undefined;
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
  const at = pathFor("add", path);
  const place = ownPlace(state, at, `add operation does not apply: doc is missing path: "${at}"`);
  within(`error in add for path: '${at}'`, () => insertAt(state, place, shared(state, value ?? null)));
}

function remove(state: State, { path }: JsonPatchOperation): void {
  const at = pathFor("remove", path);
  const place = ownPlace(state, at, `remove operation does not apply: doc is missing path: "${at}"`);
  within(`error in remove for path: '${at}'`, () => removeAt(state, place));
}

function replace(state: State, { path, value }: JsonPatchOperation): void {
  const at = within("replace operation failed to decode path", () => textOf(path, noPath));
  if (at === "") {
    if (!isContainer(value)) throw new JsonPatchError("replace operation value must be object or array: %!w(<nil>)");
    state.root = shared(state, value);
    return;
  }
  const { container, key } = ownPlace(state, at, `replace operation does not apply: doc is missing path: ${at}`);
  const next = shared(state, value ?? null);
  if (!Array.isArray(container)) return setMember(container, key, next);
  if (indexIn(state, container, key) === undefined)
    throw new JsonPatchError(`replace operation does not apply: doc is missing key: ${at}: ${missing}`);
  setItem(state, container, key, next);
}

function move(state: State, { path, from }: JsonPatchOperation): void {
  const start = within("move operation failed to decode from", () => textOf(from, noFrom));
  const source = ownPlace(state, start, `move operation does not apply: doc is missing from path: ${start}`);
  const value = within(`error in move for path: '${source.key}'`, () => {
    const found = valueAt(state, source);
    removeAt(state, source);
    return found;
  });
  const at = within("move operation failed to decode path", () => textOf(path, noPath));
  const target = ownPlace(state, at, `move operation does not apply: doc is missing destination path: ${at}`);
  within(`error in move for path: '${at}'`, () => insertAt(state, target, value));
}

function copy(state: State, { path, from }: JsonPatchOperation): void {
  const start = within("copy operation failed to decode from", () => textOf(from, noFrom));
  const source = getPlace(state, start, `copy operation does not apply: doc is missing from path: ${start}`);
  const value = within(`error in copy for from: '${start}'`, () => withCurrentItems(state, valueAt(state, source)));
  disown(state, value);
  const at = pathFor("copy", path);
  const target = ownPlace(state, at, `copy operation does not apply: doc is missing destination path: ${at}`);
  state.copiedBytes += measure(state, value);
  if (state.copiedBytes > copiedBytesMax) throw new JsonPatchError(copiedTooMuch(state.copiedBytes), "copiedBytes");
  within("error while adding value during copy", () => insertAt(state, target, shared(state, value)));
}

function cloneIn({ notes }: State, value: unknown): unknown {
  return notes === undefined ? cloneJson(value) : cloneNoted(value, notes);
}

/** A value that no container owns, for another place. With notes it is a copy, because they differ between places. */
function shared({ notes }: State, value: unknown): unknown {
  return notes === undefined ? value : cloneNoted(value, notes);
}

/** Ends the ownership of a value, which is at several places from now on. */
function disown(state: State, value: unknown): void {
  if (!isContainer(value) || !state.owned.delete(value)) return;
  if (Array.isArray(value)) state.long.delete(value);
  for (const member of Array.isArray(value) ? value : Object.values(value)) disown(state, member);
}

/** The container, or a copy of it that is owned. */
function ownContainer({ owned }: State, container: Container): Container {
  if (owned.has(container)) return container;
  const copy = Array.isArray(container) ? container.slice() : { ...container };
  owned.add(copy);
  return copy;
}

/** @returns the bytes of JSON of a value, which is read once when it is copied many times */
function measure(state: State, value: unknown): number {
  if (state.measured === undefined || state.measured.value !== value) {
    checkDepth(value, retainedDepthMax);
    const text = state.notes === undefined ? encodeAny(value) : encodePatched(value, state.notes);
    state.measured = { value, bytes: Buffer.byteLength(text) };
  }
  return state.measured.bytes;
}

const copiedTooMuch = (bytes: number): string =>
  `Unable to complete the copy, the accumulated size increase of copy is ${bytes}, exceeding the limit ${copiedBytesMax}`;

function test(state: State, { path, value }: JsonPatchOperation): void {
  const at = within("test operation failed to decode path", () => textOf(path, noPath));
  const found = withCurrentItems(state, at === "" ? state.root : testedAt(state, at));
  if (!identical(found, value ?? null)) throw new JsonPatchError(`testing value ${at} failed: test failed`);
  if (state.notes !== undefined) openAll(found, state.notes);
}

function testedAt(state: State, at: string): unknown {
  const place = getPlace(state, at, `test operation does not apply: is missing path: ${at}`);
  return within(`error in test for path: '${at}'`, () => valueAt(state, place));
}

const missing = "missing value";
const noPath = `operation missing path field: ${missing}`;
const noFrom = `operation, missing from field: ${missing}`;

/** Adds the operation to the message of an error. */
function within<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof JsonPatchError && error.limit === undefined)
      throw new JsonPatchError(`${what}: ${error.message}`);
    throw error;
  }
}

/** @throws JsonPatchError if a member of the operation is missing or no text */
function textOf(value: unknown, absent: string): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) throw new JsonPatchError(absent);
  throw new JsonPatchError(`json: cannot unmarshal ${goKindOf(value)} into Go value of type string`);
}

/** Any problem of the path counts as a missing one. */
function pathFor(operation: string, path: unknown): string {
  if (typeof path === "string") return path;
  throw new JsonPatchError(`${operation} operation failed to decode path: ${missing}`);
}

/**
 * Finds the container of a path's last part, for reading.
 *
 * @throws JsonPatchError if there is no container
 */
function getPlace(state: State, path: string, problem: string): Place {
  return placeOf(state, path, problem, (container) => container);
}

/**
 * Finds the container of a path's last part, and owns it.
 *
 * @throws JsonPatchError if there is no container
 */
function ownPlace(state: State, path: string, problem: string): Place {
  if (isContainer(state.root)) state.root = ownContainer(state, state.root);
  return placeOf(state, path, problem, (container, at) => {
    const own = ownContainer(state, container);
    if (own !== container) setAt(state, at, own);
    return own;
  });
}

/** @param enter returns the container to go on with, which is at a place */
function placeOf(
  state: State,
  path: string,
  problem: string,
  enter: (container: Container, at: Place) => Container,
): Place {
  const parts = path.split("/").slice(1).map(unescapePart);
  const key = parts.pop();
  let container = state.root;
  for (const part of parts) {
    const next = isContainer(container) ? partOf(state, container, part) : undefined;
    container = isContainer(next) ? enter(next, { container: container as Container, key: part }) : undefined;
    if (isContainer(container)) state.notes?.opened.add(container);
  }
  if (key === undefined || !isContainer(container)) throw new JsonPatchError(`${problem}: ${missing}`);
  return { container, key };
}

function setAt(state: State, { container, key }: Place, value: unknown): void {
  if (Array.isArray(container)) setItem(state, container, key, value);
  else setMember(container, key, value);
}

/** @returns undefined for an index out of range */
function partOf(state: State, container: Container, key: string): unknown {
  if (Array.isArray(container) && indexIn(state, container, key) === undefined) return undefined;
  return valueAt(state, { container, key });
}

function unescapePart(part: string): string {
  return part.includes("~") ? part.replace(/~[01]/g, (escaped) => (escaped === "~1" ? "/" : "~")) : part;
}

function isContainer(value: unknown): value is Container {
  return Array.isArray(value) || isObject(value);
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
  const index = key === "-" ? length : insertionIndex(length + 1, key);
  if (list === undefined) container.splice(index, 0, value);
  else list.insert(index, value);
}

function insertionIndex(length: number, key: string): number {
  if (isIndex(key)) return indexBelow(length, key);
  throw new JsonPatchError(`value was not a proper array index: '${key}': ${notAnIndex(key)}`);
}

function removeAt(state: State, { container, key }: Place): void {
  if (Array.isArray(container)) {
    const list = listOf(state, container);
    if (list === undefined) container.splice(indexBelow(container.length, key), 1);
    else list.remove(indexBelow(list.length, key));
    return;
  }
  if (!Object.hasOwn(container, key)) throw new JsonPatchError(`Unable to remove nonexistent key: ${key}: ${missing}`);
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

/** @returns undefined for an index out of range */
function indexIn({ long }: State, array: unknown[], key: string): number | undefined {
  return isIndex(key) ? indexWithin((long.get(array) ?? array).length, key) : undefined;
}

const isIndex = (key: string): boolean => /^[+-]?[0-9]+$/.test(key);
const notAnIndex = (key: string): string => `strconv.Atoi: parsing ${quoteGo(key)}: invalid syntax`;

/** Negative indices count from the end: -1 is `length - 1`. */
function indexWithin(length: number, key: string): number | undefined {
  const index = Number(key);
  if (index >= 0 ? index < length : index >= -length) return index < 0 ? index + length : index;
  return undefined;
}

/** @throws JsonPatchError for a key that is no index below the length */
function indexBelow(length: number, key: string): number {
  if (!isIndex(key)) throw new JsonPatchError(notAnIndex(key));
  const index = indexWithin(length, key);
  if (index === undefined)
    throw new JsonPatchError(
      `Unable to access invalid index: ${BigInt(key.replace("+", ""))}: invalid index referenced`,
    );
  return index;
}

function checkDepth(value: unknown, levels: number): void {
  if (!isContainer(value)) return;
  if (levels === 0) throw new JsonPatchError("the patched document nests too deep", "depth");
  const members = Array.isArray(value) ? value : Object.values(value);
  for (const member of members) if (isContainer(member)) checkDepth(member, levels - 1);
}
