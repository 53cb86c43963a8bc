/** A store's data file whose bytes are not to be trusted: whatever is in it, reading ends, and says what is wrong. */
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

export interface BranchPage {
  readonly kind: "branch";
  readonly number: number;
  /** The key of the first child means nothing. */
  readonly children: readonly { readonly from: Buffer; readonly page: number }[];
}

export interface LeafPage {
  readonly kind: "leaf";
  readonly number: number;
  /** That has written the page. */
  readonly transaction: number;
  readonly nodes: readonly LeafNode[];
}

export interface LeafNode {
  /** Where it is in the page. */
  readonly offset: number;
  readonly key: Buffer;
  readonly value: Buffer | OverflowValue | NamedTree;
}

/** A value on pages of its own. */
export interface OverflowValue {
  readonly page: number;
  readonly pages: number;
  readonly length: number;
}

export interface NamedTree {
  readonly tree: Tree;
}

/** What was read, or why it cannot be what was written. */
export type Readable<Value> = Value | { readonly problem: string };

export interface MetaPage extends Meta {
  readonly page: number;
}

export const metaPages = 2;
/** The usual ones first. */
const pageSizes = [4096, 16384, 8192, 65536, 32768, 2048, 1024, 512];
const notInFile = { problem: "it is not in the file" };

export class StoreFile {
  readonly #file: PageFile;
  /** Newest first; those that can be read. */
  readonly metas: readonly MetaPage[];
  /** Why the others cannot be read. */
  readonly metaProblems: readonly { readonly page: number; readonly problem: string }[];
  readonly pageSize: number;
  /** Whole pages in the file. */
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

  /** The page at a place, as part of a tree. @param anyNumber accepts a page that says it belongs elsewhere */
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

  /** What may be entries of a leaf, wherever they begin in a page whose header and order are not to be trusted. */
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

  /** @returns undefined when there can be none at the offset */
  node(at: number, offset: number): LeafNode | undefined {
    const bytes = this.#page(at);
    return Buffer.isBuffer(bytes) && leafNodeFits(bytes, offset) ? leafNode(bytes, offset) : undefined;
  }

  /** @param at where the first of its pages is, when that is not where it should be */
  overflow({ page, length }: OverflowValue, at = page): Readable<Buffer> {
    const pages = overflowPages(length, this.pageSize);
    if (at < metaPages || at + pages > this.pageCount) return notInFile;
    const bytes = this.#read(at * this.pageSize, headerBytes + length);
    if (!Buffer.isBuffer(bytes)) return bytes;
    const problem = overflowProblem(bytes, page, pages);
    return problem === undefined ? bytes.subarray(headerBytes) : { problem };
  }

  /** What the page at a place says of itself. */
  header(at: number): ReturnType<typeof pageHeader> | undefined {
    const bytes = this.#read(at * this.pageSize, headerBytes);
    return Buffer.isBuffer(bytes) ? pageHeader(bytes) : undefined;
  }

  #readMetas(): { metas: MetaPage[]; problems: { page: number; problem: string }[] } {
    const metas: MetaPage[] = [];
    const problems: { page: number; problem: string }[] = [];
    const first = this.#meta(0);
    // The second one's place is the size of a page: that of the first, or any that it says itself.
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

/** A disk that cannot read a part of the file is damage like any other. */
function readProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return `it cannot be read: ${message}`;
}

/** @param start of a node that fits */
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
