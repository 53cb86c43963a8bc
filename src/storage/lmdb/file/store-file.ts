/**
 * Reads a data file that may be damaged. For any content, reads terminate, and return the problem
 * instead of throwing.
 */
import {
  childOf,
  headerBytes,
  isLeaf,
  leafNodeFits,
  type Meta,
  nodeCount,
  nodeKeyEnd,
  nodeKeyStart,
  nodeKind,
  nodeStart,
  nodeValueBytes,
  overflowPages,
  overflowProblem,
  PageFile,
  pageHeader,
  pageProblem,
  readMeta,
  readNumber,
  readTree,
  storedValue,
  type Tree,
} from "../page-file.ts";

interface BranchPage {
  readonly kind: "branch";
  readonly number: number;
  /** The key of the first child is not used. */
  readonly children: readonly { readonly from: Buffer; readonly page: number }[];
}

export interface LeafPage {
  readonly kind: "leaf";
  readonly number: number;
  /** The transaction that wrote the page. */
  readonly transaction: number;
  readonly nodes: readonly LeafNode[];
}

export interface LeafNode {
  /** Byte offset in the page. */
  readonly offset: number;
  readonly key: Buffer;
  readonly value: Buffer | OverflowValue | NamedTree;
}

/** A value in overflow pages. */
interface OverflowValue {
  readonly page: number;
  readonly pages: number;
  readonly length: number;
}

interface NamedTree {
  readonly tree: Tree;
}

/** A value that was read, or the problem of a damaged one. */
export type Readable<Value> = Value | { readonly problem: string };

interface MetaPage extends Meta {
  readonly page: number;
}

export const metaPages = 2;
/** Most common first. */
const pageSizes = [4096, 16384, 8192, 65536, 32768, 2048, 1024, 512];
const notInFile = { problem: "it is not in the file" };

/** A data file of LMDB that may be damaged: reads pages and nodes, or returns what is wrong with them. */
export class StoreFile {
  readonly #file: PageFile;
  /** The readable meta pages, newest first. */
  readonly metas: readonly MetaPage[];
  /** The problems of the other meta pages. */
  readonly metaProblems: readonly { readonly page: number; readonly problem: string }[];
  readonly pageSize: number;
  /** Number of complete pages in the file. */
  readonly pageCount: number;

  /** @throws Error with code ENOENT, EACCES, … */
  constructor(path: string) {
    this.#file = new PageFile(path);
    const { metas, problems } = this.#readMetas();
    this.metas = metas;
    this.metaProblems = problems;
    this.pageSize = metas[0]?.pageSize ?? (pageSizes[0] as number);
    this.pageCount = Math.floor(this.#file.length / this.pageSize);
  }

  close(): void {
    this.#file.close();
  }

  /**
   * Reads a branch or leaf page.
   * @param anyNumber accepts a page whose header has another page number
   */
  page(at: number, { anyNumber = false } = {}): Readable<BranchPage | LeafPage> {
    const bytes = this.#page(at);
    if (!Buffer.isBuffer(bytes)) return bytes;
    const { number, transaction } = pageHeader(bytes);
    const problem = pageProblem(bytes, anyNumber ? number : at);
    if (problem !== undefined) return { problem };
    const starts: number[] = [];
    for (let index = 0; index < nodeCount(bytes); index++) {
      const start = nodeStart(bytes, index);
      if (start === undefined) return { problem: `its entry ${index} does not fit` };
      starts.push(start);
    }
    if (isLeaf(bytes))
      return { kind: "leaf", number, transaction, nodes: starts.map((start) => leafNode(bytes, start)) };
    const children = starts.map((start) => ({
      from: bytes.subarray(nodeKeyStart(start), nodeKeyEnd(bytes, start)),
      page: childOf(bytes, start),
    }));
    return { kind: "branch", number, children };
  }

  /** Finds possible leaf nodes at any offset of a page whose header or node list is damaged. */
  possibleNodes(at: number): LeafNode[] {
    const bytes = this.#page(at);
    const nodes: LeafNode[] = [];
    if (!Buffer.isBuffer(bytes)) return nodes;
    for (let start = headerBytes; start < bytes.length; start += 2) {
      if (leafNodeFits(bytes, start) && nodeKeyEnd(bytes, start) > nodeKeyStart(start))
        nodes.push(leafNode(bytes, start));
    }
    return nodes;
  }

  /** Reads the leaf node at an offset. @returns undefined when no node can begin there */
  node(at: number, offset: number): LeafNode | undefined {
    const bytes = this.#page(at);
    return Buffer.isBuffer(bytes) && leafNodeFits(bytes, offset) ? leafNode(bytes, offset) : undefined;
  }

  /**
   * Reads an overflow value.
   * @param at its first page, when it is not the page that the node refers to
   */
  overflow({ page, length }: OverflowValue, at = page): Readable<Buffer> {
    const pages = overflowPages(length, this.pageSize);
    if (at < metaPages || at + pages > this.pageCount) return notInFile;
    const bytes = this.#read(at * this.pageSize, headerBytes + length);
    if (!Buffer.isBuffer(bytes)) return bytes;
    const problem = overflowProblem(bytes, page, pages);
    return problem === undefined ? bytes.subarray(headerBytes) : { problem };
  }

  /** Decodes the header of any page. */
  header(at: number): ReturnType<typeof pageHeader> | undefined {
    const bytes = this.#read(at * this.pageSize, headerBytes);
    return Buffer.isBuffer(bytes) ? pageHeader(bytes) : undefined;
  }

  #readMetas(): { metas: MetaPage[]; problems: { page: number; problem: string }[] } {
    const metas: MetaPage[] = [];
    const problems: { page: number; problem: string }[] = [];
    const first = this.#meta(0);
    // The second meta page is at the offset of the page size: the one in the first meta page, or,
    // when that is damaged, any at which a meta page names the same size.
    const sizes = typeof first === "string" ? pageSizes : [first.pageSize];
    const seconds = sizes.map((size) => this.#meta(size));
    const second =
      seconds.find((meta, index) => typeof meta !== "string" && meta.pageSize === sizes[index]) ??
      "it is no meta page of this store";
    for (const [page, meta] of [first, second].entries()) {
      if (typeof meta === "string") problems.push({ page, problem: meta });
      else metas.push({ ...meta, page });
    }
    return { metas: metas.sort((a, b) => b.transaction - a.transaction), problems };
  }

  #meta(start: number): Meta | string {
    try {
      return readMeta(this.#file, start);
    } catch (error) {
      return readProblem(error);
    }
  }

  #page(at: number): Readable<Buffer> {
    return at < metaPages || at >= this.pageCount ? notInFile : this.#read(at * this.pageSize, this.pageSize);
  }

  #read(start: number, length: number): Readable<Buffer> {
    try {
      const bytes = this.#file.read(start, length);
      return bytes.length < length ? notInFile : bytes;
    } catch (error) {
      return { problem: readProblem(error) };
    }
  }
}

/** Read errors of the disk are treated as damage. */
function readProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return `it cannot be read: ${message}`;
}

/** @param start the offset of a node that fits into the page */
function leafNode(bytes: Buffer, start: number): LeafNode {
  const key = bytes.subarray(nodeKeyStart(start), nodeKeyEnd(bytes, start));
  const stored = storedValue(bytes, start);
  const kind = nodeKind(bytes, start);
  if (kind === "tree") return { offset: start, key, value: { tree: readTree(stored) } };
  if (kind === "value") return { offset: start, key, value: stored };
  const length = nodeValueBytes(bytes, start);
  return {
    offset: start,
    key,
    value: { page: readNumber(stored, 0), pages: overflowPages(length, bytes.length), length },
  };
}
