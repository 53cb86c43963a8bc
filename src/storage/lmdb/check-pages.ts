/**
 * Walks the pages of LMDB's file and finds damaged ones, before the native library follows them.
 */
import { entryCheckOfBytes } from "./entry-check.ts";
import { integerKey } from "./keys.ts";
import {
  childOf,
  depthMax,
  freePages,
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
  overflowProblem,
  type PageFile,
  pageHeader,
  pageProblem,
  readNumber,
  readTree,
  storedValue,
  type Tree,
  treeName,
} from "./page-file.ts";
import { pointerBytes } from "./pointers.ts";

interface PageFinding {
  readonly page: number;
  readonly problem: string;
}

interface PageCheck {
  /** At most a hundred. */
  readonly findings: readonly PageFinding[];
  /** Names of the trees, without the terminating zero. */
  readonly trees: readonly string[];
}

const findingsMax = 100;
const keyBytesMax = 2048;

/**
/**
 * Checks all pages that are reachable from the meta page. The store must not be written during the
 * call.
 * @param withLog false checks only the branch pages and the last leaf of the log, which is most of
 *   the file: its records have checksums, and missing records are detected by reads
 * @throws Error with code EIO, …
 */
export function checkPages(file: PageFile, meta: Meta, { withLog }: { readonly withLog: boolean }): PageCheck {
  const context: Context = { file, meta, used: new Uint8Array(meta.lastPage + 1), findings: [] };
  const trees = new Map<string, Tree>();
  walkTree(context, "the list of trees", meta.main, {
    entry(page, start) {
      if (nodeKind(page, start) !== "tree") return "which is not a tree";
      const name = treeName(page, nodeKeyStart(start), nodeKeyEnd(page, start));
      trees.set(name, readTree(storedValue(page, start)));
      return undefined;
    },
  });
  for (const [name, tree] of trees) {
    const entry = name === "current" ? positionProblem : undefined;
    walkTree(context, name, tree, { entry, isLastLeafEnough: name === "log" && !withLog });
  }
  const free: Buffer[] = [];
  walkTree(context, "the list of free pages", meta.free, {
    isInteger: true,
    entry(page, start) {
      free.push(Buffer.from(freeList(context, page, start)));
      return undefined;
    },
  });
  for (const value of free)
    for (const [page, count] of freePages(value)) use(context, page, count, "the list of free pages");
  return { findings: context.findings, trees: [...trees.keys()] };
}

interface Context {
  readonly file: PageFile;
  readonly meta: Meta;
  /** 1 for each page that has been reached. */
  readonly used: Uint8Array;
  readonly findings: PageFinding[];
}

interface TreeRules {
  /** Keys are integers in native byte order. */
  readonly isInteger?: boolean;
  /** Checks an entry. @returns the problem; undefined when there is none */
  readonly entry?: ((page: Buffer, start: number) => string | undefined) | undefined;
  /** Skips all leaves except the last one. */
  readonly isLastLeafEnough?: boolean;
}

/** The state of the walk through one tree. */
interface Walk extends Context {
  readonly name: string;
  readonly rules: TreeRules;
  readonly tree: Tree;
  readonly seen: { branchPages: number; leafPages: number; overflowPages: number; entries: number };
  readonly buffers: readonly Buffer[];
  /** The previous key is in the first `lastBytes` bytes of `last`. */
  readonly last: Buffer;
  lastBytes: number;
  /** Whether the previous key is in a branch page. */
  isSeparator: boolean;
}

function walkTree(context: Context, name: string, tree: Tree, rules: TreeRules): void {
  if (tree.root === undefined) return;
  if (tree.depth === 0 || tree.depth > depthMax)
    return find(context, tree.root, `${name} has a depth of ${tree.depth}`);
  const seen = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
  const buffers = Array.from({ length: tree.depth }, () => Buffer.allocUnsafe(context.meta.pageSize));
  const last = Buffer.alloc(keyBytesMax);
  const before = context.findings.length;
  walkPage({ ...context, name, rules, tree, seen, buffers, last, lastBytes: 0, isSeparator: true }, tree.root, {
    level: 1,
    isLast: true,
  });
  if (context.findings.length > before || rules.isLastLeafEnough) return;
  for (const what of ["branchPages", "leafPages", "overflowPages", "entries"] as const) {
    if (seen[what] !== tree[what])
      find(context, tree.root, `${name} has ${seen[what]} ${what}, and should have ${tree[what]}`);
  }
}

/** LMDB takes a page of a later transaction for one that it has allocated in memory. */
function transactionProblem(page: Buffer, meta: Meta): string | undefined {
  const { transaction } = pageHeader(page);
  return transaction <= meta.transaction ? undefined : `it is of transaction ${transaction}, a later one`;
}

interface Place {
  readonly level: number;
  /** No page of its level comes after it. */
  readonly isLast: boolean;
}

function walkPage(walk: Walk, number: number, { level, isLast }: Place): void {
  const isBottom = level === walk.tree.depth;
  if (!use(walk, number, 1, walk.name) || (isBottom && !isLast && walk.rules.isLastLeafEnough)) return;
  if (isBottom) walk.seen.leafPages++;
  else walk.seen.branchPages++;
  const { pageSize } = walk.meta;
  const page = walk.file.read(number * pageSize, pageSize, walk.buffers[level - 1] as Buffer);
  const problem =
    page.length < pageSize
      ? "it is beyond the end of the file"
      : (pageProblem(page, number) ?? transactionProblem(page, walk.meta));
  if (problem !== undefined) return find(walk, number, `a page of ${walk.name} is damaged: ${problem}`);
  if (isLeaf(page) !== isBottom)
    return find(walk, number, `a page of ${walk.name} is damaged: it is not at its level of the tree`);
  const count = nodeCount(page);
  for (let index = 0; index < count; index++) {
    const start = nodeStart(page, index);
    if (start === undefined)
      return find(walk, number, `a page of ${walk.name} is damaged: entry ${index} does not fit`);
    // The first key of a branch page is not used.
    if ((isBottom || index > 0) && !followsLast(walk, page, start, isBottom)) {
      return find(walk, number, `a page of ${walk.name} is damaged: entry ${index} is out of order`);
    }
    if (isBottom) checkEntry(walk, number, page, start);
    else walkPage(walk, childOf(page, start), { level: level + 1, isLast: isLast && index === count - 1 });
    if (walk.findings.length >= findingsMax) return;
  }
}

/** Returns whether the key is in order after the previous one, and makes it the previous one. */
function followsLast(walk: Walk, page: Buffer, start: number, isEntry: boolean): boolean {
  const [keyStart, keyEnd] = [nodeKeyStart(start), nodeKeyEnd(page, start)];
  const { last, lastBytes, isSeparator, rules } = walk;
  if (keyEnd - keyStart > last.length || (rules.isInteger && keyEnd - keyStart !== 8)) return false;
  const integerOrder = rules.isInteger && lastBytes > 0 ? readNumber(page, keyStart) - readNumber(last, 0) : 0;
  let order = 0;
  for (let index = 0; index < keyEnd - keyStart; index++) {
    const byte = page[keyStart + index] as number;
    if (order === 0) order = index < lastBytes ? byte - (last[index] as number) : 1;
    last[index] = byte;
  }
  if (order === 0) order = keyEnd - keyStart - lastBytes;
  if (rules.isInteger && lastBytes > 0) order = integerOrder;
  walk.lastBytes = keyEnd - keyStart;
  walk.isSeparator = !isEntry;
  return order > 0 || (order === 0 && isSeparator);
}

function checkEntry(walk: Walk, number: number, page: Buffer, start: number): void {
  walk.seen.entries++;
  if (nodeKind(page, start) === "overflow") {
    const first = readNumber(storedValue(page, start), 0);
    const { pageSize } = walk.meta;
    const count = overflowPages(nodeValueBytes(page, start), pageSize);
    if (!use(walk, first, count, walk.name)) return;
    const head = walk.file.read(first * pageSize, pageSize);
    const problem =
      (first + count) * pageSize > walk.file.length
        ? "it is beyond the end of the file"
        : (overflowProblem(head, first, count) ?? transactionProblem(head, walk.meta));
    if (problem !== undefined) return find(walk, first, `a page of ${walk.name} is damaged: ${problem}`);
    walk.seen.overflowPages += count;
  }
  const problem = walk.rules.entry?.(page, start);
  if (problem === undefined) return;
  const key = page.toString("utf8", nodeKeyStart(start), nodeKeyEnd(page, start));
  find(walk, number, `${walk.name} has an entry ${JSON.stringify(key)}, ${problem}`);
}

/** Checks an entry of the tree `current`. */
function positionProblem(page: Buffer, start: number): string | undefined {
  if (nodeKind(page, start) !== "value") return "which is too large for a position";
  // Entries of format 1 have no check.
  if (nodeValueBytes(page, start) !== pointerBytes) return undefined;
  const keyEnd = nodeKeyEnd(page, start);
  const check = entryCheckOfBytes(integerKey.readKey(page, keyEnd, keyEnd + 8), page, nodeKeyStart(start), keyEnd);
  return check === page.readUInt32BE(keyEnd + 8) ? undefined : "which is damaged";
}

/**
 * Reads an entry of the list of free pages; it is shorter than its length says when the file ends
 * early.
 */
function freeList({ file, meta }: Context, page: Buffer, start: number): Buffer {
  if (nodeKind(page, start) !== "overflow") return storedValue(page, start);
  return file.read(readNumber(storedValue(page, start), 0) * meta.pageSize + headerBytes, nodeValueBytes(page, start));
}

/**
 * Marks pages as reached.
 * @returns false when they are not in the store, or have been reached before
 */
function use(context: Context, page: number, count: number, name: string): boolean {
  if (page < 2 || page + count > context.used.length) {
    find(
      context,
      page,
      `${name} leads to page ${page}, which is not among the ${context.used.length} pages of the store`,
    );
    return false;
  }
  for (let each = page; each < page + count; each++) {
    if (context.used[each] === 1) {
      find(context, each, `${name} leads to page ${each}, as another page does`);
      return false;
    }
    context.used[each] = 1;
  }
  return true;
}

function find({ findings }: Context, page: number, problem: string): void {
  if (findings.length < findingsMax) findings.push({ page, problem });
}
