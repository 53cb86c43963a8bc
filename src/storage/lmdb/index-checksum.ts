/**
 * A checksum of all index pages. Comparing it takes a tenth of the time of checking the pages one
 * by one.
 */
import { crc32 } from "node:zlib";
import {
  childOf,
  depthMax,
  headerBytes,
  isLeaf,
  type Meta,
  nodeCount,
  nodeKeyEnd,
  nodeKeyStart,
  nodeKind,
  nodeStart,
  nodeValueBytes,
  overflowPages,
  type PageFile,
  pageProblem,
  readNumber,
  readTree,
  storedValue,
  type Tree,
  treeName,
} from "./page-file.ts";

/**
 * Of a file up to this size, all pages are checked; of a larger one, only those of the index.
 */
export const allPagesMax = 64 << 20;

/**
 * Computes the CRC-32 of the meta page and of the pages of all trees. Of the log of a large file,
 * whose records have their own checksums, it reads only the branch pages and the last leaf: LMDB
 * writes there next, and it frees the number that is in the header of a changed page. The store
 * must not be written during the call.
 * @returns undefined when the pages do not form trees
 * @throws Error with code EIO, …
 */
export function indexChecksum(file: PageFile, meta: Meta): number | undefined {
  const context: Context = { file, meta, pagesLeft: meta.lastPage + 1, checksum: crc32(JSON.stringify(meta)) };
  const trees: { readonly tree: Tree; readonly isLog: boolean }[] = [{ tree: meta.free, isLog: false }];
  const addNamedTree: AddEntry = (page, start) => {
    const isLog = treeName(page, nodeKeyStart(start), nodeKeyEnd(page, start)) === "log";
    if (nodeKind(page, start) === "tree") trees.push({ tree: readTree(storedValue(page, start)), isLog });
    return true;
  };
  const isWhole =
    addTree(context, meta.main, { entry: addNamedTree }) &&
    trees.every(({ tree, isLog }) =>
      addTree(context, tree, isLog && file.length > allPagesMax ? { isLog } : { entry: addOverflowOf(context, tree) }),
    );
  return isWhole ? context.checksum : undefined;
}

interface Context {
  readonly file: PageFile;
  readonly meta: Meta;
  /** Bounds the walk when damaged pages form a cycle. */
  pagesLeft: number;
  checksum: number;
}

/** Adds the pages of a leaf's entry. @returns false when it is damaged */
type AddEntry = (page: Buffer, start: number) => boolean;

interface TreeRules {
  readonly entry?: AddEntry | undefined;
  /** Skips all leaves except the last one. */
  readonly isLog?: boolean;
}

/** Adds the pages of a tree. @returns false when it is damaged */
function addTree(context: Context, tree: Tree, rules: TreeRules): boolean {
  if (tree.root === undefined) return true;
  if (tree.depth === 0 || tree.depth > depthMax) return false;
  const buffers = Array.from({ length: tree.depth }, () => Buffer.allocUnsafe(context.meta.pageSize));
  return addPage({ context, buffers, ...rules }, tree.root, { level: 1, isLast: true });
}

/** Adds overflow pages; undefined for trees that have none, whose entries need not be read. */
function addOverflowOf(context: Context, tree: Tree): AddEntry | undefined {
  if (tree.overflowPages === 0) return undefined;
  return (page, start) => {
    if (nodeKind(page, start) !== "overflow") return true;
    const { pageSize } = context.meta;
    const length = nodeValueBytes(page, start);
    const pages = overflowPages(length, pageSize);
    context.pagesLeft -= pages;
    return (
      context.pagesLeft >= 0 &&
      add(context, readNumber(storedValue(page, start), 0), Buffer.allocUnsafe(headerBytes + length))
    );
  };
}

interface Walk extends TreeRules {
  readonly context: Context;
  readonly buffers: readonly Buffer[];
}

interface Place {
  readonly level: number;
  /** No page of its level comes after it. */
  readonly isLast: boolean;
}

function addPage(walk: Walk, number: number, { level, isLast }: Place): boolean {
  const { context, buffers, entry, isLog } = walk;
  const page = buffers[level - 1] as Buffer;
  const isBottom = level === buffers.length;
  if (--context.pagesLeft < 0 || !add(context, number, page)) return false;
  if (isBottom && entry === undefined) return true;
  if (pageProblem(page, number) !== undefined || isLeaf(page) !== isBottom) return false;
  const count = nodeCount(page);
  const isAboveLeaves = level === buffers.length - 1;
  for (let index = isLog && isAboveLeaves ? (isLast ? count - 1 : count) : 0; index < count; index++) {
    const start = nodeStart(page, index);
    if (start === undefined) return false;
    const child = { level: level + 1, isLast: isLast && index === count - 1 };
    if (!(isBottom ? (entry as AddEntry)(page, start) : addPage(walk, childOf(page, start), child))) return false;
  }
  return true;
}

/**
 * Fills the buffer from the beginning of a page and adds it.
 * @returns false when the file ends before
 */
function add(context: Context, number: number, bytes: Buffer): boolean {
  if (
    number > context.meta.lastPage ||
    context.file.read(number * context.meta.pageSize, bytes.length, bytes) !== bytes
  )
    return false;
  context.checksum = crc32(bytes, context.checksum);
  return true;
}
