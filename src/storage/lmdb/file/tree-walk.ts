/** Walks a tree of LMDB's file, skipping damaged pages, and records which pages it uses. */
import type { Tree } from "../page-file.ts";
import type { LeafNode, LeafPage, StoreFile } from "./store-file.ts";

/** Maximum depth of LMDB's trees. */
const depthMax = 32;

/**
 * A half-open range of keys: `from` is empty for the first key, `to` is undefined after the last
 * key.
 */
export interface KeyRange {
  readonly from: Buffer;
  readonly to: Buffer | undefined;
}

export interface DamagedPage {
  readonly page: number;
  readonly problem: string;
  /** The keys of the page and of all pages below it. */
  readonly range: KeyRange;
}

interface TreeVisitor {
  node(node: LeafNode, leaf: LeafPage, index: number): void;
  damaged(page: DamagedPage): void;
}

/** The set of used pages. */
export class PageUse {
  readonly #used: Uint8Array;

  constructor(pageCount: number) {
    this.#used = new Uint8Array(pageCount);
  }

  has(page: number): boolean {
    return this.#used[page] === 1;
  }

  /** @returns false when one of the pages is already used, or is not in the file */
  add(page: number, count = 1): boolean {
    let isNew = page >= 0 && page + count <= this.#used.length;
    for (let each = page; isNew && each < page + count; each++) isNew = this.#used[each] === 0;
    if (isNew) this.#used.fill(1, page, page + count);
    return isNew;
  }
}

/**
 * Visits all readable nodes of a tree.
 * @param isOrdered whether keys are ordered by their bytes, so that the order can be checked
 * @returns the number of visited entries
 */
export function walkTree(
  file: StoreFile,
  { root }: Tree,
  use: PageUse,
  visitor: TreeVisitor,
  { isOrdered }: { readonly isOrdered: boolean },
): number {
  let count = 0;
  if (root !== undefined) visit(root, { from: Buffer.alloc(0), to: undefined }, 0);
  return count;

  function visit(at: number, range: KeyRange, depth: number): void {
    const page = file.page(at);
    const problem =
      "problem" in page
        ? page.problem
        : depth > depthMax
          ? "the tree is too deep"
          : use.add(at)
            ? undefined
            : "the page is used twice";
    if ("problem" in page || problem !== undefined)
      return visitor.damaged({ page: at, problem: problem as string, range });
    const keys =
      page.kind === "leaf" ? page.nodes.map(({ key }) => key) : page.children.slice(1).map(({ from }) => from);
    if (isOrdered && !areInOrder(keys, range))
      return visitor.damaged({ page: at, problem: "the keys of the page are not in order", range });
    if (page.kind === "branch") {
      for (const [index, child] of page.children.entries()) {
        const from = index === 0 ? range.from : child.from;
        visit(child.page, { from, to: page.children[index + 1]?.from ?? range.to }, depth + 1);
      }
      return;
    }
    for (const [index, node] of page.nodes.entries()) visitor.node(node, page, index);
    count += page.nodes.length;
  }
}

function areInOrder(keys: readonly Buffer[], { from, to }: KeyRange): boolean {
  let last: Buffer | undefined;
  for (const key of keys) {
    if (last === undefined ? key.compare(from) < 0 : key.compare(last) <= 0) return false;
    last = key;
  }
  return last === undefined || to === undefined || last.compare(to) < 0;
}
