/**
 * Reads LMDB's data file without the native library, so that damaged bytes cannot crash the
 * process. Little-endian, 64-bit page numbers. Source: `libraries/liblmdb/mdb.c` of lmdb-js 3.5.6
 * (data version 2).
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const magic = 0xbeefc0de;
const dataVersion = 2;
/** Length of the header of every page. */
export const headerBytes = 24;
/** Maximum depth of LMDB's trees. */
export const depthMax = 32;
const metaBytes = 144;
const treeBytes = 48;
const nodeHeaderBytes = 8;
/** Length of the reference that a node has when its value is in overflow pages. */
const overflowBytes = 24;
const pageSizeMin = 512;
const pageSizeMax = 65536;
/** The root of an empty tree: all bits set. */
const noRoot = 2 ** 64;

const flags = { branch: 0x01, leaf: 0x02, overflow: 0x04, meta: 0x08 };
const nodeFlags = { overflow: 0x01, tree: 0x02 };

/** LMDB's description of a tree. */
export interface Tree {
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  readonly overflowPages: number;
  readonly entries: number;
  /** Undefined when the tree is empty. */
  readonly root: number | undefined;
}

export interface Meta {
  readonly pageSize: number;
  readonly transaction: number;
  readonly lastPage: number;
  readonly free: Tree;
  /** The tree whose entries are the named trees. */
  readonly main: Tree;
}

export class PageFile {
  readonly length: number;
  readonly #file: number;

  /** @throws Error with code ENOENT, EACCES, … */
  constructor(path: string) {
    this.#file = openSync(path, "r");
    this.length = fstatSync(this.#file).size;
  }

  /**
   * Reads bytes of the file.
   * @param into the buffer to read into; a new one when unset
   * @returns fewer bytes when the file ends before
   * @throws Error with code EIO, …
   */
  read(start: number, length: number, into: Buffer = Buffer.allocUnsafe(length)): Buffer {
    const read = readSync(this.#file, into, 0, length, start);
    return read === into.length ? into : into.subarray(0, read);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** @returns the meta page; a string with the problem when it is damaged */
export function readMeta(file: PageFile, start: number): Meta | string {
  const bytes = file.read(start, headerBytes + metaBytes);
  if (bytes.length < headerBytes + metaBytes) return "it is cut off";
  if (bytes.every((byte) => byte === 0)) return "it is all zeros";
  if (start === 0 && (bytes.readUInt16LE(18) & flags.meta) === 0) return "it is not marked as a meta page";
  const meta = bytes.subarray(headerBytes);
  if (meta.readUInt32LE(0) !== magic) return "it does not have LMDB's magic number";
  const version = meta.readUInt32LE(4) & 0xffff;
  if (version !== dataVersion) return `it has data version ${version} instead of ${dataVersion}`;
  const pageSize = meta.readUInt32LE(24);
  if (pageSize < pageSizeMin || pageSize > pageSizeMax || (pageSize & (pageSize - 1)) !== 0)
    return `it has a page size of ${pageSize} bytes`;
  const flagsOfMain = meta.readUInt16LE(24 + treeBytes + 4);
  if (flagsOfMain !== 0) return `its list of trees has the flags ${flagsOfMain}`;
  return {
    pageSize,
    free: readTree(meta.subarray(24)),
    main: readTree(meta.subarray(24 + treeBytes)),
    lastPage: readNumber(meta, 120),
    transaction: readNumber(meta, 128),
  };
}

/** @param bytes at least 48 */
export function readTree(bytes: Buffer): Tree {
  const root = readNumber(bytes, 40);
  return {
    depth: bytes.readUInt16LE(6),
    branchPages: readNumber(bytes, 8),
    leafPages: readNumber(bytes, 16),
    overflowPages: readNumber(bytes, 24),
    entries: readNumber(bytes, 32),
    root: root === noRoot ? undefined : root,
  };
}

interface PageHeader {
  readonly number: number;
  /** The transaction that wrote the page. */
  readonly transaction: number;
  /** Whether the page is the first one of an overflow value. */
  readonly isOverflow: boolean;
}

/** Decodes the header at the beginning of a page. */
export function pageHeader(bytes: Buffer): PageHeader {
  return {
    number: readNumber(bytes, 0),
    transaction: readNumber(bytes, 8),
    isOverflow: bytes.readUInt16LE(18) === flags.overflow,
  };
}

/**
 * Checks the header of a branch or leaf page.
 * @param bytes the whole page
 * @returns the problem; undefined when there is none
 */
export function pageProblem(bytes: Buffer, number: number): string | undefined {
  if (bytes.length < headerBytes) return "it is beyond the end of the file";
  if (readNumber(bytes, 0) !== number) return `it says that it is page ${readNumber(bytes, 0)}`;
  const type = readShort(bytes, 18);
  if (type !== flags.branch && type !== flags.leaf) return `it has the type ${type}`;
  const [lower, upper] = [readShort(bytes, 20), readShort(bytes, 22)];
  if (lower === 0 || lower % 2 !== 0 || lower > upper || headerBytes + upper > bytes.length)
    return `its free space goes from ${lower} to ${upper}`;
  return undefined;
}

/** @param bytes a page without {@link pageProblem} */
export function isLeaf(bytes: Buffer): boolean {
  return readShort(bytes, 18) === flags.leaf;
}

/** @param bytes a page without {@link pageProblem} */
export function nodeCount(bytes: Buffer): number {
  return readShort(bytes, 20) / 2;
}

/**
 * @param bytes a page without {@link pageProblem}
 * @returns the offset of the node; undefined when the node does not fit into the page
 */
export function nodeStart(bytes: Buffer, index: number): number | undefined {
  const offset = readShort(bytes, headerBytes + index * 2);
  const start = headerBytes + offset;
  if (offset % 2 !== 0 || offset < readShort(bytes, 22) || start + nodeHeaderBytes > bytes.length) return undefined;
  return nodeKeyEnd(bytes, start) <= bytes.length && (!isLeaf(bytes) || leafNodeFits(bytes, start)) ? start : undefined;
}

/** Returns whether a valid node of a leaf can begin at the offset. */
export function leafNodeFits(bytes: Buffer, start: number): boolean {
  if (start + nodeHeaderBytes > bytes.length) return false;
  const keyEnd = nodeKeyEnd(bytes, start);
  const kind = nodeKind(bytes, start);
  if (kind === undefined || keyEnd > bytes.length) return false;
  return (
    (kind !== "tree" || nodeValueBytes(bytes, start) === treeBytes) &&
    keyEnd + storedBytes(bytes, start, kind) <= bytes.length
  );
}

type NodeKind = "value" | "overflow" | "tree";

export function nodeKind(bytes: Buffer, start: number): NodeKind | undefined {
  const bits = readShort(bytes, start + 4);
  if (bits === 0) return "value";
  return bits === nodeFlags.overflow ? "overflow" : bits === nodeFlags.tree ? "tree" : undefined;
}

export function nodeKeyStart(start: number): number {
  return start + nodeHeaderBytes;
}

export function nodeKeyEnd(bytes: Buffer, start: number): number {
  return start + nodeHeaderBytes + readShort(bytes, start + 6);
}

/** Decodes a key in the list of trees: the name of a tree and a zero. */
export function treeName(bytes: Buffer, start = 0, end = bytes.length): string {
  return bytes.toString("latin1", start, end).replace(/\0$/, "");
}

/** Returns the number of the child page of a branch node. */
export function childOf(bytes: Buffer, start: number): number {
  return readWord(bytes, start) + readShort(bytes, start + 4) * 2 ** 32;
}

/** Returns the length of the value of a leaf node, in the page or in overflow pages. */
export function nodeValueBytes(bytes: Buffer, start: number): number {
  return readWord(bytes, start);
}

/**
 * Returns what a leaf node stores in the page: the value, a tree, or the number of its first
 * overflow page.
 */
export function storedValue(bytes: Buffer, start: number): Buffer {
  const keyEnd = nodeKeyEnd(bytes, start);
  return bytes.subarray(keyEnd, keyEnd + storedBytes(bytes, start, nodeKind(bytes, start)));
}

function storedBytes(bytes: Buffer, start: number, kind: NodeKind | undefined): number {
  return kind === "overflow" ? overflowBytes : nodeValueBytes(bytes, start);
}

/** Returns the number of overflow pages of a value. */
export function overflowPages(valueBytes: number, pageSize: number): number {
  return Math.floor((headerBytes - 1 + valueBytes) / pageSize) + 1;
}

/**
 * Checks the header of the first page of an overflow value.
 * @param pages the expected number of pages
 * @returns the problem; undefined when there is none
 */
export function overflowProblem(bytes: Buffer, number: number, pages: number): string | undefined {
  if (readNumber(bytes, 0) !== number) return `it says that it is page ${readNumber(bytes, 0)}`;
  if (bytes.readUInt16LE(18) !== flags.overflow) return `it has the type ${bytes.readUInt16LE(18)}`;
  return bytes.readUInt32LE(20) === pages ? undefined : `it says that its value has ${bytes.readUInt32LE(20)} pages`;
}

/**
 * Decodes an entry of the free tree: a count, then page numbers; a negative number is the length of
 * a run that begins at the next number. For a truncated entry it yields a page that no file has.
 */
export function* freePages(value: Buffer): IterableIterator<[page: number, count: number]> {
  if (value.length < 8) return yield [noRoot, 1];
  const count = readNumber(value, 0);
  for (let index = 1; index <= count; index++) {
    if ((index + 1) * 8 > value.length) return yield [noRoot, 1];
    const number = value.readBigInt64LE(index * 8);
    if (number > 0n) yield [Number(number), 1];
    else if (number < 0n) {
      index++;
      if ((index + 1) * 8 > value.length) return yield [noRoot, 1];
      yield [readNumber(value, index * 8), Number(-number)];
    }
  }
}

export function readNumber(bytes: Buffer, start: number): number {
  return readWord(bytes, start) + readWord(bytes, start + 4) * 2 ** 32;
}

// The methods of Buffer check their arguments, which would take most of the time of a walk.
function readShort(bytes: Buffer, start: number): number {
  return (bytes[start] as number) | ((bytes[start + 1] as number) << 8);
}

function readWord(bytes: Buffer, start: number): number {
  return (readShort(bytes, start) | (readShort(bytes, start + 2) << 16)) >>> 0;
}
