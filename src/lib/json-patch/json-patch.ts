/** JSON Patch (RFC 6902) as Kubernetes applies it, with the leniencies of the library it uses (json-patch v4). */
import { encodeAny } from "../json/encode-any.ts";
import { cloneJson, identical, setMember } from "../json/values.ts";
import { retainedDepthMax } from "../schema/decode.ts";
import { cloneOpened, openAll } from "./describe.ts";

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
export function applyJsonPatch(document: unknown, operations: readonly JsonPatchOperation[], opened?: Set<object>): unknown {
  const state: State = { root: cloneJson(document), copiedBytes: 0, opened };
  for (const operation of operations) {
    const apply = operators.get(operation.op ?? "");
    if (apply === undefined) throw new JsonPatchError(`unknown operation: ${operation.op ?? "none"}`);
    apply(state, operation);
  }
  checkDepth(state.root, retainedDepthMax);
  if (isContainer(state.root)) opened?.add(state.root);
  return state.root;
}

interface State {
  root: unknown;
  copiedBytes: number;
  readonly opened: Set<object> | undefined;
}

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
  insertAt(getPlace(state, path), cloneJson(value ?? null));
}

function remove(state: State, { path }: JsonPatchOperation): void {
  removeAt(getPlace(state, path));
}

function replace(state: State, { path, value }: JsonPatchOperation): void {
  if (path === "") {
    if (!isContainer(value)) throw new JsonPatchError("the whole document can only be replaced by an object or an array");
    state.root = cloneJson(value);
    return;
  }
  const { container, key } = getPlace(state, path);
  const next = cloneJson(value ?? null);
  if (Array.isArray(container)) container[existingIndex(container, key)] = next;
  else setMember(container, key, next);
}

function move(state: State, { path, from }: JsonPatchOperation): void {
  const source = getPlace(state, from);
  const value = valueAt(source);
  removeAt(source);
  insertAt(getPlace(state, path), value);
}

function copy(state: State, { path, from }: JsonPatchOperation): void {
  const value = valueAt(getPlace(state, from));
  const target = getPlace(state, path);
  checkDepth(value, retainedDepthMax);
  state.copiedBytes += Buffer.byteLength(encodeAny(value));
  if (state.copiedBytes > copiedBytesMax) {
    throw new JsonPatchError(`copies of more than ${copiedBytesMax} bytes`, "copiedBytes");
  }
  insertAt(target, state.opened === undefined ? cloneJson(value) : cloneOpened(value, state.opened));
}

function test(state: State, { path, value }: JsonPatchOperation): void {
  const found = path === "" ? state.root : valueAt(getPlace(state, path));
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
    container = isContainer(container) ? valueAt({ container, key: part }) : undefined;
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
function valueAt({ container, key }: Place): unknown {
  if (Array.isArray(container)) return container[existingIndex(container, key)];
  return Object.hasOwn(container, key) ? (container[key] ?? null) : null;
}

function insertAt({ container, key }: Place, value: unknown): void {
  if (!Array.isArray(container)) setMember(container, key, value);
  else if (key === "-") container.push(value);
  else container.splice(indexBelow(container.length + 1, key), 0, value);
}

function removeAt({ container, key }: Place): void {
  if (Array.isArray(container)) {
    container.splice(existingIndex(container, key), 1);
    return;
  }
  if (!Object.hasOwn(container, key)) throw new JsonPatchError(`nothing to remove at ${key}`);
  delete container[key];
}

function existingIndex(list: readonly unknown[], key: string): number {
  return indexBelow(list.length, key);
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
